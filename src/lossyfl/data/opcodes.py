"""The few instructions of pickle that lists, numbers, texts and arrays take; nothing is called.

`pickle.Unpickler` trusts the numbers in its input: nine bytes that name place 2^31 of its memo take
gigabytes. Here `pickletools` of the standard library cuts the bytes into instructions, which reads no
more than there is, and a stack machine runs them: the memo is a dictionary, names are compared with
those that are allowed, and a call is not made but recorded; only the one by which Python 3 writes bytes
in old pickles gives the bytes.
"""

import pickle
import pickletools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import cast


@dataclass(frozen=True, slots=True)
class Name:
    """A global name, as text only."""

    module: str
    name: str


@dataclass(slots=True, eq=False)
class Call:
    """A call that was not made; `state` is what its result was to be set to."""

    name: Name
    arguments: tuple[object, ...]
    state: object = None


ENCODE = Name("_codecs", "encode")
MOST = 1 << 20
"""Instructions; a batch of CIFAR-10 takes 50,000."""


class _Mark:
    """Where a list of arguments begins on the stack."""


MARK = _Mark()


def run(content: bytes, allowed: frozenset[Name]) -> object:
    """What a pickle describes; UnpicklingError for names that are not allowed, and for all else."""
    machine = _Machine(allowed=allowed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # of an escape that there is not
            for opcode, argument, _ in islice(pickletools.genops(content), MOST):
                if opcode.name == "STOP":
                    return machine.pop()
                machine.step(opcode.name, cast("object", argument))
    except (ValueError, UnicodeError, DeprecationWarning) as error:  # pickletools, of other bytes
        raise pickle.UnpicklingError(f"{error}") from None
    raise pickle.UnpicklingError(f"more than {MOST:,} instructions")


@dataclass(slots=True, kw_only=True)
class _Machine:
    """A stack, what was put aside, and the names that may occur."""

    allowed: frozenset[Name]
    stack: list[object] = field(default_factory=list[object])
    memo: dict[int, object] = field(default_factory=dict[int, object])

    def step(self, name: str, argument: object) -> None:
        """Carry out one instruction on the stack."""
        if name in VALUES:
            self.stack.append(argument)
        elif name in STRINGS:
            self.stack.append(_latin1(argument))
        elif name in CONSTANTS:
            self.stack.append(CONSTANTS[name]())
        elif name in TUPLES:
            self.stack.append(tuple(self.pops(TUPLES[name])))
        elif name in PUTS:
            self.memo[self.place(argument)] = self.top()
        elif name in GETS:
            self.stack.append(self.recall(argument))
        elif name in INSTRUCTIONS:
            INSTRUCTIONS[name](self, argument)
        elif name not in NOTHING:
            raise pickle.UnpicklingError(f"the instruction {name}")

    def pop(self) -> object:
        if not self.stack or self.stack[-1] is MARK:
            raise pickle.UnpicklingError("an empty stack")
        return self.stack.pop()

    def top(self) -> object:
        value = self.pop()
        self.stack.append(value)
        return value

    def pops(self, count: int) -> list[object]:
        """The topmost `count` values, the deepest first."""
        return [self.pop() for _ in range(count)][::-1]

    def items(self) -> list[object]:
        """All above the last mark, which goes, too."""
        at = len(self.stack) - 1
        while at >= 0 and self.stack[at] is not MARK:
            at -= 1
        if at < 0:
            raise pickle.UnpicklingError("no mark")
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def place(self, argument: object) -> int:
        return argument if isinstance(argument, int) else len(self.memo)

    def recall(self, argument: object) -> object:
        try:
            return self.memo[self.place(argument)]
        except KeyError:
            raise pickle.UnpicklingError("a value that was not kept") from None

    def put_name(self, module: object, name: object) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise pickle.UnpicklingError("a name that is no text")
        found = Name(module, name)
        if found not in self.allowed:
            raise pickle.UnpicklingError(f"a call of {module}.{name}")
        self.stack.append(found)


def _global(machine: _Machine, argument: object) -> None:
    module, _, name = str(argument).partition(" ")
    machine.put_name(module, name)


def _stack_global(machine: _Machine, argument: object) -> None:
    del argument
    machine.put_name(*machine.pops(2))


def _call(machine: _Machine, argument: object) -> None:
    del argument
    name, arguments = machine.pops(2)
    if not isinstance(name, Name) or not isinstance(arguments, tuple):
        raise pickle.UnpicklingError("a call of no name")
    given = cast("tuple[object, ...]", arguments)
    machine.stack.append(_encoded(given) if name == ENCODE else Call(name, given))


def _encoded(arguments: tuple[object, ...]) -> bytes:
    """The bytes that Python 3 writes as a call with text."""
    if len(arguments) != 2 or arguments[1] not in ("latin1", b"latin1"):
        raise pickle.UnpicklingError("text that is not latin1")
    return _latin1(arguments[0])


def _latin1(text: object) -> bytes:
    """Text as bytes, one for each character."""
    try:
        return str(text).encode("latin1")
    except UnicodeEncodeError:
        raise pickle.UnpicklingError("text that is not latin1") from None


def _build(machine: _Machine, argument: object) -> None:
    del argument
    state, target = machine.pop(), machine.top()
    if not isinstance(target, Call):
        raise pickle.UnpicklingError("a state of no call")
    target.state = state


def _extend(machine: _Machine, values: list[object]) -> None:
    target = machine.top()
    if not isinstance(target, list):
        raise pickle.UnpicklingError("values of no list")
    cast("list[object]", target).extend(values)


def _set(machine: _Machine, pairs: list[object]) -> None:
    target = machine.top()
    keys = pairs[::2]
    if not isinstance(target, dict) or len(pairs) % 2:
        raise pickle.UnpicklingError("entries of no dictionary")
    if not all(isinstance(key, str | bytes) for key in keys):  # hashing others may take for ever
        raise pickle.UnpicklingError("a key that is no text")
    cast("dict[object, object]", target).update(zip(keys, pairs[1::2], strict=True))


def _new_dict(machine: _Machine, argument: object) -> None:
    del argument
    pairs = machine.items()
    machine.stack.append({})
    _set(machine, pairs)


VALUES = frozenset(
    {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1"}
    | {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8"}
    | {"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
)
"""Instructions that put their argument on the stack."""
STRINGS = frozenset({"STRING", "BINSTRING", "SHORT_BINSTRING"})
"""Those that put the bytes there which Python 2 calls a string."""
CONSTANTS: dict[str, Callable[[], object]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict[object, object],
    "EMPTY_LIST": list[object],
    "EMPTY_TUPLE": tuple[object, ...],
    "MARK": lambda: MARK,
}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
GETS = frozenset({"GET", "BINGET", "LONG_BINGET"})
NOTHING = frozenset({"PROTO", "FRAME"})
INSTRUCTIONS: dict[str, Callable[[_Machine, object], None]] = {
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "REDUCE": _call,
    "BUILD": _build,
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.items())),
    "LIST": lambda machine, _: machine.stack.append(machine.items()),
    "DICT": _new_dict,
    "APPEND": lambda machine, _: _extend(machine, [machine.pop()]),
    "APPENDS": lambda machine, _: _extend(machine, machine.items()),
    "SETITEM": lambda machine, _: _set(machine, machine.pops(2)),
    "SETITEMS": lambda machine, _: _set(machine, machine.items()),
}
