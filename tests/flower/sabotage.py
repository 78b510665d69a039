"""Our app with faults: replies that are lost, devices that forget, replies that are hostile.

Who is asked is Flower's choice, so a fault comes with a probability only: of the some 200 replies in 50
rounds none is of another version with 0.775^40 = 4e-5, none damaged with 0.955^200 = 1e-4.
"""

import os
import random
import shutil
from pathlib import Path

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from benchmarks.flower_app import train
from lossyfl.flower import lossy_mod

LOST, FORGETS, DAMAGED = 0.1, 0.1, 0.05
FOREIGN = 0.25
"""In every fifth round."""


def saboteur(message: Message, context: Context, call_next) -> Message:  # noqa: ANN001
    number = int(context.node_config["partition-id"])
    count = int(message.content["config"]["server-round"])
    dice = random.Random(1000 * count + number)
    if dice.random() < FORGETS:
        for folder in Path(os.environ["LOSSYFL_STATE"]).glob(f"*/{number}"):
            shutil.rmtree(folder)
    reply = call_next(message, context)
    if dice.random() < LOST:
        raise ConnectionError("the reply is lost")
    if dice.random() < DAMAGED and reply.has_content():
        _poison(reply, dice)
    if count % 5 == 0 and dice.random() < FOREIGN and reply.has_content():
        reply.content["lossyfl"]["format"] = "9.9"
    return reply


def _poison(reply: Message, dice: random.Random) -> None:
    head = reply.content["lossyfl"]
    frame = bytearray(head.get("run", b""))
    if not frame:
        return
    kind = dice.choice(["garbage", "nan", "huge"])
    if kind == "garbage":
        frame = bytearray(dice.randbytes(len(frame)))
    elif kind == "nan":
        frame[-40:] = b"\xff" * 40
    else:
        frame[8:16] = (1 << 60).to_bytes(8, "little")
    head["run"] = bytes(frame)


client = ClientApp(mods=[saboteur, lossy_mod])
client.train()(train)
