"""The paper's Figures 1a and 1b as settings: what it says to the letter, and a scale for two cores.

The paper names Adam but no step sizes, and not what Adam means with local steps. Four readings are
options (`tasks.optimizers`, `server_optimizer` of a scheme); `docs/reproduction.md` shows all four on
the lossless scheme and how the one used here was chosen. All schemes use the same.
"""

from dataclasses import dataclass
from typing import Literal

from lossyfl.errors import InputError, one_of
from lossyfl.simulation.experiment import Experiment

Scale = Literal["paper", "small"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: one experiment, several schemes.

    server:  the server's optimizer, added to every scheme
    reduced: what is smaller than in the paper, for the caption; empty for nothing
    """

    name: str
    title: str
    experiment: Experiment
    schemes: tuple[str, ...]
    server: str
    reduced: str

    @property
    def specs(self) -> tuple[str, ...]:
        """The schemes with the server's optimizer."""
        join = {True: ",", False: ":"}
        return tuple(f"{spec}{join[':' in spec]}{self.server}" for spec in self.schemes)

    @property
    def caption(self) -> str:
        """How the figure was made, in a sentence."""
        e = self.experiment
        setting = f"M = {e.devices}, tau = {e.tau}, batch {e.batch}, local {e.optimizer} {e.lr}"
        return f"{self.title}. {setting}, {self.server}. {self.reduced}".strip()


SERVER_ADAM = "server_optimizer=adam,server_lr=0.003"
MNIST = Experiment(
    task="mnist", devices=40, tau=4, batch=500, optimizer="sgd", lr="0.02", partition="paper"
)
CIFAR = Experiment(
    task="cifar10", devices=40, tau=5, batch=250, optimizer="sgd", lr="0.05", partition="iid"
)
FIG1A = ("lossless", "lb:q2=2", "lfl:q1=2,q2=2", "lgm:q1=2,q2=2", "ltgm:q1=50,q2=2")
FIG1B = ("lossless", "lb:q2=3", "lfl:q1=5,q2=3", "lgm:q1=5,q2=3", "ltgm:q1=1000,q2=3")
