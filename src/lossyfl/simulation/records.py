"""What is written down of every round."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from lossyfl.errors import InputError
from lossyfl.ledger import Kind, Ledger


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """Where the time of one round went; `training` and `coding` add up over all workers.

    broadcast:  quantize, encode, decode and hand out the broadcast
    devices:    from the first visit to the last reply
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

    accuracy, test_loss: of theta(t+1), the model that the round made, or of theta_hat(t), as the
                         settings say; None if nobody looked
    train_loss: of the local steps, the mean over devices by their samples; None if nobody trained
    eps:        of the broadcast, as in Lemma 1; None in round 0
    distance:   ||theta(t) - theta_hat(t)||: what the broadcast of the round could not say
    replies:    accepted
    late:       replies that came too late
    late_bytes: their bytes, which are not in `up`
    away:       devices that were away
    """

    round: int
    accuracy: float | None
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

    def line(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self)) + "\n"


def traffic(ledger: Ledger) -> tuple[Traffic, Traffic]:
    """Both directions of a ledger."""

    def kind(name: Kind) -> int:
        return ledger.total("down", kinds=(name,)).nbytes

    down, up = ledger.total("down"), ledger.total("up")
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
    ), Traffic(
        nbytes=up.nbytes,
        unicast=up.nbytes,
        reply=up.nbytes,
        raw=up.raw_bytes,
        paper=up.paper_bits / 8,
        entropy=up.entropy_bits / 8,
        entries=up.raw_bytes // 4,
    )


def read_rounds(path: Path) -> list[Round]:
    """All whole lines of a file that may still be growing."""
    text = path.read_text() if path.is_file() else ""
    whole = text[: text.rfind("\n") + 1].splitlines()
    try:
        return [_round(json.loads(line)) for line in whole]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("content", of=path.name, allowed="rounds", got=str(error)) from error


def _round(facts: dict[str, object]) -> Round:
    """A round from the JSON of its line."""
    nested = {"down": Traffic, "up": Traffic, "seconds": Seconds}
    for name, kind in nested.items():
        facts[name] = kind(**facts[name])  # type: ignore[arg-type]
    return Round(**facts)  # type: ignore[arg-type]
