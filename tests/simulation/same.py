"""Two results directories of the same run."""

from pathlib import Path

NAMES = ("model.safetensors", "ledger.csv", "config.toml")


def same(folder: Path, other: Path) -> None:
    """Fail unless they are the same but for the times in them."""
    for name in NAMES:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name
    mine, theirs = (
        [line.partition('"seconds"')[0] for line in (f / "rounds.jsonl").read_text().splitlines()]
        for f in (folder, other)
    )
    assert mine == theirs
