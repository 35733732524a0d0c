"""Progress of the command line, on a terminal alone: pipes and logs stay as they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._support.progress import Stages, terminal


@contextmanager
def bars() -> Iterator[Stages | None]:
    """Yield what shows the stages of a fit or a search; None if standard error is no terminal."""
    # On standard error, since standard output may carry a table or JSON.
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    with terminal(sys.stderr, keep=False) as stages:
        yield stages


@contextmanager
def showing_progress(learner: Any) -> Iterator[None]:
    """Let an estimator show its progress, for one fit."""
    with bars() as stages:
        learner.progress = False if stages is None else stages
        try:
            yield
        finally:
            learner.progress = False  # a parameter, and a model file cannot hold an object
