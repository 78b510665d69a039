"""Logarithm and exponential by additions, multiplications and divisions alone.

The same bits on every processor, which no libm promises: sizes are compared with limits, and a comparison
that falls the other way elsewhere would be another frame. Within 2^-51 of the truth, relatively (`log2_of`
beside 1: absolutely). logarithms.h is the same in C.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ONE, _ROOT = np.uint64(0x3FF0000000000000), np.uint64(0x3FE6A09E667F3BCD)
"""The bits of 1 and of sqrt(1/2)."""
_LOG = [float.fromhex(each) for each in (
    "0x1.3703c1f4d0ffep-3", "0x1.5b9ac9b743f0dp-3", "0x1.89f3b1694cffep-3", "0x1.c68f568d31760p-3",
    "0x1.0c9a84994022dp-2", "0x1.484b13d7c02a9p-2", "0x1.a61762a7aded9p-2", "0x1.2776c50ef9bfep-1",
    "0x1.ec709dc3a03fdp-1", "0x1.71547652b82fep+1",
)]  # fmt: skip
"""2 / (19 ln 2), 2 / (17 ln 2), ... 2 / ln 2."""
_EXP = [
    1 / n for n in (6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6)
]
"""1 / 13!, 1 / 12!, ... 1 / 3!."""
_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")


def log2_of(x: Floats) -> Floats:
    """log2 x for normal x > 0.

    With x = 2^k m, m in [sqrt(1/2), sqrt(2)) and s = (m - 1) / (m + 1), it is
    k + 2 / ln 2 (s + s^3 / 3 + s^5 / 5 + ...).

    >>> log2_of(np.array([1.0, 8.0, 10.0]))
    array([0.        , 3.        , 3.32192809])
    """
    bits = x.view(np.uint64) + (_ONE - _ROOT)
    k = (bits >> np.uint64(52)).astype(np.float64) - 1023
    f = ((bits & np.uint64(0x000FFFFFFFFFFFFF)) + _ROOT).view(np.float64) - 1
    s = f / (2 + f)
    t = s * s
    tail = np.full_like(t, _LOG[0])
    for factor in _LOG[1:-1]:
        tail = tail * t + factor
    return k + (s * _LOG[-1] + s * (t * tail))


def log2(x: float) -> float:
    """log2 of one number, as `log2_of` has it."""
    return float(log2_of(np.array([x], dtype=np.float64))[0])


def exp_of_minus(x: Floats) -> Floats:
    """exp(-x) for x >= 0; from 40 on, where one would not see it beside 1, that of 40.

    >>> exp_of_minus(np.array([0.0, 1.0]))
    array([1.        , 0.36787944])
    """
    x = np.where(x < 40, -x, -40.0)
    k = x * float.fromhex("0x1.71547652b82fep+0") + 1.5 * 2.0**52  # rounded by its size
    k = k - 1.5 * 2.0**52
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    e = np.full_like(r, _EXP[0])
    for factor in (*_EXP[1:], 0.5, 1.0, 1.0):
        e = e * r + factor
    return e * ((k.astype(np.int64) + 1023) << 52).view(np.float64)
