"""Another Python, which does jobs in turns with this one: whatever else the machine does hits both."""

import json
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from lossyfl.errors import InputError


class OtherPython:
    """A process of some Python that runs a file of jobs: a line of JSON asks, a line of JSON answers.

    needs: what has to be installed for it, for messages
    """

    def __init__(self, python: str, jobs: Path, *, of: str, needs: str) -> None:
        try:
            self._process = subprocess.Popen(
                [python, "-P", str(jobs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except OSError as error:
            allowed = f"a Python with {needs} installed"
            raise InputError("python", of=of, allowed=allowed, got=python) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # of what a process that had ended did not read
                pipe.close()

    def ask(self, *request: object) -> object:
        """What it answers; a text says what went wrong."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{json.dumps(request)}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return "its process ended"
        answer = self._process.stdout.readline()
        return json.loads(answer) if answer else "its process ended"
