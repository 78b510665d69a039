"""Links: what is sent in one direction, given what the receiver already holds."""

from lossyfl.links.base import Link, LinkState
from lossyfl.links.direct import Direct
from lossyfl.links.error_feedback import ErrorFeedback
from lossyfl.links.lossless import Lossless
from lossyfl.links.tracked import Tracked

__all__ = ["Direct", "ErrorFeedback", "Link", "LinkState", "Lossless", "Tracked"]
