"""Names of data sets."""

import pytest

from lossyfl.data import load, names
from lossyfl.data.catalog import CATALOG, known
from lossyfl.errors import InputError


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean mnist\?\), got mnits"):
        load("mnits")


def test_every_name_is_known() -> None:
    assert [known(name) for name in names()] == list(CATALOG)


def test_every_sum_is_one_of_a_kind() -> None:
    sums = [part.sha256 for facts in CATALOG for part in facts.parts]
    assert len(set(sums)) == len(sums) == 19
    assert all(len(bytes.fromhex(digest)) == 32 for digest in sums)
