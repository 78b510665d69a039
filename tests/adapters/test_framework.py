"""A framework's log gets our messages, and nothing in them moves its cursor."""

import logging

import pytest

from lossyfl.adapters.framework import OWN, Framework


def test_messages_go_to_the_frameworks_log(caplog: pytest.LogCaptureFixture) -> None:
    mine = Framework(name="mine", logger=logging.getLogger("mine"))
    mine.log(logging.WARNING, "lossyfl: node %d: %s", 7, "it said\n\x1b[31mall is well")
    (record,) = caplog.records
    assert record.name == "mine"
    assert record.getMessage() == r"lossyfl: node 7: it said\n\x1b[31mall is well"


def test_without_one_they_go_to_ours(caplog: pytest.LogCaptureFixture) -> None:
    OWN.log(logging.WARNING, "hello")
    assert [record.name for record in caplog.records] == ["lossyfl"]


def test_a_traceback_is_lines_of_a_log(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("x")
    except ValueError as error:
        OWN.log_traceback(error)
    assert "test_framework.py" in caplog.text
    assert all("\n" not in record.getMessage() for record in caplog.records)
