"""`make golden`: write the golden frames anew. Only a new frame version is a reason to."""

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden.cases import CASES

from lossyfl import decode, encode, inspect, stream

HERE = Path(__file__).parent


def main() -> None:
    for case in CASES:
        if not case.written:
            continue
        frame = encode(
            case.vector(),
            case.quantizer,
            rng=stream(1),
            tensors=case.tensors,
            meta=case.meta,
        )
        info = inspect(frame)
        facts = {
            "quantizer": repr(case.quantizer),
            "entries": case.entries,
            "coding": info.coding,
            "letters": info.letters,
            "segments": info.segments,
            "decoded_sha256": hashlib.sha256(decode(frame).tobytes()).hexdigest(),
        }
        (HERE / f"{case.name}.lfl").write_bytes(frame)
        (HERE / f"{case.name}.json").write_text(json.dumps(facts, indent=1) + "\n")
        print(f"{case.name:24} {len(frame):6} bytes, {info.coding}, {info.letters} a letter")


if __name__ == "__main__":
    main()
