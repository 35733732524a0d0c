"""Threads: parts that cover everything, BLAS kept to one, nothing left changed."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sdpmetric import solve
from sdpmetric.engines.threads import map_blocks, map_parts, map_tasks, n_threads, thread_pool
from tests.support.problems import random_triplets


def blas() -> set[int]:
    """The threads of NumPy's BLAS; other libraries bring their own."""
    home = str(Path(np.__file__).resolve().parent)
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    ours = [pool for pool in pools if str(Path(pool["filepath"]).resolve()).startswith(home)]
    return {pool["num_threads"] for pool in ours}


@pytest.mark.parametrize(("n_jobs", "expected"), [(1, 1), (3, 3), (None, 1), (-1, None)])
def test_blas_has_one_thread_while_we_work(n_jobs: int | None, expected: int | None) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with threadpool_limits(1 if n_jobs is None else 2, "blas"):
        before = blas()
        with thread_pool(n_jobs) as threads:
            assert blas() == {1}
            assert threads == (expected or cores)
        assert blas() == before


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_parts_cover_everything_once_in_order(n_jobs: int, n: int) -> None:
    with thread_pool(n_jobs):
        parts = map_parts(n, lambda part: list(range(part.start, part.stop)), least=3)
    assert [i for part in parts for i in part] == list(range(n))
    assert len(parts) == max(1, min(n_jobs, n // 3))


def test_parts_run_at_once() -> None:
    """Each part waits for the other: alone, neither would end."""
    barrier = threading.Barrier(2, timeout=20)
    with thread_pool(2):
        map_parts(2, lambda part: barrier.wait())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("large", [False, True])
def test_tasks_use_one_thread_each(n_jobs: int, large: bool) -> None:
    with thread_pool(n_jobs):
        found = map_tasks(lambda task: (task, n_threads()), [5, 6, 7], lambda: None, large=large)
        assert found == [(5, 1), (6, 1), (7, 1)]
        # A single task has all threads.
        assert map_tasks(lambda _: n_threads(), [0], lambda: None, large=large) == [n_jobs]
        assert n_threads() == n_jobs


def test_an_error_in_one_task_ends_the_others() -> None:
    """The second task would wait for ever."""
    told = threading.Event()

    def work(task: int) -> bool:
        if task == 0:
            raise KeyboardInterrupt
        return told.wait(20)

    with thread_pool(2), pytest.raises(KeyboardInterrupt):
        map_tasks(work, [0, 1], told.set, large=True)
    assert told.is_set()


@pytest.mark.parametrize("n", [0, 1, 2**15, 2**15 + 1, 300_000])
def test_blocks_are_the_same_for_any_number_of_threads(n: int) -> None:
    expected = map_blocks(n, lambda block: (block.start, block.stop))
    assert [stop for _, stop in expected[:-1]] == [start for start, _ in expected[1:]]
    assert sum(stop - start for start, stop in expected) == n
    with thread_pool(2):
        assert map_blocks(n, lambda block: (block.start, block.stop)) == expected


def test_an_error_in_a_part_is_raised() -> None:
    with thread_pool(2), pytest.raises(ZeroDivisionError):
        map_parts(10, lambda part: 1 // 0)


def test_overlapping_fits_restore_the_threads_of_blas() -> None:
    """The first to begin ends first; OpenBLAS obeys the main thread alone, so both are there."""
    with threadpool_limits(2, "blas"):
        first, second, elsewhere = thread_pool(None), thread_pool(None), Context()
        threads = first.__enter__()
        assert elsewhere.run(second.__enter__) == threads
        first.__exit__(None, None, None)
        assert blas() == {1}
        elsewhere.run(second.__exit__, None, None, None)
        assert blas() == {2}


def test_fits_in_several_threads_at_once() -> None:
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(40, 5)), random_triplets(rng, 40, 200, 3)
    expected = solve(X, T).objective
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: solve(X, T, n_jobs=2).objective, range(8)))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
