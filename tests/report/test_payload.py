"""What the page draws, as JSON."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report.groups import group
from lossyfl.report.link import LinkSpeeds
from lossyfl.report.payload import Options, payload
from lossyfl.report.runs import find


def drawn(folder: Path, options: Options | None = None) -> Any:  # noqa: ANN401 - JSON
    return json.loads(payload(group(find([folder])), options or Options()))


def test_curves_in_the_payload(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[record(0, accuracy=0.25), record(1, accuracy=None)])
    write(tmp_path / "b", replace(SETTINGS, seed=1), rounds=[record(0, accuracy=0.75)])
    facts = drawn(tmp_path, Options(link=LinkSpeeds(downlink=5e5), reload=3.0))
    assert facts["reload"] == 3.0
    assert facts["link"]["downlink"] == 5e5
    (each,) = facts["groups"]
    assert each["rounds"] == 2
    accuracy = {"mean": [0.5, None], "low": [0.25, None], "high": [0.75, None]}
    assert each["series"]["metric accuracy"] == accuracy
    assert each["series"]["down"]["mean"] == 250  # the same in all rounds
    assert each["series"]["link_reply"]["mean"] == 102


def test_nothing_and_nan(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[])
    write(tmp_path / "b", replace(SETTINGS, seed=1), rounds=[record(0, accuracy=float("nan"))])
    assert drawn(tmp_path)["groups"][0]["series"]["metric accuracy"]["mean"] == [None]


def test_numbers_are_rounded_to_what_an_eye_can_see_and_bytes_add_up(tmp_path: Path) -> None:
    big = replace(record(0, accuracy=1 / 3), train_loss=123456.789)
    write(tmp_path / "a", rounds=[replace(big, down=replace(big.down, nbytes=123_456_789))])
    series = drawn(tmp_path)["groups"][0]["series"]
    assert series["metric accuracy"]["mean"] == [0.33333]
    assert series["train_loss"]["mean"] == [123456.8]
    assert series["down"]["mean"] == [123_456_789]


def test_nothing_in_it_ends_a_script(tmp_path: Path) -> None:
    write(tmp_path / "a", replace(SETTINGS, scheme="</script><!--&"))
    text = payload(group(find([tmp_path])), Options())
    assert not set("<>&") & set(text)
    assert json.loads(text)["groups"][0]["label"] == "</script><!--&"
