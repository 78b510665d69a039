"""The folder of a Flower app, as `flwr run` takes it: that of `benchmarks.flower_app` under another name."""

from pathlib import Path

_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "lossyfl-demo"
version = "1.0.0"
description = "One of lossyfl's tasks over Flower"
license = "Apache-2.0"
dependencies = []

[tool.hatch.build.targets.wheel]
packages = ["lossyfl_demo"]

[tool.flwr.app]
publisher = "lossyfl"

[tool.flwr.app.components]
serverapp = "lossyfl_demo.server_app:app"
clientapp = "lossyfl_demo.client_app:app"

[tool.flwr.app.config]
task = "digits"
scheme = "lfl:q1=2,q2=2"
rounds = 3
devices = 3
tau = 4
batch = 16
optimizer = "sgd"
lr = "0.2"
partition = "iid"
seed = 0
participation = 1.0
timeout = 3600.0
out = ""
"""


def write_app(folder: Path, client: str) -> Path:
    """Write a Flower app that is ours under another name; its folder.

    client: the name of a ClientApp in `benchmarks.flower_app`
    """
    app = folder / client
    package = app / "lossyfl_demo"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    # Flower looks for an assignment.
    for name, own in (("server_app", "server_app"), ("client_app", client)):
        text = f"from benchmarks.flower_app import {own}\n\napp = {own}\n"
        (package / f"{name}.py").write_text(text)
    (app / "pyproject.toml").write_text(_PROJECT)
    return app
