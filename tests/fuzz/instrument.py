"""Which branches of lossyfl a call has taken: marks in the source, put there when a module is imported.

Every arm of an `if`, loop, `try` and `match`, and every operand of `and`, `or` and `x if y else z`, first
sets one byte. That is much cheaper than a trace function. Native kernels stay as they are. The constants of
the source are collected on the way: they make good bytes to try.
"""

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import numpy as np
from numpy.typing import NDArray

SET = "_fuzz_set"
MOST = 1 << 16
"""Branches at most."""


class Branches:
    """The marks of all instrumented modules."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.constants: set[bytes] = set()
        self._marks = bytearray(MOST)
        self._view = np.frombuffer(self._marks, dtype=np.uint8)
        self.set = self._marks.__setitem__

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.places)

    def new(self, place: str) -> int:
        """The number of one more branch, which begins at this place of the source."""
        self.places.append(place)
        return self.count - 1

    def taken(self) -> NDArray[np.bool_]:
        """Which branches were taken since this was asked last."""
        taken = self._view[: self.count] != 0
        self._view[: self.count] = 0
        return taken

    def watch(self, package: str) -> None:
        """Instrument all modules of a package that are imported from now on."""
        sys.meta_path.insert(0, _Finder(package, self))


class Marker(ast.NodeTransformer):
    """Puts a mark into every branch of every function."""

    def __init__(self, branches: Branches) -> None:
        self.branches = branches
        self.name = ""

    def instrument(self, source: str, name: str) -> CodeType:
        """The code of a module with its marks."""
        self.name = name
        tree = ast.parse(source, name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                self._collect(node.value)
        marked = self.visit(tree)
        return compile(ast.fix_missing_locations(marked), name, "exec", dont_inherit=True)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function: its first statement, behind what documents it, is a mark."""
        for place in node.body:
            self.visit(place)
        doc = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body.insert(doc, self._statement(node))
        return node

    def visit_arms(self, node: ast.AST) -> ast.AST:
        """A statement with arms: each begins with a mark, and an `if` has an else."""
        self.generic_visit(node)
        if isinstance(node, ast.If) and not node.orelse:
            node.orelse = [ast.Pass(lineno=node.lineno, col_offset=0)]
        for name in ("body", "orelse", "finalbody"):
            if arm := getattr(node, name, None):
                arm.insert(0, self._statement(node))
        return node

    visit_If = visit_For = visit_While = visit_Try = visit_arms  # noqa: N815
    visit_ExceptHandler = visit_match_case = visit_arms  # noqa: N815

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """The operands behind the first."""
        self.generic_visit(node)
        node.values[1:] = [self._expression(value) for value in node.values[1:]]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Both values."""
        self.generic_visit(node)
        node.body, node.orelse = self._expression(node.body), self._expression(node.orelse)
        return node

    def _call(self, at: ast.AST) -> ast.Call:
        number = self.branches.new(f"{self.name}:{getattr(at, 'lineno', 0)}")
        arguments: list[ast.expr] = [ast.Constant(number), ast.Constant(1)]
        call = ast.Call(func=ast.Name(SET, ast.Load()), args=arguments, keywords=[])
        return ast.fix_missing_locations(ast.copy_location(call, at))

    def _statement(self, node: ast.AST) -> ast.stmt:
        return ast.copy_location(ast.Expr(self._call(node)), node)

    def _expression(self, value: ast.expr) -> ast.expr:
        """`mark or value`: a mark is None, so this is the value."""
        return ast.copy_location(ast.BoolOp(ast.Or(), [self._call(value), value]), value)

    def _collect(self, value: object) -> None:
        data = value.encode(errors="replace") if isinstance(value, str) else value
        if isinstance(data, bytes) and 0 < len(data) <= 20:
            self.branches.constants.add(data)


class _Loader(SourceFileLoader):
    """Compiles the marked source; no compiled file is read or written."""

    def __init__(self, name: str, path: str, branches: Branches) -> None:
        super().__init__(name, path)
        self.branches = branches

    def get_code(self, fullname: str) -> CodeType:
        """The module's code."""
        path = self.get_filename(fullname)
        return Marker(self.branches).instrument(Path(path).read_text(), path)

    def exec_module(self, module: ModuleType) -> None:
        """Run it, with the function that its marks call."""
        setattr(module, SET, self.branches.set)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    """Finds the modules of one package as the finders behind it do: an editable install has its own."""

    def __init__(self, package: str, branches: Branches) -> None:
        self.package, self.branches = package, branches

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module, with our loader."""
        if fullname.partition(".")[0] != self.package:
            return None
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = _Loader(fullname, spec.origin, self.branches)
        return spec
