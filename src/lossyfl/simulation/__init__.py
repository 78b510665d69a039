"""Many devices on this machine: worker processes, a results directory, checkpoint and resume."""
