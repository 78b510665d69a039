"""The figure of error against rate."""

import re
from pathlib import Path

import pytest

from lossyfl.experiments.distortion import SPAN, WORST, draw
from lossyfl.experiments.vectors import CodedVector


def coded(kind: str, bits: float, nmse: float) -> CodedVector:
    return CodedVector(quantizer=f"{kind} {bits}", kind=kind, nbytes=100, bits=bits, nmse=nmse)


def text_of(tmp_path: Path, *rows: CodedVector) -> str:
    draw({"x.npy": rows}, tmp_path / "f.svg")
    return (tmp_path / "f.svg").read_text()


def comments(svg: str) -> list[str]:
    """The words of a figure, which stand beside their shapes."""
    return re.findall(r"<!-- (.*?) -->", svg)


def test_a_line_for_each_quantizer_beside_both_limits(tmp_path: Path) -> None:
    said = comments(text_of(tmp_path, coded("topk", 1, 0.3), coded("deadzone", 1, 0.2)))
    for name in ("deadzone", "topk", "limit, Gaussian entries", "limit, Laplacian entries"):
        assert any(name in each for each in said), said
    assert "x.npy" in said


@pytest.mark.parametrize(
    "row",
    [coded("far", SPAN[1] * 2, 0.1), coded("far", SPAN[0] / 2, 0.9), coded("far", 1, WORST * 2)],
)
def test_what_is_outside_of_the_axes_has_no_line(row: CodedVector, tmp_path: Path) -> None:
    said = comments(text_of(tmp_path, coded("topk", 1, 0.3), row))
    assert any("topk" in each for each in said)
    assert not any("far" in each for each in said)


def test_axes_for_every_vector(tmp_path: Path) -> None:
    row = (coded("topk", 1, 0.3),)
    draw(dict.fromkeys(("a", "b", "c"), row), tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text().count('id="axes_') == 3


def test_an_exact_frame_does_not_stretch_the_axes_to_nothing(tmp_path: Path) -> None:
    assert "x.npy" in comments(text_of(tmp_path, coded("topk", 1, 0.0)))
