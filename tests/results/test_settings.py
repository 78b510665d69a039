"""Settings are said once: what fields know is what is checked, and read from files."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.results.settings import (
    FLAG,
    PATH,
    TEXT,
    TEXT_OR_NUMBER,
    Allowed,
    build,
    check_keys,
    check_settings,
    number,
    one_of_words,
    setting,
    settings_of,
    whole_number,
)


@dataclass(frozen=True, kw_only=True)
class Walk:
    steps: int = setting(10, "How far.", whole_number(1))
    pace: float = setting(0.5, "How fast.", number("a number > 0", lambda x: x > 0))
    where: str | None = setting(None, "Where to.", TEXT, usual="home")
    gait: str = setting("trot", "How.", one_of_words("walk", "trot", "gallop"))

    def __post_init__(self) -> None:
        check_settings(self)


def test_a_group_is_built_of_what_people_write() -> None:
    assert build(Walk, {"pace": 2}) == Walk(pace=2.0)
    assert type(build(Walk, {"pace": 2}).pace) is float


def test_an_unknown_name_is_an_error_that_says_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean steps\?\), got stops"):
        build(Walk, {"stops": 3})
    with pytest.raises(InputError, match="key of a run"):
        check_keys({"a": 1}, ("b",))


def test_words_are_checked_and_the_nearest_is_said() -> None:
    with pytest.raises(
        InputError, match=r"one of gallop, trot, walk \(did you mean trot\?\), got tro"
    ):
        Walk(gait="tro")


def test_none_is_allowed_only_where_it_is_the_default() -> None:
    assert Walk(where=None).where is None
    with pytest.raises(InputError, match="steps of a run must be an int >= 1, got None"):
        build(Walk, {"steps": None})


def test_help_has_the_default_and_the_words() -> None:
    known = settings_of(Walk)
    assert known["gait"].help == "How: walk, trot, gallop."
    shown = {name: each.shown_default for name, each in known.items()}
    assert shown == {"steps": "10", "pace": "0.5", "where": "home", "gait": "trot"}


@pytest.mark.parametrize(
    ("allowed", "good", "bad"),
    [
        (whole_number(0), (0, 7), (-1, True, 1.0, "1", None)),
        (
            number("a number", lambda x: x >= 0),
            (0.0, 2, 1.5),
            (True, "1", float("nan"), -1, 10**400),
        ),
        (TEXT, ("a",), ("", 3, None)),
        (TEXT_OR_NUMBER, ("a", 0.1, 3), ("", True, None)),
        (FLAG, (True, False), ("no", 0, None)),
        (PATH, (Path("a"), "a"), (3, ["a"], None)),
        (one_of_words("a", "b"), ("a",), ("c", ["a"], None)),
    ],
)
def test_what_is_allowed(
    allowed: Allowed, good: tuple[object, ...], bad: tuple[object, ...]
) -> None:
    for value in good:
        read = allowed.read(value)
        assert allowed.holds(read)
        assert isinstance(read, allowed.kind)
    assert not any(allowed.holds(allowed.read(value)) for value in bad)
