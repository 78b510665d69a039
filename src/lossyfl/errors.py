"""Every error that lossyfl raises on purpose.

    LossyflError
    ├── InputError      a wrong argument or file: what, owner, allowed, got    (also a ValueError)
    │   ├── NotFinite   NaN or infinity in a vector
    │   └── OutOfReach  an error that a quantizer cannot keep to
    ├── FrameError      bytes that are not a valid frame: offset, expectation  (also a ValueError)
    ├── Refused         a reply that the server does not take, and why; nothing has changed
    ├── OutOfSync       a frame for another estimate than the device holds; nothing has changed
    ├── Diverged        local training gave a loss that is no number
    ├── DiskError       a file that could not be written; what it held is whole (also an OSError)
    ├── Stopped         a run that could not go on; its last checkpoint is whole
    │   └── Interrupted somebody stopped it at once
    └── MissingExtra    an optional dependency is not installed                (also an ImportError)

What runs as asked and will not end well is a Caution, a warning: it is said before the first round.

One grammar for wrong arguments: "levels of Stochastic must be an int in [1, 32767], got 0".
"""

from collections.abc import Iterable

LONGEST = 2000
"""Characters of a wrong value that are shown: it may be a whole file."""


class LossyflError(Exception):
    """Base of all errors raised by lossyfl; the command line shows these without a traceback."""


class Caution(UserWarning):
    """Something that is run because it was asked for, and what will become of it."""


class InputError(LossyflError, ValueError):
    """A wrong argument; nothing was done.

    >>> raise InputError("levels", of="Stochastic", allowed="an int in [1, 32767]", got=0)
    Traceback (most recent call last):
    ...
    lossyfl.errors.InputError: levels of Stochastic must be an int in [1, 32767], got 0
    """

    def __init__(self, what: str, *, of: str, allowed: str, got: object) -> None:
        shown = got if isinstance(got, str) else repr(got)
        cut = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
        super().__init__(printable(f"{what} of {of} must be {allowed}, got {cut}"))

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), str(self))  # it may come from a worker process


def printable(text: str) -> str:
    r"""Text that a terminal only shows: what would move its cursor or change its title is spelled out.

    >>> printable("a\x1b[2J")
    'a\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


class NotFinite(InputError):
    """NaN or infinity in a vector that is to be sent."""

    def __init__(self, what: str, *, of: str, got: object) -> None:
        super().__init__(what, of=of, allowed="finite", got=got)


class OutOfReach(InputError):
    """An error that a quantizer cannot keep to; `nmse` is the least it can."""

    def __init__(self, what: str, *, of: str, nmse: float, got: object) -> None:
        allowed = f"an nmse of {nmse:.2g} or more for this vector"
        super().__init__(what, of=of, allowed=allowed, got=got)
        self.nmse = nmse


def _again(kind: type[InputError], message: str) -> InputError:
    """The same error in another process."""
    error = kind.__new__(kind)
    error.args = (message,)
    return error


class FrameError(LossyflError, ValueError):
    """Bytes that are not a valid frame; `offset` says where, nothing was decoded."""

    def __init__(self, offset: int, expected: str, got: object) -> None:
        super().__init__(f"bad frame at byte {offset}: expected {expected}, got {got}")
        self.offset = offset
        self.expected = expected


class Refused(LossyflError):
    """A reply that the server does not take; `reason` is one word, nothing has changed."""

    def __init__(self, device: int, reason: str, detail: str) -> None:
        super().__init__(f"reply of device {device} is refused as {reason}: {detail}")
        self.device, self.reason, self.detail = device, reason, detail


class OutOfSync(LossyflError):
    """A frame for another estimate than the device holds: ask for a catch-up; nothing has changed."""

    def __init__(self, device: int, holds: str, needs: str) -> None:
        super().__init__(f"device {device} holds {holds}, the frame needs {needs}")
        self.device = device


class Diverged(LossyflError):
    """Local training whose loss or model is NaN or infinite."""

    def __init__(self, device: int, round: int, loss: float) -> None:
        super().__init__(f"training of device {device} diverged in round {round}: loss {loss}")
        self.device, self.round, self.loss = device, round, loss

    def __reduce__(self) -> tuple[type["Diverged"], tuple[int, int, float]]:
        return Diverged, (self.device, self.round, self.loss)  # it comes from a worker process


class DiskError(LossyflError, OSError):
    """A file that could not be written: what was there before is whole."""


class Stopped(LossyflError):
    """A run that could not go on: what happened, and what to do; its last checkpoint is whole."""


class Interrupted(Stopped):
    """A run that somebody stopped at once, in the middle of a round or before the first."""


class MissingExtra(LossyflError, ImportError):
    """An optional dependency is not installed; the message is the command that installs it."""

    def __init__(self, module: str, *, extra: str) -> None:
        super().__init__(f"{module} is not installed: pip install 'lossyfl[{extra}]'")


def one_of(names: Iterable[str], got: str) -> str:
    """The allowed names as text, the nearest one to `got` suggested.

    >>> one_of(["stochastic", "sign"], "stocastic")
    'one of sign, stochastic (did you mean stochastic?)'
    """
    import difflib  # seldom needed, and slow to import

    known = sorted(names)
    near = difflib.get_close_matches(got, known, n=1, cutoff=0.5)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"one of {', '.join(known)}{hint}"
