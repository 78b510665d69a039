import pytest

from lossyfl.errors import InputError
from lossyfl.kernels.checks import fits


@pytest.mark.parametrize("result", [0, 7, 2.5])
def test_what_a_kernel_returns_is_handed_on(result: float) -> None:
    assert fits(result) == result


@pytest.mark.parametrize("result", [-1, -2, -0.5])
def test_a_refusal_is_an_error_of_ours(result: float) -> None:
    with pytest.raises(InputError, match="arrays of a kernel must be of lengths that fit together"):
        fits(result)
