"""The native library, and the one way in which a kernel is called.

A kernel is written twice: in C, `rans.c`, and in NumPy, `rans.py`, the reference. `@native` puts the library's
in the reference's place:

    @native("u8[] i u64[] i u16[]! i64[]! -> i")
    def push_segments(letters, share, rows, bits, words, first): ...

One word per argument: `u8[]` is an array of uint8, handed on as a pointer and a number of elements, `u8[]!` one
that is written, `s[]` one of uint8 or uint16 (the kernel's name ends in `_u8` or `_u16` then), and i, u, f, d are
int64, uint64, float32 and float64. Arrays are contiguous and of just this type, or the call is refused.

Where there is no library, or one that is not of these sources, the references work: the same bytes, slower.
"""

import ctypes
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lossyfl.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])

ABI = 1
"""LFL_ABI in about.c: how kernels are called."""

_SCALARS: dict[str, Any] = {
    "i": ctypes.c_int64,
    "u": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}
_ARRAYS = {
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "i64": np.int64, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


class Library:
    """The shared library, with the kernels for this processor; `level` is empty for those that run on any."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.lfl_abi.restype = ctypes.c_int64
        self._library.lfl_level.restype = ctypes.c_char_p
        self.abi: int = self._library.lfl_abi()
        self.level: str = self._library.lfl_level().decode()

    def function(self, name: str, arguments: list[Any], result: object) -> Callable[..., Any]:
        """A kernel, for this processor."""
        found = getattr(self._library, f"lfl_{name}{self.level}")
        found.argtypes, found.restype = arguments, result
        return found


def _load() -> Library | None:
    """The library beside this file, if there is one and it is of these sources."""
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    import lossyfl.kernels

    for folder in lossyfl.kernels.__path__:
        path = Path(folder) / f"_kernels{suffix}"
        if not path.exists():
            continue
        try:
            library = Library(path)
        except (OSError, AttributeError) as error:
            _warn(f"{path} cannot be loaded ({error})")
            return None
        if library.abi != ABI:
            _warn(f"{path} is of another version (ABI {library.abi} instead of {ABI})")
            return None
        return library
    _warn("this install has no native kernels")
    return None


def _warn(what: str) -> None:
    warnings.warn(
        f"{what}: lossyfl works and gives the same bytes, but slowly; "
        "install it again where pip finds a C compiler or a wheel (docs/install.md)",
        RuntimeWarning,
        stacklevel=2,
    )


LIBRARY = _load()


def native(signature: str) -> Callable[[F], F]:
    """The library's kernel instead of a reference of the same name, which stays as `.reference`."""
    words, _, result = signature.partition(" -> ")

    def chosen(reference: F) -> F:
        kernel: Any = reference if LIBRARY is None else _bound(reference, words.split(), result)
        kernel.reference = reference
        return kernel

    return chosen


def _bound(reference: Callable[..., Any], words: list[str], result: str) -> Callable[..., Any]:
    """A function that hands its arguments to the library."""
    name = reference.__name__
    types: list[Any] = []
    for word in words:
        types += [_SCALARS[word]] if word in _SCALARS else [ctypes.c_void_p, ctypes.c_int64]
    restype = _SCALARS[result] if result else None
    assert LIBRARY is not None
    kinds = ("_u8", "_u16") if any(word.startswith("s[]") for word in words) else ("",)
    kernels = {kind: LIBRARY.function(name + kind, types, restype) for kind in kinds}
    takes = [_taker(word, name) for word in words]
    at = next((i for i, word in enumerate(words) if word.startswith("s[]")), None)

    def call(*arguments: Any) -> Any:  # noqa: ANN401
        raw: list[Any] = []
        for take, argument in zip(takes, arguments, strict=True):
            take(argument, raw)
        kind = "" if at is None else _KINDS[arguments[at].dtype.char]
        return kernels[kind](*raw)

    return call


_KINDS = {"B": "_u8", "H": "_u16"}


def _taker(word: str, name: str) -> Callable[[Any, list[Any]], None]:
    """What appends one argument as the library takes it."""
    if word in _SCALARS:
        number = float if word in "fd" else int
        return lambda argument, raw: raw.append(number(argument))
    kind, _, written = word.partition("[]")
    chars = "BH" if kind == "s" else np.dtype(_ARRAYS[kind]).char

    def take(array: Any, raw: list[Any]) -> None:  # noqa: ANN401
        flags = array.flags
        if array.dtype.char not in chars or not flags.c_contiguous or (written and not flags.writeable):
            allowed = f"a contiguous array of {kind}" + (" that can be written" if written else "")
            raise InputError("argument", of=name, allowed=allowed, got=array.dtype)
        raw.append(array.ctypes.data)
        raw.append(array.size)

    return take
