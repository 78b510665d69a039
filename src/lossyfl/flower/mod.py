"""The device's side: a Flower mod around the app's train and evaluate functions.

    app = ClientApp(mods=[lossy_mod])

It goes first, before every other mod. A message from `LossyStrategy` becomes the model that the app
expects; the model that the app returns becomes a reply frame. The device's state is saved before the reply
leaves (`lossyfl.adapters.session`). Messages without a model pass untouched.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from logging import WARNING
from pathlib import Path

from flwr.app import Context, Error, Message, MessageType, RecordDict

from lossyfl.adapters.envelope import Down, Up, pack_up, unpack_down
from lossyfl.adapters.folders import QUOTA, default_root
from lossyfl.adapters.logs import LONGEST_LINE, shown
from lossyfl.adapters.peers import made_of
from lossyfl.adapters.records import Foreign
from lossyfl.adapters.session import DeviceSession, DeviceSettings, opened
from lossyfl.errors import InputError, LossyflError
from lossyfl.flower.framework import FLOWER, log
from lossyfl.flower.privacy import SECURE_AGGREGATION, is_secure_aggregation
from lossyfl.flower.records import take_records, to_configs, to_record
from lossyfl.registry import from_outside

REFUSED = 6
"""Flower's code for a mod that refuses a message."""
REPLY = "the app's reply"

App = Callable[[Message, Context], Message]


class LossyMod:
    """The mod, with settings.

    state_dir: where devices keep what they remember, unless the node's config says `lossyfl-dir`;
               `lossyfl flower clean FOLDER` removes it, also after a simulation
    threads:   for coding
    allow:     own quantizers and schemes, as "package.module:Name", that a server may name beside registered
               ones; the node's config may name more, `lossyfl-allow`, with spaces between them
    quota:     bytes that a device keeps of all its trainings, unless the node's config says `lossyfl-quota`;
               what was not used for longest makes room
    """

    def __init__(
        self,
        *,
        state_dir: Path | str | None = None,
        threads: int = 1,
        allow: Iterable[str] = (),
        quota: int = QUOTA,
    ) -> None:
        self._quota = quota
        self._allow = (allow,) if isinstance(allow, str) else tuple(allow)
        self._state_dir = None if state_dir is None else Path(state_dir)
        self._threads = threads

    def __call__(self, message: Message, context: Context, call_next: App) -> Message:
        """Give the app the model, and the server the update."""
        try:
            down = unpack_down(take_records(message.content)) if message.has_content() else None
            if down is None:
                return self._plain(message, context, call_next)
            with opened(down, device_number(context), self._settings(context)) as session:
                return _serve(session, down, message, context, call_next)
        except LossyflError as error:
            return _refused(message, shown(error, LONGEST_LINE))
        except KeyError as error:
            if not is_secure_aggregation(str(error)):
                raise
            return _refused(message, SECURE_AGGREGATION)

    def _plain(self, message: Message, context: Context, call_next: App) -> Message:
        """A message that is not ours: without a model it is the app's own business."""
        if message.has_content() and any(map(is_secure_aggregation, message.content)):
            raise Foreign(SECURE_AGGREGATION)
        if message.has_content() and message.content.array_records:
            raise Foreign(
                "the server sends the model as it is: wrap its strategy, "
                "LossyStrategy(...), or take lossy_mod out of this app"
            )
        return call_next(message, context)

    def _settings(self, context: Context) -> DeviceSettings:
        """How this node's device works: as its config says, or the mod."""
        own = context.node_config.get("lossyfl-dir")
        return DeviceSettings(
            root=Path(str(own)) if own is not None else self._state_dir or default_root(),
            quota=_quota(context, self._quota),
            threads=self._threads,
            allow=_allowed(context, self._allow),
            framework=FLOWER,
        )


lossy_mod = LossyMod()
"""The mod as it suits most."""


def named_by_server(context: Context, allow: Iterable[str] = ()) -> AbstractContextManager[None]:
    """Build what a message names: it is a server's, so it imports only what is allowed at this node."""
    return from_outside(_allowed(context, allow), FLOWER.allow)


def _allowed(context: Context, allow: Iterable[str]) -> tuple[str, ...]:
    return (*allow, *str(context.node_config.get("lossyfl-allow", "")).split())


def device_number(context: Context) -> int:
    """The number of this node's device: its partition-id, else one made of its node id."""
    number = context.node_config.get("partition-id")
    if number is None:
        return made_of(context.node_id)
    if type(number) is not int or not 0 <= number < 1 << 62:
        raise InputError("partition-id", of="a node", allowed="an int in [0, 2^62)", got=number)
    return number


def _quota(context: Context, default: int) -> int:
    """How many bytes this node keeps."""
    quota = context.node_config.get("lossyfl-quota", default)
    if type(quota) is not int or quota < 0:
        raise InputError("lossyfl-quota", of="a node", allowed="a number of bytes", got=quota)
    return quota


def _serve(
    session: DeviceSession, down: Down, message: Message, context: Context, call_next: App
) -> Message:
    """Move the estimate, let the app work, and answer."""
    try:
        model = session.receive()
    except LossyflError as error:
        up = session.out_of_step(error)
        return Message(RecordDict({**to_configs(pack_up(up))}), reply_to=message)
    message.content[down.key] = to_record(model)
    with session.training():
        reply = call_next(message, context)
    if reply.has_error():
        session.save()
        return reply
    trains = message.metadata.message_type.startswith(MessageType.TRAIN)
    up = _trained(session, reply.content) if trains else session.seen()
    reply.content.update(to_configs(pack_up(session.finish(up))))
    return reply


def _trained(session: DeviceSession, content: RecordDict) -> Up:
    """What goes to the server; the trained model is taken out of the app's reply."""
    if len(content.array_records) != 1:
        got = len(content.array_records)
        raise InputError("ArrayRecords", of=REPLY, allowed="one, the model", got=got)
    ((key, trained),) = content.array_records.items()
    up = session.reply(trained, of=REPLY)
    del content[key]
    return up


def _refused(message: Message, reason: str) -> Message:
    log(WARNING, "lossyfl: %s", reason)
    return Message(Error(code=REFUSED, reason=f"lossyfl: {reason}"), reply_to=message)
