"""What a device remembers of a model that travels exactly comes back as it was."""

from dataclasses import replace

import pytest
from tests.adapters.small import MODEL

from lossyfl.adapters.exact import exact_of
from lossyfl.adapters.layout import layout_of
from lossyfl.adapters.remembered import Remembered, check_remembered
from lossyfl.errors import InputError

LAYOUT = layout_of(MODEL, ["double"])
EXACT = exact_of(MODEL, LAYOUT)
WHOLE = Remembered(scheme="lfl").of_model(LAYOUT.text(), EXACT)


def test_exact_arrays_there_and_back() -> None:
    assert check_remembered(WHOLE).exact == EXACT


def test_facts_of_some_arrays_only() -> None:
    with pytest.raises(InputError, match="facts of some arrays only"):
        check_remembered(replace(WHOLE, names=WHOLE.names[1:]))


def test_an_estimate_without_a_layout() -> None:
    device = replace(WHOLE.device, round=3)
    with pytest.raises(InputError, match="an estimate without a layout"):
        check_remembered(Remembered(device=device))
