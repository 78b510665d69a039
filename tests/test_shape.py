"""The shape of the sources: class names, sizes, and a test file beside every module.

Each rule has a list of exceptions, for reasons that a reader would share.
One that is no longer needed must go.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "lossyfl"
FOLDERS = (PACKAGE, ROOT / "benchmarks")
TREES = {
    str(path.relative_to(folder.parent)): ast.parse(path.read_text())
    for folder in FOLDERS
    for path in sorted(folder.rglob("*.py"))
}

LINES, BODY, PARAMETERS = 300, 50, 8

LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}
KERNEL = "a kernel takes every array and size by itself, as its twin in C does"
SCHEME = "a scheme is made by its keyword arguments: they are its options, on the command line, too"
MANY_PARAMETERS: dict[str, str] = {
    "lossyfl/flower/strategy.py: __init__": "keywords, which are a strategy's public settings",
    "lossyfl/kernels/cells.py: costs_of_largest": KERNEL,
    "lossyfl/kernels/cells.py: search_steps": KERNEL,
    "lossyfl/kernels/class_cells.py: search_by_class": KERNEL,
    "lossyfl/kernels/class_coder.py: pop_classes": KERNEL,
    "lossyfl/kernels/class_coder.py: push_classes": KERNEL,
    "lossyfl/kernels/classes.py: gather_keys": KERNEL,
    "lossyfl/kernels/classes.py: scatter_keys": KERNEL,
    "lossyfl/kernels/dither.py: add_dither": KERNEL,
    "lossyfl/kernels/levels.py: choose_levels": KERNEL,
    "lossyfl/kernels/rans.py: pop_segments": KERNEL,
    "lossyfl/kernels/rans.py: push_segments": KERNEL,
    "lossyfl/kernels/stochastic.py: draw_levels": KERNEL,
    "lossyfl/kernels/stochastic.py: quantize_levels": KERNEL,
    "lossyfl/simulation/run.py: run": "keywords, all but two: how a run is done",
    "lossyfl/protocol/schemes.py: lean": SCHEME,
    "lossyfl/protocol/schemes.py: lfl": SCHEME,
    "lossyfl/protocol/server.py: __init__": "all but three have defaults and go by keyword only",
}
SHARED_NAMES: dict[str, str] = {}
WITHOUT_TESTS: dict[str, str] = {
    "lossyfl/__main__.py": "one line; tests/test_cli.py starts it",
}
"""Exceptions, each with its reason."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many there are, `self` and `cls` aside."""
    named = chain(node.args.posonlyargs, node.args.args, node.args.kwonlyargs)
    return sum(each.arg not in ("self", "cls") for each in named)


def check(found: set[str], reasons: dict[str, str]) -> None:
    """Fail for what has no reason, and for an exception that nothing needs."""
    assert not found - set(reasons), sorted(found - set(reasons))
    assert not set(reasons) - found, f"no longer needed: {sorted(set(reasons) - found)}"


def test_no_class_name_is_used_twice() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in TREES.items():
        if path.startswith("lossyfl/"):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(path)
    shared = {name for name, where in places.items() if len(where) > 1}
    check(shared, SHARED_NAMES)


def test_no_file_is_over_300_lines() -> None:
    long = {
        str(path.relative_to(folder.parent))
        for folder in FOLDERS
        for path in folder.rglob("*.py")
        if len(path.read_text().splitlines()) > LINES
    }
    check(long, LONG_FILES)


def test_no_function_is_over_50_lines() -> None:
    long = {
        f"{path}: {node.name}"
        for path, tree in TREES.items()
        for node in functions(tree)
        if lines(node) > BODY
    }
    check(long, LONG_FUNCTIONS)


def test_no_function_has_over_eight_parameters() -> None:
    many = {
        f"{path}: {node.name}"
        for path, tree in TREES.items()
        for node in functions(tree)
        if parameters(node) > PARAMETERS
    }
    check(many, MANY_PARAMETERS)


def test_every_module_has_its_tests() -> None:
    """Those of `lossyfl/a/b.py` are in `tests/a/test_b.py`; a module without functions only declares."""
    missing = {
        path
        for path, tree in TREES.items()
        if not path.endswith("__init__.py")
        and (any(functions(tree)) or path.endswith("__main__.py"))
        and not beside(path).is_file()
    }
    check(missing, WITHOUT_TESTS)


def beside(path: str) -> Path:
    module = Path(path.removeprefix("lossyfl/"))
    return ROOT / "tests" / module.parent / f"test_{module.stem.lstrip('_')}.py"
