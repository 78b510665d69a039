"""scikit-build-core, and a compiler from the package registry where the machine has none."""

import importlib.util
import os
import shutil
import subprocess
import sys
from typing import Any

from scikit_build_core import build as backend
from scikit_build_core.build import *  # noqa: F403 - a build backend is what it exports

Config = dict[str, Any] | None


def _has_compiler() -> bool:
    return bool(os.environ.get("CC")) or any(map(shutil.which, ("cc", "gcc", "clang", "cl")))


def _is_obtainable(package: str) -> bool:
    """Whether the registry has it for this machine; yes where there is no pip to ask, as under uv."""
    ask = [sys.executable, "-I", "-m", "pip", "index", "versions", package]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    return "No matching distribution" not in done.stderr


def _compiler(config_settings: Config) -> list[str]:
    """What to compile with, from the registry; nothing where kernels cannot be had or are not wanted."""
    wanted = str((config_settings or {}).get("wheel.cmake", True)).lower() != "false"
    needed = wanted and not _has_compiler() and _is_obtainable("ziglang")
    return ["ziglang>=0.13"] if needed else []


def _use_ziglang() -> None:
    if not _has_compiler() and importlib.util.find_spec("ziglang"):
        os.environ["CC"] = f"{sys.executable} -m ziglang cc"


def get_requires_for_build_wheel(config_settings: Config = None) -> list[str]:
    """What scikit-build-core needs, and ziglang where there is no compiler."""
    return [*backend.get_requires_for_build_wheel(config_settings), *_compiler(config_settings)]


def get_requires_for_build_editable(config_settings: Config = None) -> list[str]:
    """The same for an editable install."""
    return [*backend.get_requires_for_build_editable(config_settings), *_compiler(config_settings)]


def build_wheel(
    wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None
) -> str:
    """A wheel with the native kernels."""
    _use_ziglang()
    return backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None
) -> str:
    """An editable install with the native kernels."""
    _use_ziglang()
    return backend.build_editable(wheel_directory, config_settings, metadata_directory)
