"""What `lossyfl bench nncodec` asks of NNCodec, in the words of its own API.

Run by the Python that has it, so this file imports nothing of the benchmarks, nor lossyfl. It reads a line of
JSON per request and answers with the real bytes, the relative squared error, and the seconds of both ways.
The folder of a vector has its tensors as 0.npy, 1.npy, ...
"""

import contextlib
import json
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

Tensors = dict[str, np.ndarray]
Base = dict[str, Any] | None
"""What one end knows of earlier updates."""


STAND_INS = ("cv2", "h5py", "pandas", "sklearn.metrics", "torchvision", "tqdm")
"""What it imports for its examples with pictures, and its codec never calls."""


@cache
def package() -> Any:  # noqa: ANN401, it has no types
    """NNCodec's interface to compress a dictionary of tensors."""
    for name in STAND_INS:
        sys.modules.setdefault(name, MagicMock())
        sys.modules.setdefault(name.partition(".")[0], MagicMock())
    return import_module("nncodec.nnc")


@cache
def tensors(folder: str) -> Tensors:
    """The tensors of a vector, in their order."""
    names = sorted((path.stem for path in Path(folder).glob("*.npy")), key=int)
    return {name: np.load(Path(folder) / f"{name}.npy") for name in names}


def compressed(x: Tensors, base: Base, options: dict[str, Any]) -> bytearray:
    """The bitstream of a vector; a base makes it a differential update, and is moved by it.

    Biases are quantized as weights are unless the options say otherwise.
    """
    return package().compress(
        x,
        bitstream_path=None,
        return_bitstream=True,
        row_skipping=True,
        compress_differences=base is not None,
        approx_param_base=base,
        update_base_param=base is not None,
        **{"nonweight_qp": options["qp"], **options},
    )


def decompressed(data: bytearray, base: Base) -> Tensors:
    """The vector of a bitstream; of a differential update, without tensors that did not change."""
    return package().decompress(data, approx_param_base=base, update_base_param=base is not None)


def measure(
    folder: str, before: str | None, options: dict[str, Any], *, differential: bool
) -> dict[str, float]:
    """A vector there and back; `before` is the update of the round before, for temporal contexts."""
    x, options = tensors(folder), options | {"tca": before is not None}
    sender, receiver = (fresh_base() if differential else None for _ in range(2))
    if before is not None:
        decompressed(compressed(tensors(before), sender, options), receiver)
    start = time.perf_counter()
    data = compressed(x, sender, options)
    middle = time.perf_counter()
    decoded = decompressed(data, receiver)
    end = time.perf_counter()
    lost = sum(_energy(each - decoded.get(name, np.float32(0))) for name, each in x.items())
    energy = sum(map(_energy, x.values()))
    return {
        "nbytes": len(data),
        "nmse": lost / energy,
        "encode": middle - start,
        "decode": end - middle,
    }


def _energy(tensor: np.ndarray) -> float:
    return float(np.sum(tensor.astype(np.float64) ** 2))


def fresh_base() -> dict[str, Any]:
    """The base of a first update, as NNCodec's documentation has it."""
    return {"parameters": {}, "put_node_depth": {}, "device_id": 0, "parameter_id": {}}


def main() -> None:
    """Answer requests until there are no more; ends at once where NNCodec is missing."""
    with contextlib.redirect_stdout(sys.stderr):
        package()
    for line in sys.stdin:
        try:
            with contextlib.redirect_stdout(sys.stderr):  # the package prints what it does
                folder, before, options, differential = json.loads(line)
                answer: object = measure(folder, before, options, differential=differential)
        except (Exception, SystemExit) as error:  # it leaves its interpreter where others raise
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
