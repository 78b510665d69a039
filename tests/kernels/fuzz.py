"""Kernels under AddressSanitizer and UndefinedBehaviorSanitizer, with arguments nobody checked.

    python -m tests.kernels.fuzz --runs 100000000        by clang's libFuzzer, from recorded calls on
    python -m tests.kernels.fuzz --compiler gcc          recorded calls with some bytes changed

Every kernel is an entry point. It may refuse its arguments, it may make nonsense of them; it must not touch a
byte that it was not given, nor do what C leaves undefined. So whatever a frame with repaired checksums takes
through Python's checks, a kernel is safe with it. Inputs that reached something new are kept in
`build/fuzz/kernels`, and the next run goes on from there; what made one fail is in `build/fuzz/findings`.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.kernels.inputs import LONGEST, calls, encoded, item, spread
from tests.kernels.platforms.replay import KERNELS, TYPES

HARNESS = Path(__file__).with_name("attack.c")
POOL = '#define lfl_share library_share\n#include "parallel.c"\n#include "about.c"\n'
LOADER = ("abi", "level", "help", "awake", "forget")
"""What the library has besides kernels; the harness calls them together, as one more entry point."""
FLAGS = ("-std=c11", "-g", "-O2", "-ffp-contract=off", "-fno-math-errno", "-Wno-unused-function",
         f"-I{KERNELS}", "-fno-sanitize-recover=all", "-lm")  # fmt: skip
SANITIZERS = "address,undefined"
GUIDED_BY_EDGES = ("-fno-sanitize-coverage=trace-cmp",)
"""Watching every comparison, too, takes half of the time: recorded calls have the right sizes already."""
SELDOM_SLOW = ("-entropic_scale_per_exec_time=1", "-entropic_number_of_rarest_features=20")
"""Inputs that take long get few of the executions: else a search for levels would get most of the time."""
SEEDS = 150
"""Recorded calls of every kernel to begin with."""
INTERRUPTED = 128 + signal.SIGINT
REPEATS = {
    ("search_steps", 9): "{0} > 2 ? 2 : {0}",
    ("step_for_bits", 5): "{0} > 2 ? 2 : {0}",
    ("search_by_class", 8): "{0} > 2 ? 2 : {0}",
    ("choose_levels", 6): "{0} > 2 && {0} < 17 ? 1 + {0} % 2 : {0}",
}
"""Arguments that say how often to do something, and nothing of memory: more than a few only take time."""
ALL_GOOD_IS_MINUS_1 = ("pop_segments", "pop_classes", "pop_wide")
"""Kernels that name the first bad segment, and refuse with -2."""
SLOTS = 256
"""Kernels that a tally has room for."""
PLAIN_EVERY = 30
"""Seconds from one line to the next where there is no terminal."""


def _case(number: int, name: str, signature: str) -> str:
    inputs, _, result = signature.partition(" -> ")
    lines: list[str] = []
    given: list[str] = []
    for i, word in enumerate(inputs.split()):
        if "[]" in word:
            anywhere = int(not word.startswith("b"))
            lines.append(f"Array a{i} = read_array({item(name, word)}, {anywhere});")
            given += [f"a{i}.at", f"a{i}.length"]
            continue
        of = TYPES[word]
        lines.append(f"{of} a{i} = ({of})read_{'d' if word in 'fd' else 'u'}();")
        given.append(REPEATS.get((name, i), "{}").format(f"a{i}"))
    call = f"{TYPES[result]} r = CALL({name})({', '.join(given)});"
    least = -1 if name in ALL_GOOD_IS_MINUS_1 else 0
    tally = f"tally->calls[{number}]++, tally->accepted[{number}] += r >= {least};"
    return f"case {number}: {{ {' '.join(lines)} {call} {tally} break; }}"


def is_guided(compiler: str) -> bool:
    """Whether the compiler has libFuzzer."""
    return Path(compiler).name.startswith("clang")


def build(signatures: dict[str, str], folder: Path, compiler: str) -> Path:
    """The program that attacks all kernels."""
    cases = "\n".join(_case(n, name, s) for n, (name, s) in enumerate(signatures.items()))
    source = HARNESS.read_text().replace("/* CASES */", cases)
    (folder / "attack.c").write_text(source.replace("KERNELS", str(len(signatures))))
    (folder / "pool.c").write_text(POOL)
    how = [f"-fsanitize={SANITIZERS}"]
    if is_guided(compiler):
        how = [f"-fsanitize=fuzzer,{SANITIZERS}", *GUIDED_BY_EDGES, "-DLIBFUZZER"]
    sources = [str(folder / "attack.c"), str(folder / "pool.c")]
    binary = folder / "fuzzer"
    subprocess.run([compiler, *how, *sources, *FLAGS, "-o", str(binary)], check=True)
    return binary


def seeds(recorded: Path, signatures: dict[str, str]) -> list[bytes]:
    """Recorded calls of every kernel as inputs."""
    names = list(signatures)
    of: dict[str, list[bytes]] = {name: [] for name in names}
    for name, call in calls(recorded, signatures):
        words = signatures[name].partition(" -> ")[0].split()
        of[name].append(encoded(names.index(name), name, words, call))
    return [each for name in names for each in spread(of[name], SEEDS)]


class Tally:
    """How often each entry point was called, and how often it did not refuse, as the program counts it."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(16 * SLOTS))
        self.path, self.begun = path, time.monotonic()

    def read(self) -> NDArray[np.uint64]:
        """Two rows, calls and those not refused, by the number of the kernel."""
        return np.fromfile(self.path, np.uint64).reshape(2, SLOTS)

    def line(self, runs: int) -> str:
        """How far it is."""
        done, seconds = int(self.read()[0].sum()), time.monotonic() - self.begun
        left = (runs - done) * seconds / max(done, 1) / 60
        pace = f"{done / seconds:,.0f} a second, {left:.1f} min left"
        return f"{done:,} of {runs:,} executions, {pace}"

    def summary(self, names: Sequence[str]) -> str:
        """What was done."""
        made, accepted = self.read()[:, : len(names)]
        few = int(made.argmin())
        return (
            f"{made.sum():,} executions over {len(names)} entry points, "
            f"the fewest {made[few]:,} of {names[few]}; {accepted.sum() / max(made.sum(), 1):.0%} not refused"
        )


def follow(running: "subprocess.Popen[bytes]", tally: Tally, runs: int) -> int:
    """Show how far it is until it ends. Interrupted, the program ends, too, and what it did counts."""
    terminal, said = sys.stderr.isatty(), time.monotonic()
    begin, end, every = ("\r", "", 1) if terminal else ("", "\n", PLAIN_EVERY)
    try:
        while (code := running.poll()) is None:
            time.sleep(0.05)
            if time.monotonic() - said >= every:
                said = time.monotonic()
                print(begin + tally.line(runs), end=end, flush=True, file=sys.stderr)
    except KeyboardInterrupt:
        running.send_signal(signal.SIGINT)
        running.wait(60)
        code = INTERRUPTED
    if terminal:
        print(file=sys.stderr)
    return code


def attack(
    binary: Path, inputs: Sequence[bytes], *, runs: int, seed: int, folder: Path, guided: bool
) -> tuple[int, Tally]:
    """Run the program on inputs and what comes of them; its exit code, and what it did.

    guided: by libFuzzer; else the program changes inputs by itself, and runs all as they are if `runs` is 0
    """
    tally, log = Tally(binary.with_name("tally")), folder / "kernels.log"
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "LOSSYFL_TALLY": str(tally.path)}
    (folder / "findings").mkdir(parents=True, exist_ok=True)
    begun = binary.with_name("seeds")
    command = [binary, begun, str(runs), str(seed)]
    if guided:
        (folder / "kernels").mkdir(exist_ok=True)
        begun.mkdir()
        for number, data in enumerate(inputs):
            (begun / str(number)).write_bytes(data)
        options = {"runs": runs, "seed": seed, "max_len": LONGEST, "timeout": 600, "reload": 0}
        options |= {"interrupted_exitcode": INTERRUPTED, "artifact_prefix": f"{folder}/findings/"}
        command = [binary, folder / "kernels", begun, *SELDOM_SLOW]
        command += [f"-{name}={value}" for name, value in options.items()]
    else:
        begun.write_bytes(b"".join(len(data).to_bytes(2, "little") + data for data in inputs))
    with log.open("wb") as output:
        running = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        code = follow(running, tally, runs)
    said = log.read_text(errors="replace")
    if code not in (0, INTERRUPTED):
        print(said[-6000:])
    if reached := re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", said):
        print("{} edges, {} features, {} inputs kept".format(*reached[-1]))
    return code, tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vectors", type=int, default=300, help="whose calls are recorded")
    parser.add_argument("--compiler", default="clang" if shutil.which("clang") else "cc")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        recorded = Path(name) / "calls.bin"
        record = [sys.executable, "-m", "tests.kernels.platforms.record", str(recorded)]
        subprocess.run([*record, "--vectors", str(chosen.vectors), "--entries", "100"], check=True)
        signatures = json.loads(recorded.with_suffix(".json").read_text())
        inputs = seeds(recorded, signatures)
        print(f"{len(inputs):,} of them to begin with", flush=True)
        binary = build(signatures, Path(name), chosen.compiler)
        how = {"runs": chosen.runs, "seed": chosen.seed, "folder": chosen.folder}
        code, tally = attack(binary, inputs, guided=is_guided(chosen.compiler), **how)
        print(tally.summary([*signatures, "loader"]))
    return code


if __name__ == "__main__":
    sys.exit(main())
