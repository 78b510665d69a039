"""Kernel calls as a file: what went in, and what came out on this machine.

    python -m tests.kernels.platforms.record calls.bin --vectors 1000

Every golden frame is written and read, and random vectors go through every quantizer and back; each call of a
kernel on the way is written down, with all arrays before and after it. `replay.py` makes the same calls on
another processor, and `tests/kernels/fuzz.py` begins with them. All numbers in the file are little-endian:

    u32 number of the kernel, u32 bytes of the call
    per argument a number (8 bytes), or u32 bytes of an element, u64 elements and the elements
    the result (8 bytes) if there is one, and the elements of every array that is written
"""

import argparse
import importlib
import json
import pkgutil
import struct
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from tests.kernels.platforms.directly import call_directly

from lossyfl import kernels
from lossyfl.kernels import native

Kernel = Callable[..., Any]


class Recorder:
    """Writes down every call of a kernel.

    signatures: of all kernels imported so far, by the names that the library has for them
    calls: how many of each
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.signatures: dict[str, str] = {}
        self.calls = Counter[str]()

    def native(self, signature: str) -> Callable[[Kernel], Kernel]:
        """What stands for `native.native` while kernels are imported."""
        chosen = original(signature)

        def watched(reference: Kernel) -> Kernel:
            kernel = chosen(reference)
            for kind in ("_u8", "_u16") if "s[]" in signature else ("",):
                self.signatures[reference.__name__ + kind] = signature

            def call(*arguments: Any) -> Any:  # noqa: ANN401
                return self.record(kernel, reference.__name__, signature, arguments)

            return call

        return watched

    def record(self, kernel: Kernel, name: str, signature: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Make a call, and write it down."""
        inputs, _, result = signature.partition(" -> ")
        words = inputs.split()
        either = [a for word, a in zip(words, arguments, strict=True) if word.startswith("s[]")]
        if either:
            name += f"_u{8 * either[0].itemsize}"
        call = bytearray()
        for word, argument in zip(words, arguments, strict=True):
            if "[]" in word:
                call += struct.pack("<IQ", argument.itemsize, argument.size) + _little(argument)
            else:
                call += _number(word, argument)
        given = kernel(*arguments)
        if result:
            call += _number(result, given)
        for word, argument in zip(words, arguments, strict=True):
            if word.endswith("!"):
                call += _little(argument)
        self.file.write(struct.pack("<II", list(self.signatures).index(name), len(call)) + call)
        self.calls[name] += 1
        return given


def _number(word: str, value: Any) -> bytes:  # noqa: ANN401
    if word in ("f", "d"):
        return struct.pack("<d", float(value))
    return struct.pack("<Q", int(value) & (2**64 - 1))


def _little(array: Any) -> bytes:  # noqa: ANN401
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


original = native.native


def record(path: Path, vectors: int, entries: int) -> Recorder:
    """Write the calls; kernels must not have been imported before."""
    assert not any(name.startswith("lossyfl.wire") for name in sys.modules)
    with path.open("wb") as file:
        recorder = Recorder(file)
        native.native = recorder.native
        for module in pkgutil.iter_modules(kernels.__path__):
            if not module.name.startswith("_"):  # the library itself
                importlib.import_module(f"{kernels.__name__}.{module.name}")
        _golden()
        _random(vectors, entries)
        _rounds()
        call_directly(max(1, vectors // 10), entries)
    return recorder


def _golden() -> None:
    """Every golden frame, written and read."""
    from tests.golden.cases import CASES

    from lossyfl import decode, encode, stream

    for case in CASES:
        options = {"tensors": case.tensors, "meta": case.meta}
        frame = encode(case.vector(), case.quantizer, rng=stream(1), **options)
        golden = Path(__file__).parents[2] / "golden" / f"{case.name}.lfl"
        assert (frame == golden.read_bytes()) == case.written, case.name
        decode(frame)


QUANTIZERS = (
    "stochastic:levels=1", "stochastic:levels=2", "stochastic:levels=5,scale=100", "stochastic:levels=300",
    "deadzone:target=0.5bit", "dithered", "topk:keep=0.1", "sparse_ternary", "sign", "eden:bits=1",
    "eden:bits=2", "qsgd:levels=16", "natural", "rotated+stochastic:levels=3",
)  # fmt: skip


def _random(vectors: int, longest: int) -> None:
    """Vectors of all sizes and shapes through every quantizer in turn."""
    from lossyfl import decode, encode, quantizer, stream

    rng = np.random.default_rng(2020)
    for i in range(vectors):
        entries = int(rng.integers(min(40, longest - 1), longest if i % 50 else 20_000))
        x = rng.laplace(size=entries) ** (1 + 2 * (i % 3)) * 10.0 ** rng.integers(-6, 6)
        x[rng.random(entries) < rng.choice([0, 0.5])] = 0
        x[0] = 1
        rows = int(rng.integers(2, 12))
        tensors = ((rows, entries // rows), entries % rows) if i % 3 else None
        if tensors:  # busy and idle rows, which lean
            x[: entries - entries % rows] *= np.repeat(rng.laplace(size=rows) ** 3, entries // rows)
        frame = encode(
            x.astype(np.float32),
            quantizer(QUANTIZERS[i % len(QUANTIZERS)]),
            rng=stream(i),
            tensors=tensors,
        )
        decode(frame)


def _rounds() -> None:
    """Rounds of the protocol: replies are added as they are decoded, in all the forms that tables have."""
    from lossyfl import Device, Server, scheme

    rng = np.random.default_rng(7)
    for spec in (
        "lfl:q1=2,q2=2",
        "lfl:q1=3,q2=300,scale=tensor",
        "lean:down_budget=4bit,up_budget=4bit",
    ):
        chosen, tensors = scheme(spec), (300, 200)
        server = Server(
            np.zeros(500, np.float32), chosen, samples={0: 3, 1: 5}, seed=1, tensors=tensors
        )
        devices = {m: Device(m, chosen, seed=1, tensors=tensors) for m in (0, 1)}
        for _ in range(3):
            server.open_round()
            for m, device in devices.items():
                theta = device.receive(server.frames_for(m, device.held))
                server.accept(m, device.reply(theta + rng.normal(size=500).astype(np.float32)))
            server.close_round()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--vectors", type=int, default=1000)
    parser.add_argument("--entries", type=int, default=700, help="of most vectors, below this")
    chosen = parser.parse_args()
    recorder = record(chosen.path, chosen.vectors, chosen.entries)
    chosen.path.with_suffix(".json").write_text(json.dumps(recorder.signatures, indent=1) + "\n")
    print(f"{recorder.calls.total():,} calls of {len(recorder.calls)} kernels")
    if missed := recorder.signatures.keys() - recorder.calls:
        sys.exit(f"never called: {', '.join(sorted(missed))}")


if __name__ == "__main__":
    main()
