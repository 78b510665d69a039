"""Flower's records <-> ours: models, fields, and what both of them weigh."""

from collections.abc import Mapping
from typing import cast

from flwr.app import Array as FlowerArray
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict

from lossyfl.adapters.arrays import Array, Serialized
from lossyfl.adapters.fields import Fields
from lossyfl.adapters.records import RECORD, Records, piece_name


def to_record(model: Mapping[str, Serialized]) -> ArrayRecord:
    """A model as Flower carries it; arrays share their bytes with it."""
    return ArrayRecord(
        {
            name: FlowerArray(
                dtype=own.dtype, shape=tuple(own.shape), stype=own.stype, data=own.data
            )
            for name, own in model.items()
        }
    )


def from_record(record: ArrayRecord) -> dict[str, Array]:
    """A model of Flower's."""
    return {name: Array.like(own) for name, own in record.items()}


def to_configs(records: Records) -> dict[str, ConfigRecord]:
    """Records of ours as Flower carries them."""
    return {name: ConfigRecord({**own}) for name, own in records.items()}


def take_records(content: RecordDict) -> dict[str, Fields]:
    """Take our records out of a message; empty if there are none, and no fields where one is of arrays."""
    names = [RECORD] if RECORD in content else []
    while names and (name := piece_name(len(names) - 1)) in content:
        names.append(name)
    found = {name: content.pop(name) for name in names}
    return {
        name: cast("Fields", own) if isinstance(own, ConfigRecord) else {}
        for name, own in found.items()
    }


def size_of(message: Message) -> int:
    """The bytes of a message's records, as Flower counts them."""
    return sum(_size(record) for record in message.content.values())


def _size(record: ArrayRecord | MetricRecord | ConfigRecord) -> int:
    """The bytes of a record; Flower cannot count one with an empty value."""
    try:
        return record.count_bytes()
    except (ValueError, IndexError, TypeError):
        return sum(len(str(value)) for value in record.values())
