"""SGD and Adam over one flat parameter: the bits of torch's own, in a process that starts in half the time.

The first object of `torch.optim.Optimizer` imports torch's compiler, which takes as long as all the rest of
torch does, and once again in every worker. Nothing here is compiled.

Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015.
"""
# pyright: reportUnknownMemberType=false
# torch leaves parameters of some functions without types.

from collections.abc import MutableMapping
from typing import Any

from lossyfl.extras import of_extra

with of_extra("sim"):
    import torch
    from torch import Tensor, nn
    from torch.optim.adam import adam

State = MutableMapping[Tensor, Any]
"""Of the parameter: what an optimizer remembers, by torch's names."""


class FlatSgd:
    """theta -= lr v, where v = momentum v + g + decay theta."""

    def __init__(self, parameter: nn.Parameter, *, momentum: float, decay: float) -> None:
        self.param_groups: list[dict[str, Any]] = [{"lr": 1.0}]
        self.state: State = {}
        self._parameter, self._momentum, self._decay = parameter, momentum, decay

    def step(self) -> None:
        """One step along the gradient that the parameter has now."""
        theta, v = self._parameter, _gradient(self._parameter)
        with torch.no_grad():
            if self._decay:
                v = v.add(theta, alpha=self._decay)
            if self._momentum:
                v = self._moved(v)
            theta.add_(v, alpha=-self.param_groups[0]["lr"])

    def _moved(self, gradient: Tensor) -> Tensor:
        """The velocity; a first one is the gradient."""
        kept: dict[str, Tensor] = self.state.setdefault(self._parameter, {})
        if "momentum_buffer" not in kept:
            kept["momentum_buffer"] = gradient.clone()
            return kept["momentum_buffer"]
        return kept["momentum_buffer"].mul_(self._momentum).add_(gradient)


class FlatAdam:
    """theta -= lr m / (sqrt(v) + eps), by torch's kernel that does all of it in one pass."""

    def __init__(
        self, parameter: nn.Parameter, *, betas: tuple[float, float], eps: float, decay: float
    ) -> None:
        self.param_groups: list[dict[str, Any]] = [{"lr": 1.0}]
        self.state: State = {}
        self._parameter, self._betas, self._eps, self._decay = parameter, betas, eps, decay

    def step(self) -> None:
        """One step along the gradient that the parameter has now."""
        theta = self._parameter
        if theta not in self.state:
            mean, square = torch.zeros_like(theta.data), torch.zeros_like(theta.data)
            first = {"exp_avg": mean, "exp_avg_sq": square, "step": torch.tensor(0.0)}
            self.state[theta] = first
        kept: dict[str, Tensor] = self.state[theta]
        with torch.no_grad():
            adam(
                [theta],
                [_gradient(theta)],
                [kept["exp_avg"]],
                [kept["exp_avg_sq"]],
                [],
                [kept["step"]],
                fused=True,
                amsgrad=False,
                beta1=self._betas[0],
                beta2=self._betas[1],
                lr=self.param_groups[0]["lr"],
                weight_decay=self._decay,
                eps=self._eps,
                maximize=False,
            )


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
