"""What kernels refuse."""

from typing import TypeVar

from lossyfl.errors import InputError

N = TypeVar("N", int, float)


def fits(result: N) -> N:
    """What a kernel returned; raises where it found its arrays not to fit together and did nothing.

    >>> fits(3)
    3
    """
    if result < 0:
        raise InputError(
            "arrays", of="a kernel", allowed="of lengths that fit together", got=result
        )
    return result
