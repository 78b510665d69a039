"""What the process that workers are forked from does before: import everything, torch above all.

A worker inherits it, so that its first reply is as quick as its second.
"""

from lossyfl.simulation import pool

__all__ = ["pool"]
