"""A process that keeps what it frees does not ask for it again."""

import subprocess
import sys

import pytest

CODE = """
import resource
from lossyfl.simulation.memory import keep_freed_memory
import numpy as np
keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for i in range(30):
    np.ones(1_000_000)
    if i == 9:
        before = faults()
print(faults() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_freed_memory_is_kept() -> None:
    """Twenty vectors of 8 MB are 40,000 pages; kept, they are none, but for the interpreter's own."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2000
