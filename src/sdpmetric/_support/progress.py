"""How far long work is: bars of rich if it is installed, else plain text; or the user's function.

Work has stages, such as a search for neighbours and then a fit. Each stage reports how much of it
is done.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO, TypeAlias

from .optional import is_installed
from .plain_progress import PlainText

__all__ = ["Report", "Stage", "Stages", "gap_watch", "is_function", "shown", "terminal"]

Report: TypeAlias = Callable[[float, float], object]
_ALMOST = 0.99  # where a bar waits for the proof that the fit is done


class Stage(Protocol):
    """Shows how much of a stage is done, with a note beside it."""

    def __call__(self, done: float, total: float, note: str = "", /) -> object: ...


class Stages(Protocol):
    """Shows the stages of some work, one after the other."""

    def stage(self, title: str, /) -> Stage:
        """Begin a stage; the one before has ended."""


class _Function:
    """Calls the user's function with (done, total), whatever the stage."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def stage(self, title: str) -> Stage:
        return lambda done, total, note="": self.report(done, total)


class _Bars:
    """Bars of rich, one for each stage."""

    def __init__(self, bars: Any) -> None:
        self.bars = bars

    def stage(self, title: str) -> Stage:
        for task in self.bars.task_ids:
            self.bars.stop_task(task)
        new = self.bars.add_task(title, total=None, note="")

        def show(done: float, total: float, note: str = "") -> None:
            self.bars.update(new, completed=done, total=total, note=note)

        return show


def is_function(progress: object) -> bool:
    """Whether this is a function of the user's, which gets (done, total)."""
    return callable(progress) and not hasattr(progress, "stage")


@contextmanager
def shown(progress: Any) -> Iterator[Stages | None]:
    """Yield what shows the stages of some work; None for silence.

    Parameters
    ----------
    progress : True for the terminal, False for silence, the user's function, or `Stages` of a
        caller that shows more work than this
    """
    if isinstance(progress, bool):
        if not progress:
            yield None
            return
        with terminal(sys.stderr) as stages:
            yield stages
    elif hasattr(progress, "stage"):
        yield progress
    elif is_function(progress):
        yield _Function(progress)
    else:
        raise ValueError(f"progress must be True, False or a function, got {progress!r}.")


@contextmanager
def terminal(stream: TextIO, *, keep: bool = True) -> Iterator[Stages | None]:
    """Yield `Stages` that write to a stream; without ``keep``, nothing stays there at the end."""
    if not is_installed("rich"):
        with PlainText(stream, keep=keep) as text:
            yield text
        return
    from rich.console import Console
    from rich.errors import LiveError
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(20),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        console=Console(file=None if stream is sys.stderr else stream, stderr=True),
        transient=not keep,
    )
    try:
        bars.start()
    except LiveError:  # another fit of this process has the terminal
        yield None
        return
    try:
        yield _Bars(bars)
    finally:
        bars.stop()


def gap_watch(show: Stage, tol: float) -> Callable[[Any], None]:
    """Return a callback of a fit, called with a `Progress`, that shows its gap.

    A fit gains digits of the gap at an even pace, so the share done is one of log10 of the gap,
    from the first gap that is finite to ``tol``. The inner gap is known at most steps; the whole
    one, which is proven, at certificates alone.
    """
    first, best = math.nan, 0.0
    begun: Any = None

    def watch(now: Any) -> None:
        nonlocal first, best, begun
        begun = begun or now
        made = now.n_iter - begun.n_iter
        pace = f", {(now.seconds - begun.seconds) / made:.2g} s an evaluation" if made > 0 else ""
        gap = now.inner_gap if now.inner_gap < math.inf else now.gap
        if not 0.0 < gap < math.inf:
            return
        first = gap if math.isnan(first) else first
        # A warm start may begin below tol: the bar is full then, as far as it goes unproven.
        way = math.log10(first / tol)
        done = math.log10(first / gap) / way if way > 0.0 else 1.0
        # Gaps go up at times, and the bar must not go back.
        best = max(best, min(done, 1.0 if now.gap <= tol else _ALMOST))
        proven = f"proven {now.gap:.0e}, " if now.gap < math.inf else ""
        show(best, 1.0, f"gap {gap:.0e} ({proven}aim {tol:.0e}){pace}")

    return watch
