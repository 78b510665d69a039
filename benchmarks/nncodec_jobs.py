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
from pathlib import Path
from typing import Any

import numpy as np

Tensors = dict[str, np.ndarray]


@cache
def tensors(folder: str) -> Tensors:
    """The tensors of a vector, in their order."""
    names = sorted((path.stem for path in Path(folder).glob("*.npy")), key=int)
    return {name: np.load(Path(folder) / f"{name}.npy") for name in names}


def compressed(x: Tensors, base: dict[str, Any] | None, options: dict[str, Any]) -> bytearray:
    """The bitstream of a vector; the base is moved to what it says, which the next one builds on.

    A base makes it a differential update. Biases are quantized as weights are: the default, 40 octaves
    finer or so, is for models, and costs more than all weights of a short update.
    """
    from nncodec import nnc

    return nnc.compress(
        x,
        bitstream_path=None,
        return_bitstream=True,
        nonweight_qp=options["qp"],
        row_skipping=True,
        tca=base is not None,
        compress_differences=base is not None,
        approx_param_base=base,
        update_base_param=base is not None,
        **options,
    )


def decompressed(data: bytearray, base: dict[str, Any] | None) -> Tensors:
    """The vector of a bitstream."""
    from nncodec import nnc

    return nnc.decompress(data, approx_param_base=base, update_base_param=base is not None)


def measure(folder: str, before: str | None, options: dict[str, Any]) -> dict[str, float]:
    """A vector there and back; `before` is the update of the round before, for temporal contexts."""
    x = tensors(folder)
    bases = [None, None] if before is None else [fresh_base(), fresh_base()]
    if before is not None:
        decompressed(compressed(tensors(before), bases[0], options), bases[1])
    start = time.perf_counter()
    data = compressed(x, bases[0], options)
    middle = time.perf_counter()
    decoded = decompressed(data, bases[1])
    end = time.perf_counter()
    lost = sum(float(np.sum((x[name] - decoded[name]).astype(np.float64) ** 2)) for name in x)
    energy = sum(float(np.sum(each.astype(np.float64) ** 2)) for each in x.values())
    return {
        "nbytes": len(data),
        "nmse": lost / energy,
        "encode": middle - start,
        "decode": end - middle,
    }


def fresh_base() -> dict[str, Any]:
    """What one end knows of earlier updates at the beginning, as NNCodec's documentation has it."""
    return {"parameters": {}, "put_node_depth": {}, "device_id": 0, "parameter_id": {}}


def main() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        try:
            with contextlib.redirect_stdout(sys.stderr):  # the package prints what it does
                answer: object = measure(*json.loads(line))
        except (Exception, SystemExit) as error:  # it leaves its interpreter where others raise
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
