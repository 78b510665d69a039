"""A federation of processes that exchange bytes of lossyfl only: who joins, sleeps, crashes, means harm.

python examples/own_adapter/run.py folder
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
REPLIES = "3 3 4 3 2 3 5 5"  # of those that are there, in each round
DEVICES = {
    0: "",
    1: "--away 3:6",  # sleeps for three rounds
    2: "--crash 4",  # its reply of round 4 never leaves
    4: "--away 0:6",  # joins late
    66: "--away 0:2 --hostile",
}


def start(script: str, *more: str, pipe: bool = False) -> "subprocess.Popen[str]":
    """A process of its own."""
    stdout = subprocess.PIPE if pipe else None
    return subprocess.Popen([sys.executable, HERE / script, *more], stdout=stdout, text=True)


def main(folder: Path) -> None:
    """Let all of them work; the one that crashes is started again, on what it has saved."""
    server = start("server.py", "--replies", *REPLIES.split(), "--out", f"{folder}/out", pipe=True)
    assert server.stdout is not None
    where = ("--port", server.stdout.readline().strip(), "--state", f"{folder}/state")
    devices = {n: start("device.py", str(n), *where, *how.split()) for n, how in DEVICES.items()}
    devices[2].wait()
    devices[2] = start("device.py", "2", *where)
    for line in server.stdout:
        print(line, end="")
    for process in (server, *devices.values()):
        process.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
