"""The app of examples/flower-quickstart, as `flwr run` runs it."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.flower.parity import DEEP, ROOT

from lossyfl.results.records import read_rounds


@DEEP
def test_the_quickstart_runs_offline(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/flower-quickstart", tmp_path / "app")
    home = f"FLWR_HOME={tmp_path / 'home'}"
    environment = os.environ | {
        "FLWR_HOME": str(tmp_path / "home"),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "LOSSYFL_STATE": str(tmp_path / "state"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    config = f'rounds=3 results="{tmp_path / "results"}"'
    command = ["flwr", "run", ".", "local", "--stream", "-c", config]
    command += ["--federation-config", "num-supernodes=3"]
    try:
        subprocess.run(command, cwd=tmp_path / "app", env=environment, check=True)
    finally:  # Flower leaves a SuperLink behind
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if home.encode() in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGTERM)
    rounds = read_rounds(tmp_path / "results/rounds.jsonl")
    assert [each.replies for each in rounds] == [3, 3, 3]
    assert (rounds[-1].accuracy or 0) > 0.5
