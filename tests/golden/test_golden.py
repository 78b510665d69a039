"""The format is frozen: these frames must decode, and be written, to the bit, for ever."""

import hashlib
import json
from pathlib import Path

import pytest
from tests.golden.cases import CASES, Case

from lossyfl import decode, encode, inspect, stream

HERE = Path(__file__).parent


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
class TestGolden:
    def test_decodes_to_the_same_bits(self, case: Case) -> None:
        facts = json.loads((HERE / f"{case.name}.json").read_text())
        frame = (HERE / f"{case.name}.lfl").read_bytes()
        assert hashlib.sha256(decode(frame).tobytes()).hexdigest() == facts["decoded_sha256"]
        info = inspect(frame)
        shape = (info.coding, info.letters, info.segments)
        assert shape == (facts["coding"], facts["letters"], facts["segments"])

    def test_is_written_the_same_way(self, case: Case) -> None:
        frame = encode(
            case.vector(), case.quantizer, rng=stream(1), tensors=case.tensors, meta=case.meta
        )
        same = frame == (HERE / f"{case.name}.lfl").read_bytes()
        assert same == case.written


def test_every_coding_is_there_and_nothing_else() -> None:
    facts = [json.loads((HERE / f"{case.name}.json").read_text()) for case in CASES]
    assert {f["coding"] for f in facts} == {"raw", "radix", "rans", "classes"}
    assert {f["letters"] for f in facts} >= {0, 1, 2, 3, 5}
    assert max(f["segments"] for f in facts) > 1
    assert {path.stem for path in HERE.glob("*.lfl")} == {case.name for case in CASES}
