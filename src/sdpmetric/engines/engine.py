"""The three verbs by which work is spread over parts: map, reduce, collect.

A *handle* stands for the result of a task, wherever that result is: in this process (threads), in
another process, or on a cluster. Handles go into further calls like values do, so data stays where
it was made. Tasks are pure functions, so a lost result can be computed again from its arguments.

An engine for another system is one more file with these three verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

__all__ = ["FAN_IN", "Engine", "LostResultsError", "Resident", "again", "same", "tree"]

T = TypeVar("T")

FAN_IN = 8  # results merged at once: few levels for hundreds of parts, few bytes for one worker
_ATTEMPTS = 5  # how often lost results are computed again before the fit ends with an error


class LostResultsError(RuntimeError):
    """Results are gone and cannot be computed again from their handles: start from the data."""


class Engine(Protocol):
    """A place where tasks run: threads, processes or a cluster."""

    @property
    def n_workers(self) -> int:
        """The number of tasks that run at the same time."""

    @property
    def epoch(self) -> int:
        """How often results were lost so far; handles of an earlier epoch are dead."""

    def map(self, work: Callable[..., Any], parts: Sequence[Any], *shared: Any) -> list[Any]:
        """Call ``work(part, *shared)`` on every part; return a handle for each result.

        Parts and shared arguments are values, handles, or lists of both.
        """

    def reduce(self, merge: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
        """Merge results as a tree of fixed fan-in and order (`tree`); return a handle.

        ``merge`` is called with lists of up to `FAN_IN` results.
        """

    def collect(self, results: Sequence[Any]) -> list[Any]:
        """Return the values behind handles, in order."""


def same(value: Any) -> Any:
    """The value itself, as a task: so that it is sent once, and not with every task."""
    return value


def tree(merge: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
    """Merge parts as a tree, in a fixed order: a sum does not depend on which part came first."""
    level = list(parts)
    while len(level) > 1:
        level = [merge(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
    return level[0]


class Resident:
    """Results that stay with an engine, made when they are first needed.

    They are made again from the data if the engine loses them.
    """

    def __init__(self, engine: Engine, make: Callable[[], list[Any]]) -> None:
        self.engine, self.make = engine, make
        self._epoch, self._handles = -1, list[Any]()

    @property
    def handles(self) -> list[Any]:
        """The handles, valid now."""
        if self._epoch != self.engine.epoch:
            self.release()
            self._handles, self._epoch = self.make(), self.engine.epoch
        return self._handles

    @property
    def held(self) -> list[Any]:
        """The handles that were made, in whatever state; none are made now."""
        return self._handles

    def release(self) -> None:
        """Let the engine forget the results until they are needed again."""
        self._epoch, self._handles = -1, []


def again(call: Callable[[], T]) -> T:
    """Call a function that reads `Resident.handles`, and call it again if results were lost."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return call()
        except LostResultsError:
            continue
    return call()
