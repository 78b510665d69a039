"""What pyproject.toml asks for is what the sources import."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "src" / "lossyfl", ROOT / "benchmarks")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTION = {"sklearn": "scikit-learn", "PIL": "pillow"}
"""Modules whose distribution has another name."""
OURS = {"benchmarks", "examples", "lossyfl"}
ROOMS = {
    "tasks": {"sim"},
    "simulation": {"sim"},
    "experiments": {"sim"},
    "benchmarks": {"sim", "bench", "flower"},
    "flower": {"flower", "sim"},
}
"""Whose modules may import what extras bring; everything else only by `require` or `of_extra`."""


def names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[\w.-]+", each) for each in requirements)
    return {each[0].lower() for each in found if each}


CORE = names(PROJECT["dependencies"])
EXTRAS = {name: names(asked) for name, asked in PROJECT["optional-dependencies"].items()}


def distribution(module: str) -> str:
    top = module.partition(".")[0]
    return DISTRIBUTION.get(top, top)


def is_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All of a tree but what only type checkers read."""
    for child in ast.iter_child_nodes(tree):
        if not is_checking(child):
            yield child
            yield from nodes(child)


def imported(tree: ast.AST) -> set[str]:
    """The distributions that a module imports."""
    found: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    tops = {each.partition(".")[0] for each in found} - set(sys.stdlib_module_names) - OURS
    return {distribution(top) for top in tops}


def required(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What is asked for by `require` and `check_installed`: distribution and extra."""
    for node in nodes(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("require", "check_installed"):
            module = (
                ast.literal_eval(node.args[0]) if isinstance(node.args[0], ast.Constant) else ""
            )
            if module:
                (extra,) = (ast.literal_eval(each.value) for each in node.keywords)
                yield distribution(str(module)), str(extra)


TREES = {
    path.relative_to(folder.parent if folder.name == "benchmarks" else folder): ast.parse(
        path.read_text()
    )
    for folder in SOURCES
    for path in sorted(folder.rglob("*.py"))
}


def test_what_is_imported_is_a_dependency() -> None:
    for path, tree in TREES.items():
        extras = ROOMS.get(path.parts[0], set())
        allowed = CORE.union(*(EXTRAS[extra] for extra in extras))
        assert imported(tree) <= allowed, f"{path} imports {imported(tree) - allowed}"


def test_what_is_required_is_in_the_extra_that_is_named() -> None:
    asked = [(path, *each) for path, tree in TREES.items() for each in required(tree)]
    assert len(asked) > 10
    for path, what, extra in asked:
        assert what in EXTRAS[extra], f"{path} says that {what} is in {extra}"


def test_every_dependency_is_imported() -> None:
    used = set().union(*(imported(tree) for tree in TREES.values()))
    used |= {what for tree in TREES.values() for what, _ in required(tree)}
    shipped = CORE.union(
        *(EXTRAS[name] for name in EXTRAS if name not in ("dev", "docs", "wheels"))
    )
    assert shipped <= used, shipped - used
