"""What notebooks and scripts use: runs and comparisons as calls, and results that show themselves."""
