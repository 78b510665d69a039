"""Write the diagrams of docs/architecture.md: `make docs` does."""

from pathlib import Path

from scripts.diagrams import one_round, rooms

FOLDER = Path(__file__).parents[2] / "docs/diagrams"
DRAWN = {"rooms.svg": rooms.draw, "round.svg": one_round.draw}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in DRAWN.items():
        (FOLDER / name).write_text(draw())


if __name__ == "__main__":
    main()
