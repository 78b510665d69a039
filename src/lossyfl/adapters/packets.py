"""Records as one run of bytes, for a framework that carries nothing else: a socket, HTTP, a queue.

A packet is a safetensors file in memory: every field of bytes is a tensor of it, named by record and field,
which is null in the JSON of all fields, its
metadata. So a packet can be read in any language, and reading one runs
through the same checks as a file.
"""

import json
from typing import cast

from lossyfl.adapters.fields import Fields, Value
from lossyfl.adapters.logs import shown
from lossyfl.adapters.records import Foreign, Records
from lossyfl.errors import InputError
from lossyfl.files.reading import parse_json
from lossyfl.files.safetensors import File, Tensor, parse, pieces

FORMAT = "lossyfl-packet-1"


def to_packet(records: Records) -> bytes:
    """Records as bytes."""
    facts: dict[str, dict[str, Value | None]] = {}
    tensors: list[Tensor] = []
    for number, (record, fields) in enumerate(records.items()):
        facts[record] = {}
        for name, value in fields.items():
            if isinstance(value, bytes):
                place, facts[record][name] = f"{number}.{name}", None
                tensors.append(Tensor(name=place, dtype="U8", shape=(len(value),), data=value))
            else:
                facts[record][name] = value
    metadata = {"format": FORMAT, "records": json.dumps(facts)}
    return b"".join(pieces(File(tensors=tuple(tensors), metadata=metadata)))


def from_packet(data: bytes) -> dict[str, Fields]:
    """The records of a packet; raises Foreign for all other bytes."""
    try:
        file = parse(data, of="a message")
        if file.metadata.get("format") != FORMAT:
            allowed, got = FORMAT, shown(file.metadata.get("format"))
            raise InputError("format", of="a message", allowed=allowed, got=got)
        facts = parse_json(file.metadata.get("records", ""), of="a message")
    except InputError as error:
        raise Foreign(f"no message of lossyfl: {shown(error)}") from error
    tensors = {tensor.name: tensor for tensor in file.tensors}
    return {
        record: {
            name: _bytes(tensors.get(f"{number}.{name}")) if value is None else value
            for name, value in _items(fields)
        }
        for number, (record, fields) in enumerate(_items(facts))
    }


def _bytes(tensor: Tensor | None) -> bytes:
    if tensor is None or tensor.dtype != "U8":
        raise Foreign("no message of lossyfl: a field has no bytes")
    return bytes(tensor.data)


def _items(value: object) -> list[tuple[str, object]]:
    if not isinstance(value, dict):
        raise Foreign("no message of lossyfl: a record is no JSON object")
    return list(cast("dict[str, object]", value).items())
