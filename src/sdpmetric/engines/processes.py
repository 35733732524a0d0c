"""An engine of processes of the standard library: tasks that hold the GIL, and memory of their own.

A result stays in the process that made it, under a number; the caller has a `_Ref` to it. A task
runs where its part is. Arguments are pickled, so functions must be importable.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import count
from typing import Any, Self
from weakref import finalize

from .blas import cores, one_blas_thread
from .engine import tree

__all__ = ["Processes"]


class _Ref:
    """A result in a process: which process, and its number there."""

    def __init__(self, owner: int, number: int) -> None:
        self.owner, self.number = owner, number


class Processes:
    """``n`` processes, all cores by default; use it as a context manager, which ends them."""

    epoch = 0  # a process that dies ends the work: there is nothing to go on from

    def __init__(self, n: int | None = None) -> None:
        # Not fork: a child would inherit the locks of threads that it does not have.
        context = multiprocessing.get_context("spawn")
        self.n_workers = n or cores()
        # A pool for each process: only then is it known which process runs a task.
        self._pools = [ProcessPoolExecutor(1, mp_context=context) for _ in range(self.n_workers)]
        self._numbers = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[..., Any], parts: Sequence[Any], *shared: Any) -> list[Any]:
        shared = tuple(self._here(value) for value in shared)
        refs = []
        for i, part in enumerate(parts):
            owner = _owner(part)
            refs.append(_Ref(i % self.n_workers if owner is None else owner, next(self._numbers)))
        tasks = [
            self._submit(ref.owner, _run, ref.number, work, self._sent(part, ref.owner), shared)
            for ref, part in zip(refs, parts, strict=True)
        ]
        _results(tasks)
        for ref in refs:
            finalize(ref, self._forget, ref.owner, ref.number).atexit = False
        return refs

    def reduce(self, merge: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
        return tree(merge, self.collect(parts))

    def collect(self, results: Sequence[Any]) -> list[Any]:
        asked = [
            self._submit(r.owner, _stored, r.number) if isinstance(r, _Ref) else r for r in results
        ]
        return [_results([r])[0] if isinstance(r, Future) else self._here(r) for r in asked]

    def _here(self, value: Any) -> Any:
        """A value, with results in other processes replaced by what they are."""
        if isinstance(value, list):
            return [self._here(v) for v in value]
        return self.collect([value])[0] if isinstance(value, _Ref) else value

    def _sent(self, part: Any, owner: int) -> Any:
        """A part as its process gets it: references to its own results stay references."""
        if isinstance(part, list):
            return [self._sent(p, owner) for p in part]
        stays = isinstance(part, _Ref) and part.owner == owner
        return _Ref(owner, part.number) if stays else self._here(part)

    def _submit(self, owner: int, *call: Any) -> Future[Any]:
        try:
            return self._pools[owner].submit(*call)
        except BrokenProcessPool as error:
            raise _dead() from error

    def _forget(self, owner: int, number: int) -> None:
        """Free a result that nobody refers to any longer."""
        try:
            self._pools[owner].submit(_results_here.pop, number, None)
        except RuntimeError:  # the process has ended, and the result with it
            return


def _owner(part: Any) -> int | None:
    """The process that holds a part, or the first result in a list of them."""
    if isinstance(part, list):
        return next((o for o in map(_owner, part) if o is not None), None)
    return part.owner if isinstance(part, _Ref) else None


def _results(tasks: list[Future[Any]]) -> list[Any]:
    try:
        return [task.result() for task in tasks]
    except BrokenProcessPool as error:
        raise _dead() from error


def _dead() -> RuntimeError:
    return RuntimeError(
        "a worker process ended before its work was done: it was killed, or memory ran out."
    )


# In a worker process: its results by their numbers.
_results_here: dict[int, Any] = {}


def _run(number: int, work: Callable[..., Any], part: Any, shared: tuple[Any, ...]) -> None:
    with one_blas_thread():
        _results_here[number] = work(_resolved(part), *shared)


def _stored(number: int) -> Any:
    return _results_here[number]


def _resolved(part: Any) -> Any:
    if isinstance(part, list):
        return [_resolved(p) for p in part]
    return _results_here[part.number] if isinstance(part, _Ref) else part
