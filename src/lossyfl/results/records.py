"""What is written down of every round."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeGuard, TypeVar, cast, get_args, get_type_hints

from lossyfl.errors import InputError
from lossyfl.files.reading import decoded, parse_json, read_text
from lossyfl.files.unpack import read_unpacked
from lossyfl.protocol.entries import EntryKind, View
from lossyfl.protocol.ledger import Ledger
from lossyfl.protocol.measures import Measured
from lossyfl.tasks.metrics import ACCURACY, Metric

LARGEST_WHOLE = 1 << 63
"""No count is beyond, nor any byte of a run."""
LARGEST_NUMBER = 1e100
"""No float of a record that is summed or squared is beyond: no sum or square of such overflows."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Bytes of one direction in one round.

    nbytes:   of all frames; a broadcast frame that many hear counts once
    unicast:  the same if every device is sent its own copy
    initial, update, catch_up, reply: `nbytes` by kind
    raw:      what 32-bit floats would have taken
    paper:    what the paper would count, in bytes
    entropy:  of the frames' symbols, in bytes
    entries:  of all frames
    carrier:  bytes of the messages that carried the frames, as their carrier counts them; 0 for none
    wire:     bytes that were measured on the wire, everything included; 0 if nobody did
    plain:    what as many messages with the model in its own dtypes would have taken; 0 for none
    exact:    of arrays that travel beside frames as they are, to or from every device; part of all of the
              above where every device has its own copy, else of `unicast` only
    """

    nbytes: int = 0
    unicast: int = 0
    initial: int = 0
    update: int = 0
    catch_up: int = 0
    reply: int = 0
    raw: int = 0
    paper: float = 0.0
    entropy: float = 0.0
    entries: int = 0
    carrier: int = 0
    wire: int = 0
    plain: int = 0
    exact: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """Where the time of one round went; `training` and `coding` add up over all workers.

    broadcast:  quantize, encode, decode and hand out the broadcast
    devices:    from the first device job to the last reply
    aggregate:  decode and add replies, while workers go on, and close the round
    evaluate:   the test set
    save:       results and checkpoint since the round before
    total:      all of it
    """

    broadcast: float
    devices: float
    aggregate: float
    evaluate: float
    save: float
    total: float
    training: float
    coding: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One line of rounds.jsonl.

    metrics, test_loss: of theta(t+1), the model that the round made, or of theta_hat(t), as the settings
                        say; metrics by their names; empty and None if it was not evaluated
    train_loss: of the local steps, the mean over devices by their samples; None if nobody trained
    eps:        of the broadcast, as in Lemma 1; None in round 0
    distance:   ||theta(t) - theta_hat(t)||: what the broadcast of the round could not say
    replies:    accepted
    late:       replies that came too late
    late_bytes: their bytes, which are not in `up`
    away:       devices that were away
    model_peak: the largest weight over the root of the mean square, of theta(t)
    broadcast:  the vector that the broadcast's quantizer was given, with kept errors and rotated where a
                scheme does so, and what it lost; None in round 0
    reply:      the same of replies, the mean over devices
    memory:     ||delta_m|| after the round, the root of the mean square over devices that trained
    copies:     `down` with a copy for every device, where no broadcast reaches them all: only participants
                listen, or messages carry the frames; else None

    The last five are None in records of versions before they were measured. Those of versions that knew no
    other metric have `accuracy` in the place of `metrics`.
    """

    round: int
    test_loss: float | None
    train_loss: float | None
    eps: float | None
    distance: float
    replies: int
    late: int
    late_bytes: int
    away: int
    down: Traffic
    up: Traffic
    seconds: Seconds
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    model_peak: float | None = None
    broadcast: Measured | None = None
    reply: Measured | None = None
    memory: float | None = None
    copies: Traffic | None = None

    @property
    def accuracy(self) -> float | None:
        """Of a task that measures it, where the round was evaluated."""
        return self.metrics.get(ACCURACY.name)

    @property
    def handed(self) -> Traffic:
        """The downlink as it was sent: once for all, or once for every device."""
        return self.down if self.copies is None else self.copies

    def line(self) -> str:
        """The record as one line of JSON."""
        return json.dumps(asdict(self)) + "\n"


def traffic(ledger: Ledger) -> tuple[Traffic, Traffic]:
    """Both directions of a ledger."""
    up = ledger.total("up")
    return downlink(ledger), Traffic(
        nbytes=up.nbytes,
        unicast=up.nbytes,
        reply=up.nbytes,
        raw=up.raw_bytes,
        paper=up.paper_bits / 8,
        entropy=up.entropy_bits / 8,
        entries=up.raw_bytes // 4,
    )


def downlink(ledger: Ledger, view: View = "broadcast") -> Traffic:
    """Down; with `unicast`, everything counts for every device that was handed it."""

    def kind(name: EntryKind) -> int:
        return ledger.total("down", view=view, kinds=(name,)).nbytes

    down = ledger.total("down", view=view)
    return Traffic(
        nbytes=down.nbytes,
        unicast=ledger.total("down", view="unicast").nbytes,
        initial=kind("initial"),
        update=kind("update"),
        catch_up=kind("catch-up"),
        raw=down.raw_bytes,
        paper=down.paper_bits / 8,
        entropy=down.entropy_bits / 8,
        entries=down.raw_bytes // 4,
    )


def read_rounds(path: Path) -> list[Round]:
    """All whole lines of a file that may still be growing, or of `packed(path)`; none if there is neither."""
    text = _read_text(path)
    whole = text[: text.rfind("\n") + 1].splitlines()
    return [_read(line, number, path.name) for number, line in enumerate(whole, start=1)]


def packed(path: Path) -> Path:
    """Where `gzip` puts a file: a run that is over is kept in a sixth of the space."""
    return path.with_name(f"{path.name}.gz")


def _read_text(path: Path) -> str:
    if path.is_file():
        return read_text(path, of="a run")
    if packed(path).is_file():
        return decoded(read_unpacked(packed(path), of="a run"), of=packed(path).name)
    return ""


def _read(line: str, number: int, name: str) -> Round:
    try:
        return _parse(Round, _renamed(parse_json(line, of=name)))
    except (ValueError, TypeError) as error:
        where = f"line {number} of {name}"
        raise InputError("content", of=where, allowed="a round", got=str(error)) from error


def _renamed(facts: object) -> object:
    """A round of a version that knew no metric but the accuracy, as today's are."""
    if not isinstance(facts, dict) or "accuracy" not in facts or "metrics" in facts:
        return cast("object", facts)
    named = dict(cast("dict[str, object]", facts))
    value = named.pop("accuracy")
    return named | {"metrics": {} if value is None else {ACCURACY.name: value}}


def is_number(value: float | None) -> TypeGuard[float]:
    """Whether something was measured, and can be reckoned with: files and peers may say NaN or 1e308.

    >>> is_number(0.5), is_number(None), is_number(float("nan")), is_number(-1e308)
    (True, False, False, False)
    """
    return value is not None and abs(value) <= LARGEST_NUMBER


def _parse(kind: type[T], facts: object) -> T:
    """A record from the JSON of it; raises ValueError or TypeError if it is another."""
    if not isinstance(facts, dict):
        raise ValueError(f"no JSON object for a {kind.__name__}")
    hints = get_type_hints(kind)
    pairs = cast("dict[str, object]", facts).items()
    values = {name: _value(hints.get(name, int), value) for name, value in pairs}
    _check_counts({name: value for name, value in values.items() if hints.get(name) is int})
    return kind(**values)


def _value(kind: Any, value: object) -> object:  # noqa: ANN401
    """A number or a record; a float may be whole."""
    if kind in (Traffic, Seconds):  # other floats may be NaN: a loss, or what nobody could measure
        return _reckoned(_parse(kind, value))
    if kind == Traffic | None and value is not None:
        return _reckoned(_parse(Traffic, value))
    if kind == Measured | None and value is not None:
        return _parse(Measured, value)
    if kind == Mapping[str, float]:
        return _metrics(value)
    fits = type(value) in (get_args(kind) or (kind,)) or type(value) is int
    if not fits or (type(value) is int and not -1 <= value < LARGEST_WHOLE):
        raise ValueError(f"no number, or none that a run has: {type(value).__name__}")
    return value


def _metrics(value: object) -> dict[str, float]:
    """Values by names that a metric can have; they may be NaN."""
    if not isinstance(value, dict):
        raise ValueError("no metrics by their names")
    pairs = cast("dict[str, object]", value).items()
    return {Metric(name=name).name: float(cast("float", _value(float, x))) for name, x in pairs}


def _check_counts(values: dict[str, Any]) -> None:
    """Raise ValueError for a count below none."""
    for name, value in values.items():
        if value < 0:
            raise ValueError(f"{name} is {value}")


def _reckoned(record: Traffic | Seconds) -> Traffic | Seconds:
    """The same; raises ValueError for numbers that cannot be added up, or bytes below none."""
    for name, value in asdict(record).items():
        if not is_number(value):
            raise ValueError(f"{name} is {value}")
    if isinstance(record, Traffic):
        _check_counts(asdict(record))
    return record
