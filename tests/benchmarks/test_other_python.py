"""Another Python answers in JSON, or it is said what became of it."""

import sys
from pathlib import Path

import pytest

from benchmarks.other_python import OtherPython
from lossyfl.errors import InputError

JOBS = """
import json, sys
for line in sys.stdin:
    number, = json.loads(line)
    if number < 0:
        break
    print(json.dumps({"double": 2 * number}), flush=True)
"""


def test_it_answers_until_it_ends(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.py"
    jobs.write_text(JOBS)
    with OtherPython(sys.executable, jobs, of="a benchmark", needs="nothing") as other:
        assert [other.ask(number) for number in (1, 20)] == [{"double": 2}, {"double": 40}]
        assert other.ask(-1) == "its process ended"
        assert other.ask(1) == "its process ended"


def test_what_is_no_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a Python with a rival installed"):
        OtherPython(str(tmp_path), tmp_path, of="a benchmark", needs="a rival")
