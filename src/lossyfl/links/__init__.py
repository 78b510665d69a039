"""Links: what is sent in one direction, given what the receiver already holds."""

from lossyfl.compressors.budgeted import Budget, budgeted, budgeted_once
from lossyfl.compressors.damped import Damped, Watched
from lossyfl.compressors.policy import Policy
from lossyfl.compressors.scheduled import Schedule
from lossyfl.links.base import Link, LinkState, Message
from lossyfl.links.direct import Direct
from lossyfl.links.error_feedback import ErrorFeedback
from lossyfl.links.lossless import Lossless
from lossyfl.links.tracked import Tracked

__all__ = [
    "Budget",
    "Damped",
    "Direct",
    "ErrorFeedback",
    "Link",
    "LinkState",
    "Lossless",
    "Message",
    "Policy",
    "Schedule",
    "Tracked",
    "Watched",
    "budgeted",
    "budgeted_once",
]
