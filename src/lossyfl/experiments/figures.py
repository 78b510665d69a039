"""The paper's Figures 1a and 1b as settings, in the readings that were tried, and a study of all readings.

The paper says what it trained and neither how long nor what Adam means where devices take local steps and
the server averages. A reading answers that:

    carried      one Adam for all devices in turn, its moments go from device to device and from round to
                 round: what a program with one optimizer object does
    server-adam  (fig1a) devices take steps of SGD, the server one of Adam by the mean update
    kept         (fig1b) every device has an Adam of its own and keeps its moments
    reset        (readings) every device begins every round with a fresh Adam
    shared       (readings) every round begins with the mean of the moments that devices ended with

In the first, LGM and LTGM go on from theta_hat, LGM has a scale per tensor, LTGM's transform no random
signs. `docs/reproduction.md` shows what each reading does and why the first is the default. All schemes of a
figure use the same optimizer and step sizes.

`readings` is no figure of the paper. It is small enough to try every optimizer with every LGM (server model
x scale) and every LTGM (signs x server model), and with the first optimizer LTGM with fewer and more levels,
and compensation on top of a preserved server model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lossyfl.errors import InputError, one_of
from lossyfl.results.experiment import Experiment

BATCH = 20
"""Samples of a local step, for two cores; the paper's are `Figure.paper_batch`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure in one reading: one experiment, several schemes.

    paper_batch: the paper's samples of a local step; as many as here where the paper has no such figure
    server: the server's optimizer, an option of every scheme; empty for none
    """

    name: str
    reading: str
    title: str
    experiment: Experiment
    schemes: tuple[str, ...]
    paper_batch: int
    server: str = ""

    @property
    def specs(self) -> tuple[str, ...]:
        """The schemes with the server's optimizer."""
        if not self.server:
            return self.schemes
        return tuple(f"{spec}{',' if ':' in spec else ':'}{self.server}" for spec in self.schemes)

    def named(self, names: Sequence[str]) -> tuple[str, ...]:
        """The schemes of these names, all of them for none."""
        known = dict.fromkeys(map(_name, self.specs))
        for name in names:
            if name not in known:
                raise InputError("scheme", of=self.name, allowed=one_of(known, name), got=name)
        return tuple(spec for spec in self.specs if not names or _name(spec) in names)

    def caption(self, played: Experiment, seeds: int) -> str:
        """How the figure was made, and what of it is less than the paper's."""
        e = played
        words = (
            f"{self.title}: M = {e.devices}, tau = {e.tau}, batch {e.batch}, partition {e.partition}, "
            f"local {e.optimizer} {e.lr}{self.server and ', '}{self.server}, {e.rounds} rounds, "
            f"{seeds} seed{'' if seeds == 1 else 's'}."
        )
        less = (
            [f"batch {e.batch} instead of {self.paper_batch}"]
            if e.batch != self.paper_batch
            else []
        )
        rarely = [f"evaluated every {e.evaluate_every} rounds"] if e.evaluate_every > 1 else []
        return f"{words} Reduced: {', '.join(less + rarely)}." if less + rarely else words


MNIST = Figure(
    name="fig1a",
    reading="carried",
    title="Figure 1a, MNIST, one class a device",
    experiment=Experiment(
        task="mnist",
        rounds=300,
        devices=40,
        tau=4,
        batch=BATCH,
        optimizer="adam:eps=1e-7,moments=carried",
        lr="0.001",
        partition="paper",
        evaluate_every=5,
        evaluate_last=10,
    ),
    schemes=(
        "lossless",
        "lb:q2=2",
        "lfl:q1=2,q2=2",
        "lgm:q1=2,q2=2,scale=tensor,server_model=estimate",
        "ltgm:q1=50,q2=2,signs=none,server_model=estimate",
    ),
    paper_batch=500,
)
CIFAR10 = Figure(
    name="fig1b",
    reading="carried",
    title="Figure 1b, CIFAR-10, iid",
    experiment=replace(MNIST.experiment, task="cifar10", tau=5, partition="iid"),
    schemes=(
        "lossless",
        "lb:q2=3",
        "lfl:q1=5,q2=3",
        "lgm:q1=5,q2=3,scale=tensor,server_model=estimate",
        "ltgm:q1=1000,q2=3,signs=none,server_model=estimate",
    ),
    paper_batch=250,
)
STUDIED = (
    "lossless",
    "lfl:q1=2,q2=2",
    *(
        f"lgm:q1=2,q2=2,scale={scale},server_model={server}"
        for scale in ("model", "tensor")
        for server in ("estimate", "preserved")
    ),
    *(
        f"ltgm:q1=20,q2=2,signs={signs},server_model={server}"
        for signs in ("none", "fixed", "fresh")
        for server in ("estimate", "preserved")
    ),
)
READINGS = Figure(
    name="readings",
    reading="carried",
    title="What the paper leaves open, digits, one class per device",
    experiment=replace(MNIST.experiment, task="digits", devices=10, batch=16),
    schemes=(
        *STUDIED,
        "ltgm:q1=5,q2=2,signs=none,server_model=estimate",
        "ltgm:q1=50,q2=2,signs=none,server_model=estimate",
        "lfl:q1=2,q2=2,server_model=preserved,compensate_server=true",
    ),
    paper_batch=16,
)
SERVER_ADAM = "server_optimizer=adam,server_lr=0.003"
FIGURES = (
    MNIST,
    replace(
        MNIST,
        reading="server-adam",
        experiment=replace(MNIST.experiment, optimizer="sgd", lr="0.05", evaluate_last=1),
        schemes=("lossless", "lb:q2=2", "lfl:q1=2,q2=2", "lgm:q1=2,q2=2", "ltgm:q1=50,q2=2"),
        server=SERVER_ADAM,
    ),
    CIFAR10,
    replace(
        CIFAR10,
        reading="kept",
        experiment=replace(
            CIFAR10.experiment, optimizer="adam:moments=kept", rounds=100, evaluate_last=1
        ),
        schemes=("lossless", "lb:q2=3", "lfl:q1=5,q2=3", "lgm:q1=5,q2=3", "ltgm:q1=1000,q2=3"),
    ),
    READINGS,
    *(
        replace(
            READINGS,
            reading=moments,
            schemes=STUDIED,
            experiment=replace(READINGS.experiment, optimizer=f"adam:eps=1e-7,moments={moments}"),
        )
        for moments in ("reset", "kept", "shared")
    ),
    replace(
        READINGS,
        reading="server-adam",
        schemes=STUDIED,
        experiment=replace(READINGS.experiment, optimizer="sgd", lr="0.05"),
        server=SERVER_ADAM,
    ),
)


def _name(spec: str) -> str:
    """A scheme without its options."""
    return spec.partition(":")[0]


def figure(name: str, reading: str = "carried") -> Figure:
    """The settings of a figure.

    >>> figure("fig1a", "server-adam").specs[2]
    'lfl:q1=2,q2=2,server_optimizer=adam,server_lr=0.003'
    """
    names = dict.fromkeys(chosen.name for chosen in FIGURES)
    if name not in names:
        raise InputError("name", of="a figure", allowed=one_of(names, name), got=name)
    readings = {chosen.reading: chosen for chosen in FIGURES if chosen.name == name}
    if reading not in readings:
        raise InputError("reading", of=name, allowed=one_of(readings, reading), got=reading)
    return readings[reading]
