"""What NNCodec gave, kept from run to run: it is slow, and gives the same for the same vector and options."""

import hashlib
import json
from pathlib import Path
from threading import Lock

from benchmarks.equal_error import Coded
from benchmarks.nncodec_build import PACKAGE
from lossyfl.types import Vector


class Kept:
    """Sizes and errors by vectors and options, a line of JSON each in a file that grows.

    The last line may be cut off, where a run was stopped.

    >>> import tempfile
    >>> kept = Kept(Path(tempfile.mkdtemp()) / "kept.jsonl")
    >>> kept.put("name", Coded(nbytes=100, nmse=0.5))
    >>> kept.get("name")
    Coded(nbytes=100, nmse=0.5)
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        whole = [json.loads(line) for line in lines if line.endswith("]")]
        self._found = {name: Coded(nbytes=nbytes, nmse=nmse) for name, nbytes, nmse in whole}

    def get(self, name: str) -> Coded | None:
        """What is kept by a name, if there is something."""
        return self._found.get(name)

    def put(self, name: str, coded: Coded) -> None:
        """Keep it."""
        with self._lock:
            self._found[name] = coded
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as file:
                file.write("\n" + json.dumps([name, coded.nbytes, coded.nmse]))


def name_of(vectors: list[Vector], request: object) -> str:
    """The name of what is asked: of the package, of vectors and of options, and nothing else."""
    found = hashlib.sha256(f"{PACKAGE} {json.dumps(request, sort_keys=True)}".encode())
    for each in vectors:
        found.update(each.astype("<f4").tobytes())
    return found.hexdigest()[:32]
