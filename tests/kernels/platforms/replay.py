"""Recorded kernel calls, made again on other processors by qemu.

    python -m tests.kernels.platforms.replay                    all platforms, calls of a thousand vectors
    python -m tests.kernels.platforms.replay --only riscv64

The C sources are compiled by ziglang for each platform, together with a program that reads the calls that
`record.py` wrote, makes them, and compares every result and every array to the bit. Nothing of Python runs
there; what Python does with bytes is the same everywhere but for the order of bytes, which numpy's types say.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

KERNELS = Path(__file__).parents[3] / "src" / "lossyfl" / "kernels"
FLAGS = (
    "-std=c11",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-static",
    f"-I{KERNELS}",
)
TYPES = {
    "i": "int64_t", "u": "uint64_t", "f": "float", "d": "double", "b": "void",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "i64": "int64_t", "f32": "float", "f64": "double",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A processor: ziglang's name for it, and the emulator; none for this machine."""

    name: str
    target: str
    emulator: str = ""
    flags: tuple[str, ...] = ()


PLATFORMS = (
    Platform(name="x86_64 with musl", target="x86_64-linux-musl"),
    Platform(name="aarch64", target="aarch64-linux-musl", emulator="qemu-aarch64-static"),
    Platform(name="armv7", target="arm-linux-musleabihf", emulator="qemu-arm-static"),
    Platform(name="riscv64", target="riscv64-linux-musl", emulator="qemu-riscv64-static"),
    # Not s390x: the emulator that Debian 12 has multiplies doubles wrongly there (3 x 5 = 160).
    Platform(name="ppc64, big-endian", target="powerpc64-linux-musl", emulator="qemu-ppc64-static"),
)


def program(signatures: dict[str, str]) -> str:
    """The C source that makes the calls."""
    cases = "\n".join(_case(n, name, s) for n, (name, s) in enumerate(signatures.items()))
    source = (Path(__file__).parent / "calls.c").read_text()
    return source.replace("/* CASES */", cases).replace("KERNELS", str(len(signatures)))


def _case(number: int, name: str, signature: str) -> str:
    """One kernel: read its arguments, call it, compare what it gave."""
    inputs, _, result = signature.partition(" -> ")
    lines: list[str] = []
    given: list[str] = []
    checks: list[str] = []
    for i, word in enumerate(inputs.split()):
        kind, array, written = word.partition("[]")
        kind = f"u{name.rpartition('_u')[2]}" if kind == "s" else kind
        if not array:
            read = "d" if kind in "fd" else "u"
            lines.append(f"{TYPES[kind]} a{i} = ({TYPES[kind]})read_{read}();")
            given.append(f"a{i}")
            continue
        size = "0" if kind == "b" else f"sizeof({TYPES[kind]})"
        lines.append(f"Array a{i} = read_array({size});")
        given += [f"a{i}.at", f"a{i}.bytes" if kind == "b" else f"a{i}.length"]
        if written:
            checks.append(f'ok &= same_array(a{i}, "{name}", {i});')
        checks.append(f"free(a{i}.at);")
    call = f"CALL({name})({', '.join(given)})"
    if result:
        kind, c = ("d", "double") if result in "fd" else ("u", "uint64_t")
        lines.append(f"{c} r = ({c}){call};")
        checks.insert(0, f'ok &= same_{kind}(r, "{name}");')
    else:
        lines.append(f"{call};")
    return f"case {number}: {{ {' '.join(lines + checks)} break; }}"


def replay(platform: Platform, source: Path, calls: Path, folder: Path) -> str:
    """What the program said there; raises if anything differed."""
    binary = folder / platform.target
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", platform.target]
    subprocess.run([*compiler, *FLAGS, *platform.flags, str(source), "-o", str(binary)], check=True)
    command = [*([platform.emulator] if platform.emulator else []), str(binary), str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{platform.name}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=1000)
    parser.add_argument("--only", help="a platform whose name begins so")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calls, source = folder / "calls.bin", folder / "program.c"
        record = [sys.executable, "-m", "tests.kernels.platforms.record", str(calls)]
        subprocess.run([*record, "--vectors", str(chosen.vectors)], check=True)
        source.write_text(program(json.loads(calls.with_suffix(".json").read_text())))
        for platform in PLATFORMS:
            if not platform.name.startswith(chosen.only or ""):
                continue
            if platform.emulator and not shutil.which(platform.emulator):
                print(
                    f"{platform.name:20} not run: {platform.emulator} is missing (qemu-user-static)"
                )
                continue
            print(f"{platform.name:20} {replay(platform, source, calls, folder)}", flush=True)


if __name__ == "__main__":
    main()
