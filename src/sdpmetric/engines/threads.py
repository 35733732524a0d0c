"""The threads of a fit: each works on one part of the rows, edges or columns.

Independent parts lose the time of a missing core and no more, unlike the threads of BLAS, which is
kept to one thread (docs/performance.md, "Threads"). Parts depend on the number of threads that was
asked for, not on the number that runs: so does rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event
from typing import Any, TypeVar

from .._support.memory import address_space_left
from .blas import allowed_threads, cores, one_blas_thread
from .engine import tree

__all__ = ["Threads", "map_blocks", "map_parts", "map_tasks", "n_threads", "thread_pool"]

S = TypeVar("S")
T = TypeVar("T")

# Numbers in a block of `map_blocks`: 256 KB of float64, so a few such arrays stay in the cache of a
# core. The size is fixed, not a share of n: a sum over blocks then has the same rounding for every
# number of threads.
_BLOCK = 1 << 15
# Address space that a thread may take: its stack, an arena of malloc and a buffer of BLAS have 104
# MB together. OpenBLAS ends the process if it gets no buffer, so there must be plenty.
_THREAD_BYTES = 1 << 28


class _Pool:
    """The threads of one fit. They start when they are first needed, in a forked child once more.

    A child has none of the threads of its parent, but it may go on with the parent's fit.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.process: int | None = None
        self.executor: ThreadPoolExecutor | None = None

    def map(self, work: Callable[[Any], T], parts: Sequence[Any]) -> list[T]:
        """Call ``work`` on all parts, at the same time if threads can be started."""
        if self.process != os.getpid():
            self.executor, self.process = _started(self.n), os.getpid()
        return list((self.executor.map if self.executor else map)(work, parts))

    def close(self) -> None:
        """End the threads."""
        if self.executor is not None and self.process == os.getpid():
            self.executor.shutdown()


# A context variable, not a global: fits in several threads of the user each have their own pool.
_pool: ContextVar[_Pool | None] = ContextVar("_pool", default=None)


@contextmanager
def thread_pool(n_jobs: int | None = None) -> Iterator[int]:
    """Let calls of `map_parts` use ``n_jobs`` threads: -1 all cores, None as many as BLAS may."""
    if _pool.get() is not None:  # a fit inside a fit shares its threads
        yield n_threads()
        return
    if n_jobs is None:
        n_jobs = allowed_threads()
    elif n_jobs < 0:
        n_jobs = cores()
    pool = _Pool(n_jobs)
    with one_blas_thread():
        token = _pool.set(pool)
        try:
            yield n_jobs
        finally:
            _pool.reset(token)
            pool.close()


def n_threads() -> int:
    """Return how many threads `map_parts` may use now."""
    pool = _pool.get()
    return 1 if pool is None else pool.n


def map_parts(n: int, work: Callable[[slice], T], least: int = 1) -> list[T]:
    """Call ``work`` on contiguous parts of range(n), in parallel if allowed; return the results.

    A part has at least ``least`` members: below that a thread costs more than it saves.
    """
    pool = _pool.get()
    parts = min(n_threads(), n // max(least, 1))
    if pool is None or parts < 2:
        return [work(slice(0, n))]
    bounds = [n * part // parts for part in range(parts + 1)]
    return pool.map(work, list(map(slice, bounds[:-1], bounds[1:])))


def map_blocks(n: int, work: Callable[[slice], T]) -> list[T]:
    """Call ``work`` on blocks of range(n) that fit into the cache; return the results in order.

    The blocks are the same for every number of threads.
    """
    if n <= _BLOCK:
        return [work(slice(0, n))]

    def part(numbers: slice) -> list[T]:
        starts = range(numbers.start * _BLOCK, numbers.stop * _BLOCK, _BLOCK)
        return [work(slice(start, min(start + _BLOCK, n))) for start in starts]

    # Fewer than four blocks are too little work to hand to another thread.
    return [result for results in map_parts(-(-n // _BLOCK), part, 4) for result in results]


def map_tasks(
    work: Callable[[S], T], tasks: Sequence[S], interrupt: Callable[[], object], *, large: bool
) -> list[T]:
    """Call ``work`` on whole tasks, each in one thread; return the results in order.

    Results are the same to the last bit for every number of threads: a task uses no other thread.
    A single task is different: it may use all threads, as a fit does.

    Parameters
    ----------
    work : the function
    tasks : its arguments
    interrupt : tells running tasks to end, after Ctrl-C or an error in one of them
    large : whether a task is worth a thread; small ones would wait for the interpreter's lock
    """
    if len(tasks) < 2:
        return [work(task) for task in tasks]
    n = min(n_threads(), len(tasks))
    token = _pool.set(None)
    try:
        executor = _started(n) if large else None
        if executor is None:
            return [work(task) for task in tasks]
        # New threads have no pool in their context, so that a task stays in its thread.
        running = [executor.submit(work, task) for task in tasks]
        try:
            return [task.result() for task in running]
        except BaseException:
            interrupt()
            raise
        finally:
            executor.shutdown(cancel_futures=True)
    finally:
        _pool.reset(token)


class Threads:
    """The threads of `thread_pool` as an `Engine`: results stay here, so a handle is the result."""

    epoch = 0  # what is in memory is never lost

    @property
    def n_workers(self) -> int:
        return n_threads()

    def map(self, work: Callable[..., Any], parts: Sequence[Any], *shared: Any) -> list[Any]:
        pool = _pool.get()
        return (_Pool(1) if pool is None else pool).map(lambda part: work(part, *shared), parts)

    def reduce(self, merge: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
        return tree(merge, parts)

    def collect(self, results: Sequence[Any]) -> list[Any]:
        return list(results)


def _started(n: int) -> ThreadPoolExecutor | None:
    """Return n running threads, or fewer if the system allows no more; None for less than two."""
    n = int(min(n, address_space_left() // _THREAD_BYTES))
    while n > 1:
        executor, go = ThreadPoolExecutor(n), Event()
        try:
            # All at once and now: a thread that fails to start later would leave its part undone.
            for _ in range(n):
                executor.submit(go.wait)
            return executor
        except RuntimeError:  # too little address space, or too many threads
            n //= 2
        finally:
            go.set()
        executor.shutdown()
    return None
