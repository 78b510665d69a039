"""What is proved and what cannot be beaten: bounds and limits, as pure functions."""

from lossyfl.theory.convergence import EXACT, Levels, Problem, Rate, Uplink, bound, loss_bound
from lossyfl.theory.variance import eps, relative_variance

__all__ = [
    "EXACT",
    "Levels",
    "Problem",
    "Rate",
    "Uplink",
    "bound",
    "eps",
    "loss_bound",
    "relative_variance",
]
