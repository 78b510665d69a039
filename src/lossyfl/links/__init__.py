"""Links: what is sent in one direction, given what the receiver already holds."""

from lossyfl.links.base import AbstractDownlink, Downlink, Incremental, Link, Sent
from lossyfl.links.compensated import Compensated
from lossyfl.links.direct import Direct
from lossyfl.links.error_feedback import ErrorFeedback
from lossyfl.links.gridded import Gridded
from lossyfl.links.lossless import Lossless
from lossyfl.links.predicted import Predicted
from lossyfl.links.tracked import Tracked
from lossyfl.links.whole_model import WholeModel

__all__ = [
    "AbstractDownlink",
    "Compensated",
    "Direct",
    "Downlink",
    "ErrorFeedback",
    "Gridded",
    "Incremental",
    "Link",
    "Lossless",
    "Predicted",
    "Sent",
    "Tracked",
    "WholeModel",
]
