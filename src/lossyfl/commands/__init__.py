"""The command line's commands, one file for each group."""
