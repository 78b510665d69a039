"""Kernels under AddressSanitizer and UndefinedBehaviorSanitizer, with arguments nobody checked.

    python -m tests.kernels.fuzz --runs 100000000        by clang's libFuzzer, from recorded calls on
    python -m tests.kernels.fuzz --compiler gcc          recorded calls with some bytes changed

Every kernel is an entry point. It may refuse its arguments, it may make nonsense of them; it must not touch a
byte that it was not given, nor do what C leaves undefined. So whatever a frame with repaired checksums takes
through Python's checks, a kernel is safe with it.
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kernels.platforms.replay import KERNELS, program

FLAGS = ("-std=c11", "-g", "-O1", "-ffp-contract=off", "-fno-math-errno", "-Wno-unused-function",
         f"-I{KERNELS}", "-DFUZZED")  # fmt: skip
SANITIZERS = "address,undefined"
GUIDED_BY_EDGES = ("-fno-sanitize-coverage=trace-cmp",)
"""Watching every comparison, too, takes half of the time: recorded calls have the right sizes already."""
LONGEST_SEED = 1 << 14


def build(calls: Path, compiler: str) -> Path:
    """The program, which fuzzes all kernels that were recorded."""
    source, binary = calls.with_suffix(".c"), calls.with_name("fuzzer")
    source.write_text(program(json.loads(calls.with_suffix(".json").read_text())))
    libfuzzer = compiler.startswith("clang")
    how = (
        ["-fsanitize=fuzzer," + SANITIZERS, *GUIDED_BY_EDGES, "-DLIBFUZZER"]
        if libfuzzer
        else [f"-fsanitize={SANITIZERS}"]
    )
    command = [
        compiler,
        *FLAGS,
        *how,
        "-fno-sanitize-recover=all",
        str(source),
        "-o",
        str(binary),
        "-lm",
    ]
    subprocess.run(command, check=True)
    return binary


def seeds(calls: Path, folder: Path) -> int:
    """Recorded calls as inputs to begin with, a few hundred of every kernel."""
    data, at, many = calls.read_bytes(), 0, {}
    while at < len(data):
        number, size = struct.unpack_from("<II", data, at)
        many[number] = many.get(number, 0) + 1
        if size <= LONGEST_SEED and many[number] <= 300:
            (folder / f"{number}-{many[number]}").write_bytes(
                data[at : at + 4] + data[at + 8 : at + 8 + size]
            )
        at += 8 + size
    return sum(1 for _ in folder.iterdir())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000_000)
    parser.add_argument("--vectors", type=int, default=200, help="whose calls are recorded")
    parser.add_argument("--compiler", default="clang" if shutil.which("clang") else "cc")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz/kernels"))
    chosen = parser.parse_args()
    chosen.findings.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        calls = Path(name) / "calls.bin"
        record = [sys.executable, "-m", "tests.kernels.platforms.record", str(calls)]
        subprocess.run([*record, "--vectors", str(chosen.vectors)], check=True)
        binary = build(calls, chosen.compiler)
        quiet = os.environ | {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0"}
        if not chosen.compiler.startswith("clang"):
            return subprocess.run(
                [binary, calls, str(chosen.runs), "1"], check=False, env=quiet
            ).returncode
        corpus = Path(name) / "corpus"
        corpus.mkdir()
        print(f"{seeds(calls, corpus)} recorded calls to begin with", flush=True)
        options = [f"-runs={chosen.runs}", f"-artifact_prefix={chosen.findings}/", "-max_len=16384"]
        options += ["-print_final_stats=1", "-verbosity=0", "-rss_limit_mb=4096", "-entropic=0"]
        running = [
            subprocess.Popen([binary, *options, f"-seed={seed + 1}", corpus], env=quiet)
            for seed in range(chosen.jobs)
        ]
        return max([process.wait() for process in running])


if __name__ == "__main__":
    sys.exit(main())
