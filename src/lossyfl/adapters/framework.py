"""The framework that an adapter is for: the words that its users know, and its log.

Errors and logs say what to do, and what to do has other names in every framework. So the rest of this room
asks here for them.
"""

import traceback
from dataclasses import dataclass, field
from logging import WARNING, Logger, getLogger

from lossyfl.adapters.logs import LONGEST_LINE, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """What a framework's users call its things.

    name:       of the framework, as results directories have it
    messages:   what carries our records
    command:    what people type to start a training
    settings:   the object that has the server's settings
    device:     what a device is called
    own_number: what to do if two devices say the same number
    own_folder: what says where a device keeps its state
    quota:      what says how much it keeps
    allow:      how to let servers name a class, {0}, that is not lossyfl's
    room:       what shows how much lies there
    logger:     where log messages go
    """

    name: str
    messages: str = "messages"
    command: str = "python"
    settings: str = "the server"
    device: str = "device"
    own_number: str = "its own number"
    own_folder: str = "by the settings of its device"
    quota: str = "its quota"
    allow: str = 'at the device, by allow=["{0}"]'
    room: str = "lossyfl flower clean shows what lies there"
    logger: Logger = field(default_factory=lambda: getLogger("lossyfl"))

    def log(self, level: int, message: str, *facts: object) -> None:
        """Log a message of ours; its facts may be anybody's, and are fit for a log then."""
        safe = (f if isinstance(f, int | float) else shown(f, LONGEST_LINE) for f in facts)
        self.logger.log(level, message, *safe)

    def log_traceback(self, error: BaseException) -> None:
        """Log where an error comes from: of a reply's, since it shows a check that is missing."""
        for entry in traceback.format_tb(error.__traceback__):
            for line in entry.rstrip().split("\n"):
                self.log(WARNING, "\t%s", line)


OWN = Framework(name="own")
"""One without words of its own."""
