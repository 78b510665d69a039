"""Who says what, where the text is as it should be and where it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.data.plays import speeches
from lossyfl.errors import InputError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ANNE:\nNo.\n\nBEN:\nYes!\nAnd no.\n\nANNE:\nWhy?", {"ANNE": "No.\nWhy?", "BEN": "Yes!\nAnd no."}),
        ("ACT I\nscene: one\n\nANNE:\nNo.\n", {"ANNE": "No."}),  # nobody's words
        ("ANNE:\n\nBEN:\nYes.\n", {"BEN": "Yes."}),  # nothing said
        ("ANNE:\nHe said thus:\nNo.\n", {"ANNE": "He said thus:\nNo."}),  # no name within a speech
        ("ANNE:\nNo.\n\nAnd yet.\n\nBEN:\nYes.", {"ANNE": "No.\nAnd yet.", "BEN": "Yes."}),
        ("\n\n\nANNE:\nNo.\n\n\n\nBEN:\nYes.", {"ANNE": "No.", "BEN": "Yes."}),
        ("Senators, &C:\nGo.\n\n:\nhm", {"Senators, &C": "Go.\n:\nhm"}),  # a colon is no name
        ("A:\n1\n\nB:\n2\n\nA:\n3", {"A": "1\n3", "B": "2"}),
    ],
)  # fmt: skip
def test_speeches(text: str, found: dict[str, str]) -> None:
    assert speeches(text) == found
    assert list(speeches(text)) == list(found)  # in the order of first appearance


@pytest.mark.parametrize(
    "text", ["", "\n\n", "no one speaks here", "ANNE:", "ANNE:\n\nBEN:\n", ":\nx"]
)
def test_a_text_without_speakers(text: str) -> None:
    with pytest.raises(InputError, match=r"speakers of the text must be at least one, .* got none"):
        speeches(text)


@given(
    st.lists(
        st.tuples(st.sampled_from(["ANNE", "BEN", "First Lord"]), st.text("ab :", min_size=1)),
        min_size=1,
    )
)
def test_nothing_that_is_said_is_lost(said: list[tuple[str, str]]) -> None:
    found = speeches("\n\n".join(f"{name}:\n{words}" for name, words in said))
    for name in found:
        assert found[name] == "\n".join(words for other, words in said if other == name)
    assert set(found) == {name for name, _ in said}
