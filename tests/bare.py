"""A Python that sees this environment's packages, but not what an editable install puts before all others."""

import os
import sys
import sysconfig
from pathlib import Path

COMMAND = (sys.executable, "-S")


def search_path(*first: Path) -> str:
    """PYTHONPATH for it, with these folders first."""
    installed = (sysconfig.get_path(name) for name in ("purelib", "platlib"))
    return os.pathsep.join(dict.fromkeys([*map(str, first), *installed]))
