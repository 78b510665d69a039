"""Where results go: a folder that somebody names, or one that is gone with the last result that is in it."""

import shutil
import tempfile
import weakref
from pathlib import Path


class ResultsFolder:
    """A folder of results. One that nobody named is removed when nothing refers to it any more."""

    def __init__(self, named: str | Path | None) -> None:
        self.is_kept = named is not None
        self.path = Path(tempfile.mkdtemp(prefix="lossyfl-")) if named is None else Path(named)

    def remove_when_done(self) -> None:
        """From now on; before, an error names the folder, and what is in it may be looked at."""
        if not self.is_kept:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
