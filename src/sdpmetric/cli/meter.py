"""Progress on a terminal: how far the gap has come on a log scale; silent in a pipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

__all__ = ["gap_bar", "search_bar"]


@contextmanager
def gap_bar(tol: Any) -> Iterator[Callable[[Any], None] | None]:
    """What to tell of a `Progress`; the bar is full when the gap is ``tol``."""
    with _bar("log10 gap {task.fields[now]:>5}  aim {task.fields[aim]:.1f}") as bar:
        if bar is None or not isinstance(tol, (int, float)) or tol <= 0.0:  # fit says what is wrong
            yield None
            return
        task = bar.add_task("", total=1.0, now="?", aim=math.log10(tol))
        first: list[float] = []

        def watch(now: Any) -> None:
            if not 0.0 < now.gap < math.inf:
                return
            first.append(now.gap)
            way = math.log10(first[0] / tol)
            done = math.log10(first[0] / now.gap) / way if way > 0.0 else 1.0
            del first[1:]
            bar.update(task, completed=min(max(done, 0.0), 1.0), now=f"{math.log10(now.gap):.1f}")

        yield watch


@contextmanager
def search_bar() -> Iterator[Callable[[int, int], None] | None]:
    """What to tell of settings tried, and how many there are."""
    with _bar("settings tried: {task.fields[said]}") as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task("", total=None, said="none yet")

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, said=f"{done} of {total}")

        yield report


@contextmanager
def _bar(text: str) -> Iterator[Any]:
    if not sys.stderr.isatty() or find_spec("rich") is None:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(), TextColumn(text), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield bar
