"""What a scheme is: a pair of links, what the server does between them, and what is refused of it.

Errors of quantizing must stay small where they are kept, and must be right in the mean where they are not. A
scheme asks its links what becomes of theirs (`keeps_error`, `forgets_error`) and its quantizers what theirs
are like (`unbiased`, `errors_grow`), so that one from outside the package is held to the same rules.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lossyfl.compressors import Compressor
from lossyfl.errors import Caution, InputError, one_of
from lossyfl.links import Downlink, Link
from lossyfl.protocol.optimizers import Optimizer
from lossyfl.types import Quantizer, Shape
from lossyfl.wire.shapes import entries_of

ServerModel = Literal["estimate", "preserved"]
MembershipRule = Literal["catch-up", "full-model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A pair of links, and what the server does between them.

    first:      makes the frame of the initial model, from which the server starts, too; exact floats if None
    guarded:    whether what is known to diverge is refused; the paper's systems run, with a Caution
    membership: what happens when other devices listen than in the round before: those that missed
                something catch up, or all get the full model, as the paper says
    spec:       what `scheme` was given, the same for all spellings; empty for one put together by hand
    """

    name: str
    downlink: Downlink[Any]
    uplink: Link[Any]
    server_model: ServerModel
    optimizer: Optimizer
    first: Compressor | None = None
    guarded: bool = True
    membership: MembershipRule = "catch-up"
    spec: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.server_model not in get_args(ServerModel):
            allowed = '"estimate" or "preserved"'
            raise InputError("server_model", of=self.name, allowed=allowed, got=self.server_model)
        if self.membership not in get_args(MembershipRule):
            allowed = one_of(get_args(MembershipRule), self.membership)
            raise InputError("membership", of=self.name, allowed=allowed, got=self.membership)
        self._check_uplink()
        self._check_biased()
        self._check_selected()
        if self.guarded:
            self._check_kept()

    def _check_uplink(self) -> None:
        """Raise if the server would have to remember something of every device to hear its replies."""
        if self.uplink.incremental:
            allowed = "one whose frames say all by themselves: a server keeps nothing per device"
            got = type(self.uplink).__name__
            raise InputError("uplink", of=self.name, allowed=allowed, got=got)

    def _check_biased(self) -> None:
        """Raise if what a biased quantizer leaves out is never sent: it must be kept somewhere."""
        link = self.downlink
        forgets = link.forgets_error or not (link.keeps_error or self.server_model == "preserved")
        if forgets and not all(quantizer.unbiased for quantizer in _quantizers(self.downlink)):
            allowed = "unbiased, or the server's model preserved: its residual would be lost"
            got = "biased, with server_model=estimate"
            raise InputError("downlink quantizer", of=self.name, allowed=allowed, got=got)

    def _check_selected(self) -> None:
        """Raise if the better of two frames is sent where their mean must be right."""
        if self.downlink.selects and self.server_model == "estimate":
            allowed = "false, or the server's model preserved"
            raise InputError("predict", of=self.name, allowed=allowed, got="true")

    def _check_kept(self, entries: int | None = None) -> None:
        """Raise where errors are kept that are known to grow."""
        for quantizer in self._growing(entries):
            allowed = "one whose kept errors do not grow: q >= 2, a shorter scale, or damping=true"
            raise InputError("quantizer", of=self.name, allowed=allowed, got=quantizer)

    def _growing(self, entries: int | None) -> list[Quantizer]:
        """The quantizers whose errors are kept, and are known to grow."""
        return [
            each
            for link in (self.downlink, self.uplink)
            if self._keeps(link) and link.compressor is not None and not link.compressor.damped
            for each in link.compressor.quantizers
            if _errors_grow(each, entries)
        ]

    def _keeps(self, link: Link[Any]) -> bool:
        """Whether a link's errors come again: it keeps them, or the server's own model does."""
        return link.keeps_error or (not link.forgets_error and self.server_model == "preserved")

    def cautions(self, entries: int) -> tuple[str, ...]:
        """What will become of a scheme that runs as the paper says, where that is known to be nothing good.

        >>> from lossyfl import scheme
        >>> scheme("lfl").cautions(1000)
        ()
        """
        link, said = self.downlink, list[str]()
        if not self.guarded and (growing := self._growing(entries)):
            said.append(
                f"{self.name} keeps errors of {growing[0]} that grow from round to round: training will "
                "diverge; q >= 2, a shorter scale or damping=true keep them small"
            )
        compensates = link.incremental and link.keeps_error
        if compensates and self.server_model == "preserved":
            said.append(
                f"{self.name} compensates the broadcast's error on top of a preserved server model, which "
                "has it already: it counts twice, and training will not get far (Remark 1 of the paper)"
            )
        return tuple(said)

    def check_state(self, spec: str, *, of: str) -> None:
        """Raise if a state is another scheme's; those of older versions do not say whose they are."""
        if spec and self.spec and spec != self.spec:
            raise InputError("state", of=of, allowed=f"of the scheme {self.spec}", got=f"of {spec}")

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        """Raise if models of tensors of these shapes cannot be sent as they are to be.

        rounds: how many there will be, if that is known
        """
        entries = entries_of(tensors)
        if self.guarded:
            self._check_kept(entries)
        for caution in self.cautions(entries):
            warnings.warn(caution, Caution, stacklevel=2)
        for compressor in (self.downlink.compressor, self.uplink.compressor):
            if compressor is not None:
                compressor.check(tensors, rounds)
        if self.first is not None:
            self.first.check(tensors)


def _errors_grow(quantizer: Quantizer, entries: int | None) -> bool:
    """Whether errors that are kept do in a model of so many entries, if that is known."""
    scale = quantizer.scale
    if scale == "tensor" or not quantizer.errors_grow:
        return False
    return scale == "model" or (entries is not None and scale >= entries)


def _quantizers(link: Link[Any]) -> tuple[Quantizer, ...]:
    return () if link.compressor is None else link.compressor.quantizers
