"""Flower's own words and its log, for `lossyfl.adapters`."""

from logging import getLogger

from lossyfl.adapters.framework import Framework

FLOWER = Framework(
    name="flower",
    messages="Flower's messages",
    # Flower starts the server's process itself, with secrets on its command line.
    command="flwr run",
    settings="LossyStrategy",
    device="node",
    own_number="its own partition-id",
    own_folder="lossyfl-dir of the node's config",
    quota="lossyfl-quota of the node's config, or LossyMod(quota=...)",
    allow='at the node, by LossyMod(allow=["{0}"]) or lossyfl-allow="{0}" in its config',
    room="lossyfl flower clean shows what lies there",
    logger=getLogger("flwr"),
)

log = FLOWER.log
