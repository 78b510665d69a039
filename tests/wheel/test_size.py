"""What counts as the weight of an install."""

from pathlib import Path

from tests.wheel.size import sizes


def test_packages_and_their_metadata_count_and_numpy_and_bytecode_do_not(tmp_path: Path) -> None:
    files = (
        "lossyfl/a.py", "lossyfl/__pycache__/a.pyc", "lossyfl-1.0.dist-info/RECORD",
        "numpy/a.so", "numpy.libs/b.so", "numpy-2.0.dist-info/RECORD", "__pycache__/one.pyc", "one.py",
    )  # fmt: skip
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(5000))
    bare, compiled = (sizes(tmp_path, bytecode=each) for each in (False, True))
    assert set(bare) == set(compiled) == {"lossyfl", "one"}
    assert bare["lossyfl"] >= 10_000
    assert compiled["lossyfl"] - bare["lossyfl"] >= 5000
