"""Flower's log says what it says, whatever ran in this process before."""

import logging
from collections.abc import Generator

import pytest


@pytest.fixture(autouse=True)
def flowers_log() -> Generator[None]:
    """Flower's logger as it comes, and as it was afterwards: tests look for its words."""
    logger = logging.getLogger("flwr")
    before = (logger.level, logger.propagate, logger.disabled, list(logger.filters))
    logger.setLevel(logging.DEBUG)
    logger.propagate, logger.disabled, logger.filters = True, False, []
    yield
    logger.setLevel(before[0])
    logger.propagate, logger.disabled, logger.filters = before[1:]
