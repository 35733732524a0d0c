"""A progress bar for work that takes a while: rich draws it, and is imported only then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeAlias

__all__ = ["Report", "shown"]

Report: TypeAlias = Callable[[int, int], object]


@contextmanager
def shown(progress: bool | Report, title: str) -> Iterator[Report | None]:
    """What to tell (done, total): a bar for True, a function of the user's, nothing for False."""
    if callable(progress):
        yield progress
        return
    if not isinstance(progress, bool):
        raise ValueError(f"progress must be True, False or a function, got {progress!r}.")
    if not progress:
        yield None
        return
    if find_spec("rich") is None:
        raise ImportError("progress=True needs rich: pip install 'sdpmetric[progress]'.")
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = TextColumn(title), BarColumn(), TextColumn("{task.percentage:.0f} %")
    with Progress(*columns, TimeElapsedColumn(), Remaining()) as bar:
        task = bar.add_task(title)
        yield lambda done, total: bar.update(task, completed=done, total=total)
