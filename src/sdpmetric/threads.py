"""The threads of a fit: parts of the rows, edges or columns, one part each.

BLAS is kept to one thread meanwhile. Its own threads wait for one another by spinning, so on
skinny products, or where another process wants a core, two of them can be several times slower
than one; parts that are independent lose nothing but the core that is not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["count", "over", "over_blocks", "working"]

T = TypeVar("T")

_BLOCK = 1 << 15

_pool: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("_pool", default=None)


@contextmanager
def working(n_jobs: int | None = None) -> Iterator[int]:
    """Use ``n_jobs`` threads (-1: all cores; None: as many as BLAS may) in calls of `over`."""
    if _pool.get() is not None:  # a fit inside a fit shares its threads
        yield count()
        return
    blas = _blas()
    if n_jobs is None:
        n_jobs = _limit.allowed or _allowed(blas)
    elif n_jobs < 0:
        n_jobs = _cores()
    with _one_blas_thread(blas), ThreadPoolExecutor(n_jobs) as pool:
        token = _pool.set((pool, n_jobs))
        try:
            yield n_jobs
        finally:
            _pool.reset(token)


def count() -> int:
    """How many threads `over` may use just now."""
    return (_pool.get() or (None, 1))[1]


def over(n: int, work: Callable[[slice], T], least: int = 1) -> list[T]:
    """``work`` on contiguous parts of range(n), at least ``least`` each, in parallel if allowed."""
    pool, threads = _pool.get() or (None, 1)
    parts = min(threads, n // max(least, 1))
    if pool is None or parts < 2:
        return [work(slice(0, n))]
    bounds = [n * part // parts for part in range(parts + 1)]
    return list(pool.map(work, map(slice, bounds[:-1], bounds[1:])))


def over_blocks(n: int, work: Callable[[slice], T]) -> list[T]:
    """``work`` on blocks of range(n) that fit into the cache, in order; the same ones always."""

    def part(numbers: slice) -> list[T]:
        starts = range(numbers.start * _BLOCK, numbers.stop * _BLOCK, _BLOCK)
        return [work(slice(start, min(start + _BLOCK, n))) for start in starts]

    return [result for results in over(-(-n // _BLOCK), part, 4) for result in results]


class _Limit:
    """How many fits keep BLAS to one thread just now, and what it was allowed before the first."""

    lock = Lock()
    fits = 0
    allowed = 0
    held: Any = None


_limit = _Limit()


@contextmanager
def _one_blas_thread(blas: ThreadpoolController) -> Iterator[None]:
    """The limit is the process's own, so the first fit of several sets it and the last lifts it."""
    with _limit.lock:
        if _limit.fits == 0:
            _limit.allowed = _allowed(blas)
            _limit.held = blas.limit(limits=1)
        _limit.fits += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.fits -= 1
            if _limit.fits == 0:
                _limit.held.restore_original_limits()
                _limit.allowed = 0


def _allowed(blas: ThreadpoolController) -> int:
    threads: int = min([_cores(), *(library.num_threads for library in blas.lib_controllers)])
    return threads


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
