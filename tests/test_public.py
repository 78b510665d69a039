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
    code = "import sys, lossyfl.cli; print({'numpy', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
