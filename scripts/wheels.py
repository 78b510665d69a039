"""Wheels for the usual platforms, from one machine.

    pip install ".[wheels]" && python -m scripts.wheels                     into dist/
    python -m scripts.wheels --only linux_aarch64

One wheel without the library is built first, as for a machine without a compiler. For each platform ziglang
compiles the kernels by CMakeLists.txt, and the library goes into a copy of that wheel. Neither knows of a
Python version.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A platform's tag, ziglang's name for it, and CMake's for its system and processor."""

    tag: str
    target: str
    system: str
    processor: str


def _linux(processor: str, zig: str) -> tuple[Platform, ...]:
    """With glibc from 2.17 on, and with musl."""
    return (
        Platform(
            tag=f"manylinux_2_17_{processor}.manylinux2014_{processor}",
            target=f"{zig}-linux-gnu.2.17",
            system="Linux",
            processor=processor,
        ),
        Platform(
            tag=f"musllinux_1_1_{processor}",
            target=f"{zig}-linux-musl",
            system="Linux",
            processor=processor,
        ),
    )


PLATFORMS = (
    *_linux("x86_64", "x86_64"),
    *_linux("aarch64", "aarch64"),
    Platform(
        tag="manylinux_2_31_armv7l",
        target="arm-linux-gnueabihf.2.31",
        system="Linux",
        processor="armv7l",
    ),
    Platform(
        tag="manylinux_2_31_riscv64",
        target="riscv64-linux-gnu.2.31",
        system="Linux",
        processor="riscv64",
    ),
    Platform(
        tag="manylinux_2_17_s390x.manylinux2014_s390x",
        target="s390x-linux-gnu.2.17",
        system="Linux",
        processor="s390x",
    ),
    Platform(
        tag="macosx_11_0_x86_64", target="x86_64-macos.11.0", system="Darwin", processor="x86_64"
    ),
    Platform(
        tag="macosx_11_0_arm64", target="aarch64-macos.11.0", system="Darwin", processor="arm64"
    ),
    Platform(tag="win_amd64", target="x86_64-windows-gnu", system="Windows", processor="AMD64"),
)


def run(*command: str) -> None:
    """A command that must succeed; what it says is shown only if it does not."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def library(platform: Platform, folder: Path) -> Path:
    """The kernels, compiled for the platform."""
    zig = f"{sys.executable};-m;ziglang;cc;-target;{platform.target}"
    settings = (
        f"-DCMAKE_C_COMPILER={zig}",
        f"-DCMAKE_SYSTEM_NAME={platform.system}",
        f"-DCMAKE_SYSTEM_PROCESSOR={platform.processor}",
        "-DCMAKE_BUILD_TYPE=Release",
    )
    run("cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(folder / "build"), *settings)
    run("cmake", "--build", str(folder / "build"))
    (found,) = (
        p for p in (folder / "build").glob("_kernels.*") if p.suffix in (".so", ".dylib", ".dll")
    )
    return found


def wheel(platform: Platform, pure: Path, folder: Path, out: Path) -> Path:
    """The platform's wheel."""
    run(sys.executable, "-m", "wheel", "unpack", str(pure), "--dest", str(folder))
    (tree,) = folder.glob("lossyfl-*")
    shutil.copy(library(platform, folder), tree / "lossyfl" / "kernels")
    facts = next(tree.glob("*.dist-info")) / "WHEEL"
    facts.write_text(facts.read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false"))
    packed = folder / "packed"
    packed.mkdir()
    run(sys.executable, "-m", "wheel", "pack", str(tree), "--dest-dir", str(packed))
    (plain,) = packed.glob("*.whl")
    run(
        sys.executable,
        "-m",
        "wheel",
        "tags",
        "--remove",
        "--platform-tag",
        platform.tag,
        str(plain),
    )
    (named,) = packed.glob("*.whl")
    return Path(shutil.copy(named, out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", help="platforms whose tag has this in it")
    chosen = parser.parse_args()
    chosen.out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", str(ROOT))
        run(*pip, "--wheel-dir", name, "--config-settings", "wheel.cmake=false")
        (pure,) = Path(name).glob("*.whl")
        for platform in PLATFORMS:
            if chosen.only and chosen.only not in platform.tag:
                continue
            folder = Path(name) / platform.tag
            folder.mkdir()
            made = wheel(platform, pure, folder, chosen.out)
            print(f"{made.stat().st_size / 1e3:6.0f} kB  {made.name}", flush=True)


if __name__ == "__main__":
    main()
