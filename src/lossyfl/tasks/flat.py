"""A module whose parameters are one vector.

The protocol moves vectors, torch trains modules. Here both are the same memory: every parameter is a
view of one flat tensor and every gradient of another, so that loading a model, an optimizer's step and
reading the result are each one operation on d entries, whatever the number of tensors.
"""
# pyright: reportUnknownMemberType=false
# torch leaves parameters of some functions without types.

from dataclasses import dataclass

from lossyfl.errors import InputError
from lossyfl.extras import of_extra
from lossyfl.types import Shape, Vector

with of_extra("sim"):
    import torch
    from torch import Tensor, nn


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a tensor of the module lies in the vector; `trained` if it is a parameter."""

    name: str
    shape: tuple[int, ...]
    start: int
    stop: int
    trained: bool


class FlatModel:
    """A module and the vector of what it learns, then of its frozen parameters and float32 buffers.

    Buffers such as running means are averaged like parameters but not trained. Other buffers, such as
    counts of batches, do not travel: they are as at the start whenever a model is loaded.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        parameters = {n: p for n, p in module.named_parameters() if p.requires_grad}
        frozen = {n: p for n, p in module.named_parameters() if not p.requires_grad}
        buffers = dict(module.named_buffers())
        tensors = parameters | frozen | {n: b for n, b in buffers.items() if b.is_floating_point()}
        others = [b for b in buffers.values() if not b.is_floating_point()]
        self._others = [(buffer, buffer.clone()) for buffer in others]
        for name, tensor in tensors.items():
            if tensor.dtype != torch.float32:
                raise InputError("dtype", of=name, allowed="float32", got=str(tensor.dtype))
        if not parameters:
            raise InputError("parameters", of="a model", allowed="at least one to train", got=0)
        self.places = _places(tensors, len(parameters))
        self.vector = torch.empty(self.places[-1].stop)
        trained = self.places[len(parameters) - 1].stop
        self.parameter = nn.Parameter(self.vector[:trained])
        self.parameter.grad = torch.zeros(trained)
        for place in self.places:
            self._bind(tensors[place.name], place)

    def _bind(self, tensor: Tensor, place: Place) -> None:
        """Make a tensor of the module a view of the vector, and its gradient one of the gradient."""
        view = self.vector[place.start : place.stop].view(place.shape)
        view.copy_(tensor.data)
        tensor.data = view
        gradient = self.parameter.grad
        if isinstance(tensor, nn.Parameter) and tensor.requires_grad and gradient is not None:
            tensor.grad = gradient[place.start : place.stop].view(place.shape)

    @property
    def tensors(self) -> tuple[Shape, ...]:
        """The shapes of all tensors."""
        return tuple(place.shape for place in self.places)

    def load(self, theta: Vector) -> None:
        """Set all parameters."""
        with torch.no_grad():
            self.vector.copy_(torch.from_numpy(theta))
            for buffer, start in self._others:
                buffer.copy_(start)

    def read(self) -> Vector:
        """All parameters, as a view."""
        return self.vector.numpy()


def _places(tensors: dict[str, Tensor], trained: int) -> tuple[Place, ...]:
    places: list[Place] = []
    start = 0
    for count, (name, tensor) in enumerate(tensors.items()):
        stop, shape = start + tensor.numel(), tuple(tensor.shape)
        places.append(
            Place(name=name, shape=shape, start=start, stop=stop, trained=count < trained)
        )
        start = stop
    return tuple(places)
