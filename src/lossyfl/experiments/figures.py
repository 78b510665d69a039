"""The paper's Figures 1a and 1b as settings: what it says to the letter, and a scale for two cores.

The paper leaves open how many rounds, which step sizes, and what Adam means with local steps: these are ours
at both scales. Four readings of Adam are options (`tasks.optimizers`, `server_optimizer` of a scheme);
`docs/reproduction.md` shows them and how the ones used here were chosen. All schemes of a figure use
the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lossyfl.errors import InputError, one_of
from lossyfl.simulation.experiment import Experiment

Scale = Literal["paper", "small"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: one experiment, several schemes.

    server:  the server's optimizer, an option of every scheme; empty for none
    """

    name: str
    scale: Scale
    title: str
    experiment: Experiment
    schemes: tuple[str, ...]
    server: str

    @property
    def specs(self) -> tuple[str, ...]:
        """The schemes with the server's optimizer."""
        if not self.server:
            return self.schemes
        return tuple(f"{spec}{',' if ':' in spec else ':'}{self.server}" for spec in self.schemes)

    def named(self, names: Sequence[str]) -> tuple[str, ...]:
        """The schemes of these names, all of them for none."""
        known = {spec.partition(":")[0]: spec for spec in self.specs}
        for name in names:
            if name not in known:
                raise InputError("scheme", of=self.name, allowed=one_of(known, name), got=name)
        return tuple(spec for name, spec in known.items() if not names or name in names)

    def caption(self, played: Experiment, seeds: int) -> str:
        """How the figure was made, and what of it is less than at the paper's scale."""
        e, full = played, figure(self.name, "paper").experiment
        words = (
            f"{self.title}: M = {e.devices}, tau = {e.tau}, batch {e.batch}, partition {e.partition}, "
            f"local {e.optimizer} {e.lr}{self.server and ', '}{self.server}, {e.rounds} rounds, "
            f"{seeds} seed{'' if seeds == 1 else 's'}."
        )
        less = [
            f"{name} {getattr(e, name)} instead of {getattr(full, name)}"
            for name in ("batch", "rounds")
            if getattr(e, name) != getattr(full, name)
        ]
        looks = [f"a look every {e.evaluate_every} rounds"] if e.evaluate_every > 1 else []
        return f"{words} Reduced: {', '.join(less + looks)}." if less + looks else words


SERVER_ADAM = "server_optimizer=adam,server_lr=0.003"
MNIST = Figure(
    name="fig1a",
    scale="paper",
    title="Figure 1a, MNIST, one class a device",
    experiment=Experiment(
        task="mnist",
        rounds=300,
        devices=40,
        tau=4,
        batch=500,
        optimizer="sgd",
        lr="0.05",
        partition="paper",
    ),
    schemes=("lossless", "lb:q2=2", "lfl:q1=2,q2=2", "lgm:q1=2,q2=2", "ltgm:q1=50,q2=2"),
    server=SERVER_ADAM,
)
CIFAR10 = Figure(
    name="fig1b",
    scale="paper",
    title="Figure 1b, CIFAR-10, iid",
    experiment=Experiment(
        task="cifar10",
        rounds=400,
        devices=40,
        tau=5,
        batch=250,
        optimizer="adam:moments=kept",
        lr="0.001",
        partition="iid",
    ),
    schemes=("lossless", "lb:q2=3", "lfl:q1=5,q2=3", "lgm:q1=5,q2=3", "ltgm:q1=1000,q2=3"),
    server="",
)
FIGURES = (
    MNIST,
    replace(
        MNIST,
        scale="small",
        experiment=replace(MNIST.experiment, batch=20, evaluate_every=5),
    ),
    CIFAR10,
    replace(
        CIFAR10,
        scale="small",
        experiment=replace(CIFAR10.experiment, batch=20, rounds=100, evaluate_every=5),
    ),
)


def figure(name: str, scale: str) -> Figure:
    """The settings of a figure.

    >>> figure("fig1a", "small").specs[2]
    'lfl:q1=2,q2=2,server_optimizer=adam,server_lr=0.003'
    """
    for chosen in FIGURES:
        if (chosen.name, chosen.scale) == (name, scale):
            return chosen
    names = {f.name for f in FIGURES}
    if name not in names:
        raise InputError("name", of="a figure", allowed=one_of(names, name), got=name)
    raise InputError("scale", of=name, allowed=one_of(("paper", "small"), scale), got=scale)
