"""The settings of a run, the records of its rounds, and the directory in which they are kept."""
