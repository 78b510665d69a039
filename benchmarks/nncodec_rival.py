"""NNCodec as a rival: its real bytes at an error, and its seconds, with some of its tools."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import numpy as np

from benchmarks.equal_error import Coded, Settings
from benchmarks.nncodec_build import JOBS
from benchmarks.nncodec_kept import Kept, name_of
from benchmarks.nncodec_tables import BEST, PLAIN, TEMPORAL, Found, Options
from benchmarks.other_python import OtherPython
from benchmarks.updates import Update
from lossyfl.errors import InputError
from lossyfl.types import Vector

OCTAVE = 16
"""Step sizes from one to its double, so that little is left to interpolate; 4 are usual."""
QPS = (-32 * OCTAVE, 25 * OCTAVE)
"""Step sizes from 2^-32, the finest that its header can say here, to 2^25."""
_RATE_DISTORTION = ({"lambda_scale": 1.0}, {"lambda_scale": 2.0})
TOOLS: dict[str, tuple[Options, ...]] = {
    BEST: _RATE_DISTORTION,
    PLAIN: ({"lambda_scale": 0.0, "nonweight_qp": -75 * OCTAVE // 4},),
    "no trellis": tuple(each | {"use_dq": False} for each in _RATE_DISTORTION),
    TEMPORAL: _RATE_DISTORTION,
}
"""What NNCodec is asked for; of several the shortest counts.

Decisions by rate and distortion are an option of its compressor that its simpler interfaces do not pass on;
those quantize biases with a step of 2^-19, and send tensors that are all zero. All but `PLAIN` are
differential updates, which leave them out. `TEMPORAL` also knows the update of the round before, coded in
the same way.
"""


class Rival:
    """A process with NNCodec, a folder where it finds updates, and what it gave before."""

    def __init__(self, python: str, folder: Path, kept: Kept) -> None:
        self._folder, self._kept = folder, kept
        self._python = OtherPython(python, JOBS, of="bench nncodec", needs="nncodec")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._python.__exit__(kind, error, at)

    def search(self, update: Update, tool: str) -> Callable[[float], Found]:
        """A search for the bytes of an update at an error; it remembers what was tried."""
        tried = [(options, self._settings(update, tool, options)) for options in TOOLS[tool]]

        def search(nmse: float) -> Found:
            found: list[Found] = []
            for options, settings in tried:
                nbytes, qp = settings.bytes_at(nmse)
                found.append(Found(nbytes=nbytes, options=options | {"qp": qp}))
            return min(found, key=lambda each: each.nbytes)

        return search

    def _settings(self, update: Update, tool: str, options: Options) -> Settings:
        def code(qp: int) -> Coded:
            vectors = [update.vector, update.before] if tool == TEMPORAL else [update.vector]
            name = name_of(vectors, [update.shapes, options | {"qp": qp}, tool != PLAIN])
            found = self._kept.get(name)
            if found is None:
                answer = self.ask(update, tool, options | {"qp": qp})
                found = Coded(nbytes=int(answer["nbytes"]), nmse=answer["nmse"])
                self._kept.put(name, found)
            return found

        return Settings(code=code, first=_first(update.vector), least=QPS[0], most=QPS[1])

    def ask(self, update: Update, tool: str, options: Options) -> dict[str, float]:
        """Bytes, error and seconds of both ways."""
        before = self._saved(update, "before") if tool == TEMPORAL else None
        said = {"use_dq": True, "qp_density": OCTAVE.bit_length() - 1} | options
        answer = self._python.ask(self._saved(update, "vector"), before, said, tool != PLAIN)
        if not isinstance(answer, dict):
            allowed = "able to code an update"
            raise InputError("nncodec", of="bench nncodec", allowed=allowed, got=str(answer))
        return cast("dict[str, float]", answer)

    def _saved(self, update: Update, which: str) -> str:
        """The folder with the tensors of an update, as its process reads them."""
        out = self._folder / f"{update.source}-{update.sent}-{update.round}-{which}"
        if not out.exists():
            out.mkdir()
            vector = update.vector if which == "vector" else update.before
            for at, tensor in enumerate(update.tensors(vector)):
                np.save(out / f"{at}.npy", tensor)
        return str(out)


def _first(x: Vector) -> int:
    """A step size to begin with, half of the root mean square: for the highest rates."""
    return round(OCTAVE * float(np.log2(np.sqrt(np.mean(x.astype(np.float64) ** 2)) / 2)))
