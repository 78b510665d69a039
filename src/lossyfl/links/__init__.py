"""Links: what is sent in one direction, given what the receiver already holds."""

from lossyfl.links.base import Link, LinkState, Message
from lossyfl.links.budget import Budget, budgeted, budgeted_once
from lossyfl.links.damped import Damped, Watched
from lossyfl.links.direct import Direct
from lossyfl.links.error_feedback import ErrorFeedback
from lossyfl.links.lossless import Lossless
from lossyfl.links.policy import Policy
from lossyfl.links.schedule import Schedule
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
