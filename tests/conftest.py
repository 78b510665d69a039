"""Fixtures and profiles that all tests share."""

import gc
import os

import hypothesis
import pytest

# Before anybody imports torch. Its threads wait for one another by spinning, which on cores that other tests
# are using takes many times as long as the work.
os.environ.setdefault("OMP_NUM_THREADS", "1")

hypothesis.settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, print_blob=True
)
hypothesis.settings.register_profile("deep", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_finish() -> None:
    """Keep all that tests import out of garbage collections.

    Flower asks for one before each reply that it averages, which is most of what its strategies take here.
    """
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests count, whichever process they ran in."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "counts":
                terminalreporter.write_line(str(value))
