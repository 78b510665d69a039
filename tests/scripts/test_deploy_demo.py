"""What the demo of a deployment says at its end; tests/flower runs deployments."""

import io
import json
from pathlib import Path

import pytest
from scripts.deploy_demo import _ledger

from lossyfl.commands.terminal import Terminal


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"late": 3, "damaged": 12}, "damaged 12, late 3"),
        (None, "none"),
        ({"\x1b[2J[b]": 1}, "\\x1b[2J[b] 1"),
    ],
)
def test_refusals_are_told(counts: dict[str, int] | None, said: str, tmp_path: Path) -> None:
    (tmp_path / "rounds.jsonl").touch()
    if counts is not None:
        (tmp_path / "refusals.json").write_text(json.dumps({"counts": counts, "recent": []}))
    out = io.StringIO()
    _ledger(tmp_path, Terminal(file=out, width=200))
    assert f"replies refused, or taken with a note: {said}" in out.getvalue()
