"""Threads."""

import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import FrameError, Stochastic, decode, encode, stream
from lossyfl.kernels import parallel
from lossyfl.kernels.parallel import run, split, wake
from lossyfl.types import Scale
from lossyfl.wire import frame
from lossyfl.wire.header import FrameMeta
from lossyfl.wire.vectors import block_bounds


@given(total=st.integers(1, 300), most=st.integers(0, 100), threads=st.integers(1, 9))
def test_split_covers_everything_once(total: int, most: int, threads: int) -> None:
    runs = split(total, most, threads)
    assert [i for run in runs for i in run] == list(range(total))
    assert all(0 < len(run) <= max(most, 1) for run in runs)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_are_in_order(threads: int) -> None:
    assert run(lambda n: n * n, range(50), threads) == [n * n for n in range(50)]


def test_an_error_in_any_thread_is_raised_and_the_pool_lives_on() -> None:
    def job(n: int) -> int:
        if n == 3:
            raise ValueError("three")
        return n

    for _ in range(3):
        with pytest.raises(ValueError, match="three"):
            run(job, range(8), 2)
    assert run(job, [1, 2], 2) == [1, 2]


def test_a_helper_that_is_busy_is_not_waited_for() -> None:
    """The only helper that there may be sleeps until the second job is done, by its caller alone."""
    begun, over = threading.Event(), threading.Event()

    def first(n: int) -> int:
        if threading.current_thread() is caller:
            begun.wait(10)
        else:
            begun.set()
            over.wait(10)
        return n

    caller = threading.Thread(target=lambda: run(first, [1, 2], 2))
    caller.start()
    assert begun.wait(10)
    for _ in range(os.cpu_count() or 1):  # every helper but the sleeping one may be free
        assert run(lambda n: n, [1, 2, 3], 2) == [1, 2, 3]
    over.set()
    caller.join(10)
    assert not caller.is_alive()


def test_several_callers_at_once() -> None:
    results: list[list[int]] = []
    callers = [
        threading.Thread(target=lambda: results.append(run(lambda n: n + 1, range(100), 3)))
        for _ in range(8)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == [list(range(1, 101))] * 8


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads() -> None:
    run(lambda n: n, range(4), 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if run(lambda n: n, range(4), 2) == [0, 1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0


def coded(x: np.ndarray, levels: int, scale: Scale, threads: int) -> tuple[bytes, bytes]:
    """A frame and what it stands for, by kernels that share their pieces."""
    quantizer = Stochastic(levels=levels, scale=scale)
    wake(threads)
    bounds = block_bounds(quantizer.scale, len(x), None)
    quantized = quantizer.quantize(x, bounds, rng=stream(1), threads=threads)
    packed = frame.pack(quantized, FrameMeta(), threads=threads)
    wake(threads)
    opened = frame.open_body(packed, frame.read_header(packed))
    assert isinstance(opened, frame.Opened)
    return packed, frame.unpack_quantized(opened, threads).symbols.tobytes()


CASES: list[tuple[int, Scale]] = [
    (2, "model"),
    (2, 700),
    (50, "model"),
    (300, "model"),
    (300, 9000),
]


@pytest.mark.parametrize(("levels", "scale"), CASES)
def test_kernels_give_the_same_on_any_number_of_threads(levels: int, scale: Scale) -> None:
    x = np.random.default_rng(levels).laplace(size=400_000).astype(np.float32)
    alone = coded(x, levels, scale, 1)
    for threads in (2, 3, 40):
        for _ in range(5):
            assert coded(x, levels, scale, threads) == alone


def test_kernels_share_while_others_do() -> None:
    """There is one job at a time; who finds it taken works alone."""
    vectors = [np.random.default_rng(i).laplace(size=300_000).astype(np.float32) for i in range(4)]
    expected = [coded(x, 2, "model", 1) for x in vectors]
    results: list[bool] = []

    def check(i: int) -> None:
        results.extend(coded(vectors[i], 2, "model", 2) == expected[i] for _ in range(10))

    callers = [threading.Thread(target=check, args=(i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == [True] * 40


def test_a_bad_segment_is_named_on_any_number_of_threads() -> None:
    x = np.random.default_rng(0).laplace(size=600_000).astype(np.float32)
    packed = bytearray(encode(x, Stochastic(levels=2), rng=stream(0)))
    for place in (3, 2):  # quarters of the frame, the last first
        packed[len(packed) * place // 4] ^= 255
    broken = frame.seal([bytes(packed[:-4])])
    said = set[str]()
    for threads in (1, 2, 2, 2):
        with pytest.raises(FrameError) as refused:
            decode(broken, threads=threads)
        said.add(str(refused.value))
    assert len(said) == 1


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_while_helpers_look_for_jobs_shares_its_own() -> None:
    x = np.random.default_rng(0).laplace(size=300_000).astype(np.float32)
    expected = coded(x, 2, "model", 2)
    wake(2)
    child = os.fork()
    if child == 0:
        os._exit(0 if [coded(x, 2, "model", 2) for _ in range(3)] == [expected] * 3 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_helpers_go_back_to_sleep() -> None:
    for _ in range(50):
        wake(3)
    for _ in range(1000):
        if not parallel._awake() and not parallel._helpers._woken:
            return
        time.sleep(0.01)
    pytest.fail("a helper is still awake")
