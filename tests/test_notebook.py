"""The notebook of the examples: its cells run in order, and what they end with can be shown."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebook.ipynb"


def cells() -> list[str]:
    made = json.loads(NOTEBOOK.read_text())
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    return ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]


def execute(code: str, names: dict[str, object]) -> object:
    """Run a cell; the value of its last expression, as a notebook shows it."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_every_cell_runs_and_shows_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    shown = [value for cell in cells() if (value := execute(cell, names)) is not None]
    tried = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]  # type: ignore[attr-defined]
    html = [each for each in tried if each is not None]  # matplotlib's figures have none
    assert [("accuracy" in each, "RMSE" in each, "perplexity" in each) for each in html] == [
        (True, False, False),
        (False, True, False),
        (True, False, True),
    ]
    assert all("<svg" in each for each in html)
    pictures = [value._repr_png_() for value in shown if hasattr(value, "_repr_png_")]  # type: ignore[attr-defined]
    assert [each[:4] for each in pictures] == [b"\x89PNG"]
    assert "frames were handed over" in capsys.readouterr().out
    page = (tmp_path / "fox.html").read_text()
    assert "Perplexity" in page
    assert "fox" in page
    assert list(tmp_path.iterdir()) == [tmp_path / "fox.html"]  # nothing else is left behind


def test_it_is_stored_without_outputs() -> None:
    made = json.loads(NOTEBOOK.read_text())
    assert not any(cell.get("outputs") for cell in made["cells"])
