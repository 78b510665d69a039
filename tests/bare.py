"""A Python that sees this environment's packages, but not what an editable install puts before all others."""

import os
import sys
from pathlib import Path

COMMAND = (sys.executable, "-S")


def search_path(*first: Path) -> str:
    """PYTHONPATH for it, with these folders first."""
    installed = (path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    return os.pathsep.join(dict.fromkeys([*map(str, first), *installed]))
