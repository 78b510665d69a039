"""Which room imports which, from the import graph: a triangle, as imports point downwards only."""

import tomllib
from pathlib import Path

import grimp
from scripts.diagrams.svg import Drawing

ROOT = Path(__file__).parents[2]
CELL = 18
NAMES = 104
"""Pixels for the names at the left, and a little less for those at the top."""


def rooms() -> list[str]:
    """The rooms from top to bottom, as the import contract in `pyproject.toml` has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(each["layers"] for each in settings["contracts"] if each["type"] == "layers")
    names = [name for layer in layers for name in layer.replace("|", ":").split(":")]
    inside = [name.strip("() ") for name in names]
    short = [name.removeprefix("lossyfl.") for name in inside if name.startswith("lossyfl.")]
    return [name for name in short if name != "__main__"]  # `python -m lossyfl` is the cli


def imports() -> set[tuple[str, str]]:
    """The pairs of rooms of which the first imports the second."""
    graph = grimp.build_graph("lossyfl")
    pairs = (
        (module.split(".")[1], other.split(".")[1])
        for module in graph.modules - {"lossyfl"}
        for other in graph.find_modules_directly_imported_by(module) - {"lossyfl"}
    )
    return {(room, other) for room, other in pairs if room != other}


def draw() -> str:
    """The triangle: a square where the room at the left imports the room at the top."""
    names, pairs = rooms(), imports()
    side = NAMES + CELL * len(names)
    drawing = Drawing(side + 8, side + 8, "Rooms of lossyfl, and which imports which")
    for row, room in enumerate(names):
        x = y = NAMES + CELL * row
        drawing.line(NAMES - 4, y + CELL, side, y + CELL, "grid")
        drawing.line(x + CELL, NAMES - 4, x + CELL, side, "grid")
        drawing.text(NAMES - 8, y + 13, room, anchor="end")
        drawing.text(x + 13, NAMES - 8, room, turned=True)
        drawing.box(x + 2, y + 2, CELL - 4, CELL - 4, "own")
        for column, other in enumerate(names):
            if (room, other) in pairs:
                title = f"{room} imports {other}"
                drawing.box(NAMES + CELL * column + 3, y + 3, CELL - 6, CELL - 6, "on", title)
    return drawing.svg()
