"""Who calls whom in one round of LFL: `run_round` is run, and its calls are recorded.

Shown are calls from one lane to another of functions with public names: all of those between the
round, the server, the device, the training and the ledger, and of those below them the ones that
lead to a kernel, which are the ones that pass over all entries of a vector. A property is no call.
"""

import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType

import numpy as np
from scripts.diagrams.svg import Drawing

import lossyfl
from lossyfl.types import Vector

PACKAGE = Path(lossyfl.__file__).parent
ENTRIES = 1000
ENDS = ("round", "server", "device", "training", "ledger")
LANES = (*ENDS, "links", "compressors", "quantizers", "wire")
FILES = {
    "protocol/round.py": "round",
    "protocol/server.py": "server",
    "protocol/device.py": "device",
    "protocol/ledger.py": "ledger",
}
STEP, LANE, TOP = 23, 86, 34


@dataclass
class Call:
    """A call, with those that were made on the way."""

    lane: str = ""
    name: str = ""
    kernel: bool = False
    inner: list["Call"] = field(default_factory=list["Call"])


def train(device: int, theta_hat: Vector) -> Vector:
    """In the place of local steps: a step of normal noise."""
    rng = np.random.default_rng(device)
    return theta_hat + rng.normal(size=ENTRIES).astype(np.float32)


@cache
def properties() -> set[CodeType]:
    """The code of every property of a class of the package."""
    modules = [module for name, module in sys.modules.items() if name.startswith("lossyfl.")]
    classes = [
        each for module in modules for each in vars(module).values() if isinstance(each, type)
    ]
    found = [each for one in classes for each in vars(one).values() if isinstance(each, property)]
    return {each.fget.__code__ for each in found if isinstance(each.fget, FunctionType)}


def lane_of(code: CodeType) -> str:
    """The lane that a function belongs to; empty for one that belongs to its caller."""
    if code is train.__code__:
        return "training"
    path = Path(code.co_filename)
    if not path.is_relative_to(PACKAGE) or code in properties():
        return ""
    inside = path.relative_to(PACKAGE)
    room = inside.parts[0]
    return FILES.get(inside.as_posix(), room if room in LANES or room == "kernels" else "")


def record() -> Call:
    """The third round of a server and one device: one that has nothing to catch up with."""
    scheme = lossyfl.scheme("lfl:q1=2,q2=2")
    start = np.zeros(ENTRIES, np.float32)
    server = lossyfl.Server(start, scheme, samples={0: 1}, seed=0)
    devices = {0: lossyfl.Device(0, scheme, seed=0)}
    for _ in range(2):
        lossyfl.run_round(server, devices, train)
    top = Call()
    stack = [top]

    def see(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code, caller = frame.f_code, stack[-1]
            lane = lane_of(code)
            if lane in ("", caller.lane) or code.co_name.startswith("_"):
                stack.append(caller)
            else:
                caller.inner.append(Call(lane, code.co_qualname))
                stack.append(caller.inner[-1])
        elif event == "return" and len(stack) > 1:
            stack.pop()

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        lossyfl.run_round(server, devices, train)
    finally:
        sys.setprofile(before)
    return top.inner[0]


def shown(call: Call) -> bool:
    """Whether a call is one of those that the first lines of this file name; drops the others in it."""
    seen: set[tuple[str, str]] = set()
    kept: list[Call] = []
    for inner in call.inner:
        call.kernel |= inner.lane == "kernels"
        if inner.lane in LANES and shown(inner) and (inner.lane, inner.name) not in seen:
            kept.append(inner)
            seen.add((inner.lane, inner.name))
        call.kernel |= inner.kernel
    call.inner = kept
    return "<" not in call.name and (call.lane in ENDS or call.kernel)


def lines(call: Call, depth: int = 0) -> list[str]:
    """The calls as indented text, for a test's message."""
    own = f"{'  ' * depth}{call.lane}: {call.name}"
    return [own, *(line for inner in call.inner for line in lines(inner, depth + 1))]


def draw() -> str:
    """The sequence diagram: time runs downwards, an arrow is a call, a bar the time until it returns."""
    top = record()
    shown(top)
    height = TOP + STEP * len(lines(top)) + 16
    drawing = Drawing(LANE * len(LANES) + 16, height, "One round of LFL: who calls whom")
    centre = {lane: LANE * at + 46 for at, lane in enumerate(LANES)}
    for lane, x in centre.items():
        drawing.text(x, 18, lane, style="head", anchor="middle")
        drawing.line(x, 26, x, height - 6, "life")
    _bars(drawing, centre, top, 0)
    _arrows(drawing, centre, top, 0)
    return drawing.svg()


def _bars(drawing: Drawing, centre: dict[str, int], call: Call, row: int) -> int:
    """A bar for every call, from its row to the last of those that it made; the next free row."""
    free = row + 1
    for inner in call.inner:
        free = _bars(drawing, centre, inner, free)
    y = TOP + STEP * row + 8
    drawing.box(centre[call.lane] - 4, y, 8, STEP * (free - row) - 6, "busy")
    return free


def _arrows(drawing: Drawing, centre: dict[str, int], call: Call, row: int) -> int:
    """An arrow for every call, with its name; the next free row."""
    free = row + 1
    for inner in call.inner:
        y, start, end = TOP + STEP * free + 11, centre[call.lane], centre[inner.lane]
        way = 1 if end > start else -1
        drawing.line(start + 4 * way, y, end - 4 * way, y, "call")
        anchor = "start" if way > 0 else "end"
        drawing.text(start + 8 * way, y - 5, inner.name, style="halo", anchor=anchor)
        free = _arrows(drawing, centre, inner, free)
    return free
