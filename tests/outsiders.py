"""A module that leaves a mark when it is imported: what nobody at this machine has named must not run."""

import sys
from pathlib import Path

import pytest

NAME = "canary_of_a_stranger"
SPEC = f"{NAME}:Quantizer"

TEXT = """
from pathlib import Path
from lossyfl import Stochastic as Quantizer
from lossyfl.protocol.schemes import lfl as scheme
from tests.simulation.tiny import make_task
Path({mark!r}).touch()
"""


def plant(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the module importable; the file that is there once it was imported."""
    mark = folder / "imported"
    (folder / f"{NAME}.py").write_text(TEXT.format(mark=str(mark)))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    return mark
