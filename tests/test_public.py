"""The public surface, and the docstrings' examples."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import lossyfl

MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(lossyfl.__path__, "lossyfl.")
    if not module.name.endswith(("__main__", "._kernels"))  # the library is no module
]


def test_names_are_sorted_and_there() -> None:
    assert lossyfl.__all__ == sorted(lossyfl.__all__)
    for name in lossyfl.__all__:
        assert getattr(lossyfl, name) is not None
    assert set(lossyfl.__all__) <= set(dir(lossyfl))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lossyfl.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", [lossyfl, *MODULES], ids=lambda module: module.__name__)
def test_examples_run(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    code = "import sys; from lossyfl.cli import app; print({'numpy', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


def test_importing_the_package_loads_nothing() -> None:
    """And a name only what it needs: torch is imported by the first run, not by `lossyfl.run`."""
    code = (
        "import sys, lossyfl; print({'typing', 're', 'numpy', 'typer'} & set(sys.modules)); "
        "names = lossyfl.run, lossyfl.compare, lossyfl.Task, lossyfl.Experiment, lossyfl.report; "
        "print({'torch', 'matplotlib', 'typer', 'lossyfl.simulation.rounds'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["set()", "set()"]
