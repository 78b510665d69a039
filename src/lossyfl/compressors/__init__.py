"""Compressors: which quantizer makes the frame of a round, and within how many bytes."""

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.compressors.budgeted import Budget
from lossyfl.compressors.damped import Damped
from lossyfl.compressors.guarded import VarianceGuard
from lossyfl.compressors.scheduled import Schedule
from lossyfl.compressors.snapped import Rounded, Snapped

__all__ = [
    "Budget",
    "Compressor",
    "Damped",
    "Rounded",
    "Schedule",
    "SendContext",
    "Snapped",
    "VarianceGuard",
]
