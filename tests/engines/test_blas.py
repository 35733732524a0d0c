"""BLAS has one thread in fits and its own number after them, whatever ends them and wherever."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from sdpmetric.engines import blas
from sdpmetric.engines.blas import allowed_threads, one_blas_thread


def threads() -> list[int]:
    # Those of NumPy and SciPy; other tests of this process may load further ones, as Faiss does.
    libraries = blas._blas().lib_controllers
    return [library.num_threads for library in libraries]


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with threadpool_limits(2, "blas"):
        if set(threads()) != {2}:
            pytest.skip("BLAS cannot use two threads here")
        yield


def test_fits_that_begin_and_end_in_different_threads() -> None:
    """The first to begin ends first, and the last one lifts a limit that it did not set."""
    begun, ended = threading.Barrier(2, timeout=20), threading.Event()
    seen: dict[str, list[int]] = {}

    def first() -> None:
        with one_blas_thread():
            begun.wait()
        seen["first"] = threads()
        ended.set()

    def last() -> None:
        with one_blas_thread():
            begun.wait()
            assert ended.wait(20)
            seen["inside"] = threads()
        seen["last"] = threads()

    running = [threading.Thread(target=work) for work in (first, last)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    one, two = [1] * len(threads()), [2] * len(threads())
    assert seen == {"first": one, "inside": one, "last": two}
    assert threads() == two


def test_the_limit_of_a_fit_is_not_taken_for_that_of_the_user() -> None:
    expected = allowed_threads()
    with one_blas_thread():
        assert set(threads()) == {1}
        assert allowed_threads() == expected


def interrupt_at(number: int, moments: list[str]) -> Callable[[FrameType, str, Any], Any]:
    """A tracer that presses Ctrl-C at a moment of that number: where a function begins or ends.

    These are the moments at which Python looks for signals, loops apart.
    """

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        # An error of a tracer at a `yield` would end the generator without its `finally`.
        suspended = event == "return" and frame.f_code.co_flags & inspect.CO_GENERATOR
        if event in ("call", "return") and not suspended:
            moments.append(frame.f_code.co_name)
            if len(moments) == number:
                raise KeyboardInterrupt
        return trace

    return trace


def traced(number: int) -> tuple[int, bool]:
    """Set and lift the limit with an interrupt; how many moments there were, and if it came."""
    moments: list[str] = []
    before, pressed = sys.gettrace(), False
    sys.settrace(interrupt_at(number, moments))
    try:
        with one_blas_thread():
            pass
    except KeyboardInterrupt:
        pressed = True
    finally:
        sys.settrace(before)
    return len(moments), pressed


def test_an_interrupt_at_any_moment_gives_the_threads_back() -> None:
    """Ctrl-C while the limit was set or lifted left BLAS at one thread for good."""
    expected = threads()
    total, pressed = traced(-1)
    assert total > 50
    assert not pressed
    for number in range(1, total + 1):
        traced(number)
        assert threads() == expected
        free = ThreadPoolExecutor(1).submit(blas._limit.lock.acquire, timeout=0.0)
        assert free.result()
        blas._limit.lock = threading.RLock()
