"""The native library, and the one way in which a kernel is called.

A kernel is written twice: in C, `rans.c`, and in NumPy, `rans.py`, the reference. `@native` puts the
library's in the reference's place:

    @native("u8[] i u64[] i u16[]! i64[]! -> i")
    def push_segments(letters, share, rows, bits, words, first): ...

One word per argument: `u8[]` is an array of uint8, handed on as a pointer and a number of elements,
`u8[]!` one that is written, `s[]` one of uint8 or uint16 (the kernel's name ends in `_u8` or `_u16` then),
`b[]` one of any type, as bytes, and i, u, f, d are int64, uint64, float32 and float64. Arrays are
contiguous, aligned and of just this type, or the call is refused.

Where there is no library, or one that is not of these sources, the references work: the same bytes, slower.
"""

import ctypes
import operator
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])

ABI = 6
"""LFL_ABI in about.c: how kernels are called."""

_SCALARS: dict[str, Any] = {
    "i": ctypes.c_int64,
    "u": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}
_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "i": operator.index, "u": operator.index, "f": float, "d": float,
}  # fmt: skip
_U8, _U16 = np.dtype(np.uint8), np.dtype(np.uint16)
_ARRAYS: dict[str, tuple[np.dtype[Any], ...]] = {
    "u8": (_U8,),
    "u16": (_U16,),
    "u32": (np.dtype(np.uint32),),
    "u64": (np.dtype(np.uint64),),
    "i64": (np.dtype(np.int64),),
    "f32": (np.dtype(np.float32),),
    "f64": (np.dtype(np.float64),),
    "s": (_U8, _U16),
    "b": (),
}


class Library:
    """The shared library; `level` is the suffix of the kernels for this processor, empty for those of any."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.lfl_abi.restype = ctypes.c_int64
        self._library.lfl_level.restype = ctypes.c_char_p
        self.abi: int = self._library.lfl_abi()
        self.level: str = self._library.lfl_level().decode()

    def function(self, name: str, arguments: list[Any], result: Any) -> Callable[..., Any]:  # noqa: ANN401
        """A function of the library, which lets other threads run."""
        found = self._library[name]  # a new object each time, so that signatures do not meet
        found.argtypes, found.restype = arguments, result
        return found


def _load() -> Library | None:
    """The library beside this file, if there is one and it is of these sources."""
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    import lossyfl.kernels

    for folder in lossyfl.kernels.__path__:
        path = f"{folder}{os.sep}_kernels{suffix}"
        if not os.path.exists(path):  # noqa: PTH110 - importing pathlib takes longer than loading
            continue
        try:
            if _is_cut(path):
                raise OSError("its end is missing")
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


def _is_cut(path: str) -> bool:
    """Whether an ELF file lacks its end, its table of sections: loaders do not see that, and crash."""
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        head, size = file.read(64), file.seek(0, os.SEEK_END)
    if head[:4] != b"\x7fELF":
        return False
    order = "little" if head[5] == 1 else "big"
    table, entry = (slice(40, 48), 58) if head[4] == 2 else (slice(32, 36), 46)
    each, count = (int.from_bytes(head[at : at + 2], order) for at in (entry, entry + 2))
    return int.from_bytes(head[table], order) + each * count > size


def _warn(what: str) -> None:
    warnings.warn(
        f"{what}: lossyfl works and gives the same bytes, but slowly; "
        "install it again where pip finds a C compiler or a wheel (docs/index.md#native-kernels)",
        RuntimeWarning,
        stacklevel=2,
    )


LIBRARY = _load()


LEVELS = ("", "_v3", "_v4")
"""Suffixes of kernels, those for any processor first; each runs what those before it do."""


def native(signature: str) -> Callable[[F], F]:
    """The library's kernel instead of a reference of the same name.

    `reference` and `natives` give the one and the other.
    """
    words, _, result = signature.partition(" -> ")

    def chosen(reference: F) -> F:
        reference = np.errstate(all="ignore")(
            reference
        )  # C says nothing of overflow either; callers check
        kernel: Any = reference
        if LIBRARY is not None:
            try:
                kernel = _bound(reference.__name__, words.split(), result, LIBRARY.level)
            except AttributeError:
                _warn("the native kernels are not all there")
        kernel.reference = reference
        kernel.natives = partial(_natives, reference.__name__, words.split(), result)
        return kernel

    return chosen


def reference(kernel: F) -> F:
    """The reference of a kernel."""
    return vars(kernel)["reference"]


def natives(kernel: F) -> list[F]:
    """All native versions of a kernel that this processor can run; none where there is no library."""
    return vars(kernel)["natives"]()


def _natives(name: str, words: list[str], result: str) -> list[Callable[..., Any]]:
    levels = [] if LIBRARY is None else [each for each in LEVELS if each <= LIBRARY.level]
    return [_bound(name, words, result, level) for level in levels]


def _bound(name: str, words: list[str], result: str, level: str) -> Callable[..., Any]:
    """A function that hands its arguments to the library."""
    assert LIBRARY is not None
    types: list[Any] = []
    for word in words:
        types += [_SCALARS[word]] if word in _SCALARS else [ctypes.c_void_p, ctypes.c_int64]
    restype = _SCALARS[result] if result else None
    symbols = [at for at, word in enumerate(words) if word.startswith("s[]")]
    either = symbols[0] if symbols else -1
    kinds = {_U8: "_u8", _U16: "_u16"} if either >= 0 else {None: ""}
    kernels = {
        dtype: LIBRARY.function(f"lfl_{name}{kind}{level}", types, restype)
        for dtype, kind in kinds.items()
    }
    takes = [_taken(word) for word in words]

    def call(*arguments: Any) -> Any:  # noqa: ANN401
        raw: list[Any] = []
        for (number, dtypes, flags), argument in zip(takes, arguments, strict=True):
            if number is not None:
                raw.append(number(argument))
                continue
            if argument.flags.num & flags != flags or not (
                dtypes is None or argument.dtype in dtypes
            ):
                raise _refused(name, dtypes, argument, written=flags != _READ)
            raw += (_address(argument), argument.nbytes if dtypes is None else argument.size)
        for at in symbols[1:]:  # one kernel for all of them
            if arguments[at].dtype != arguments[either].dtype:
                raise _refused(name, (arguments[either].dtype,), arguments[at], written=False)
        return kernels[arguments[either].dtype if either >= 0 else None](*raw)

    return call


_READ = 0x0001 | 0x0100
"""NumPy's flags of a contiguous, aligned array."""
_WRITTEN = _READ | 0x0400


def _taken(word: str) -> tuple[Callable[[Any], Any] | None, tuple[np.dtype[Any], ...] | None, int]:
    """What makes a number of an argument; or the types that an array may have, and the flags it must have."""
    if word in _SCALARS:
        return _NUMBERS[word], None, 0
    kind, _, written = word.partition("[]")
    return None, _ARRAYS[kind] or None, _WRITTEN if written else _READ


def _refused(
    name: str, dtypes: tuple[np.dtype[Any], ...] | None, array: NDArray[Any], *, written: bool
) -> InputError:
    of = f" of {' or '.join(map(str, dtypes))}" if dtypes else ""
    allowed = f"a contiguous array{of}" + (" that can be written" if written else "")
    return InputError("argument", of=name, allowed=allowed, got=f"{array.dtype}, {array.strides}")


def _address(array: NDArray[Any]) -> int | None:
    """Where the memory of an array begins: the first field of NumPy's array object."""
    return _pointer_at(id(array) + _FIRST_FIELD).value


def _address_asked(array: NDArray[Any]) -> int | None:
    """The same by NumPy's own interface, which takes ten times as long as the call of a small kernel."""
    return array.ctypes.data


_pointer_at = ctypes.c_void_p.from_address
_FIRST_FIELD = object.__basicsize__
if sys.implementation.name != "cpython" or any(
    _address(probe) != probe.ctypes.data for probe in (np.zeros(3), np.zeros((2, 2))[1:])
):
    _address = _address_asked
