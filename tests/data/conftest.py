"""No test of data sees the user's files, and small sets can stand for the real ones."""

from pathlib import Path

import pytest
from tests.data.small import SMALL_CIFAR, SMALL_FASHION, SMALL_MNIST, SMALL_PLAYS, SMALL_QMNIST

from lossyfl.data.catalog import DIGITS


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The user's cache directory of lossyfl, empty."""
    monkeypatch.delenv("LOSSYFL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lossyfl"


@pytest.fixture
def small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog with small data sets under the names of the real ones."""
    small = (SMALL_MNIST, SMALL_FASHION, SMALL_CIFAR, SMALL_QMNIST, SMALL_PLAYS)
    sets = (DIGITS, *(each.facts for each in small))
    for module in ("catalog", "loading", "places", "verify"):
        monkeypatch.setattr(f"lossyfl.data.{module}.CATALOG", sets)
