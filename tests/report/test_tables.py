"""CSV."""

import csv as csv_module
import io
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, record, write

from lossyfl import InputError
from lossyfl.report.groups import group
from lossyfl.report.runs import find
from lossyfl.report.tables import MOST_DEVICES, csv_of_devices, csv_of_groups, csv_of_rounds
from lossyfl.results.ledger_file import HEADER


@pytest.mark.parametrize(
    "sign", ["=", "+", "-", "@", "\t", "\r", " =", "\n", "\x01=", "\u200b=", "\uff1d", "\uff0b"]
)
def test_no_cell_of_csv_is_a_formula(sign: str, tmp_path: Path) -> None:
    asked = replace(SETTINGS, task=f"{sign}cmd|'/c calc'!A0", scheme=f"{sign}1+1")
    bad = replace(record(0), distance=-1.5)
    write(tmp_path / "a", asked, rounds=[bad])
    groups = group(find([tmp_path]))
    for text in (csv_of_groups(groups), csv_of_rounds(groups)):
        (row,) = csv_module.DictReader(io.StringIO(text, newline=""))
        assert row["task"] == f"'{asked.task}".replace("\r", " ")
        assert row["scheme"] == f"'{sign}1+1".replace("\r", " ")
        assert row["label"].startswith("'")
    assert row["distance"] == "-1.5"


def test_csv_is_read_back_with_numbers_in_full(tmp_path: Path) -> None:
    write(tmp_path / "a", replace(SETTINGS, scheme='x,"y'))
    write(tmp_path / "b", replace(SETTINGS, scheme="z"), rounds=[])
    first, second = csv_module.DictReader(io.StringIO(csv_of_groups(group(find([tmp_path])))))
    assert first["scheme"] == 'x,"y'
    assert float(first["accuracy_last"]) == 0.5 + 0.1 * 3
    assert float(first["bytes_down"]) == 1000
    assert float(first["bytes_catch_up"]) == 0
    assert float(first["device_down_median"]) == 1000
    assert float(first["device_up_largest"]) == 408
    assert float(first["saving_up"]) == 12000 / 303
    assert second["accuracy_last"] == ""
    assert second["rounds"] == "0"


def test_csv_of_rounds(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", replace(SETTINGS, seed=1))
    rows = list(csv_module.DictReader(io.StringIO(csv_of_rounds(group(find([tmp_path]))))))
    assert [(row["seed"], row["round"]) for row in rows[3:5]] == [("0", "3"), ("1", "0")]
    assert float(rows[0]["bytes_down_unicast"]) == 750


def test_csv_of_devices(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", replace(SETTINGS, seed=1))
    rows = list(csv_module.DictReader(io.StringIO(csv_of_devices(group(find([tmp_path]))))))
    assert [(row["seed"], row["device"], row["bytes_down"], row["bytes_up"]) for row in rows] == [
        (seed, str(device), "1000", str(4 * (100 + device))) for seed in "01" for device in range(3)
    ]


def test_a_short_ledger_makes_no_long_csv(tmp_path: Path) -> None:
    write(tmp_path / "a")
    line = f"0,down,update,0-{MOST_DEVICES},1,1,1.0,1.0,7\n"
    (tmp_path / "a" / "ledger.csv").write_text(HEADER + line)
    with pytest.raises(InputError, match=r"at most 1,000,000 devices in all, got 1,000,001"):
        csv_of_devices(group(find([tmp_path])))
