"""What is large is made once."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, long, write


@pytest.fixture(scope="session")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty runs of a thousand rounds."""
    folder = tmp_path_factory.mktemp("twenty")
    for number in range(20):
        settings = replace(SETTINGS, scheme=f"lfl:q1={number + 1}")
        write(folder / str(number), settings, rounds=long(number, 1000))
    return folder
