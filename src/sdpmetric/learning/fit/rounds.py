"""Fits in rounds: each round finds its comparisons under the metric of the round before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sklearn.exceptions import ConvergenceWarning

from ..._support.warnings import warn
from ...problem.result import Result, Status
from ...solvers import Limits

__all__ = ["EARLY_TOL", "run_rounds", "warn_of_rounds"]

# Gap of all rounds but the last, which only choose neighbours for the next. 0.05 makes no metric
# better and takes 6 % more evaluations in all (benchmarks/README.md, bench-defaults).
EARLY_TOL = 1e-1


def run_rounds(
    n_rounds: int,
    fit_round: Callable[[Result | None], Result],
    limits: Limits | None = None,
    *,
    before: tuple[int, int] = (0, 0),
    stopped: Callable[[], bool] = lambda: False,
) -> Result:
    """Fit ``n_rounds`` times, or fewer times if a limit, a callback or Ctrl-C ends the rounds.

    If Ctrl-C comes or memory runs out, the result is the last certified metric with
    `Status.INTERRUPTED` or `Status.OUT_OF_MEMORY`, also during the search for comparisons. Before
    there is any metric, the exception is raised.

    Parameters
    ----------
    n_rounds : number of rounds
    fit_round : finds comparisons under the previous metric (None: Euclidean distance) and fits them
    limits : shared by all rounds, so that a round which did not converge is the last; None: each
        round has its own
    before : rounds that an earlier run finished, and all of its evaluations
    stopped : whether a callback asked to stop

    Returns
    -------
    The last round's result; ``n_iter`` counts all rounds.
    """
    result: Result | None = None
    for number in range(before[0], n_rounds):
        if result is not None and limits is not None:
            if not result.converged or stopped():
                break
            reached = limits.reached(result.n_iter)
            if reached is not None:
                warn_of_rounds(number, n_rounds, reached)
                break
        used = before[1] if result is None else result.n_iter
        try:
            found = fit_round(result)
        except (KeyboardInterrupt, MemoryError) as error:
            if result is None:
                raise  # nothing is certified yet
            if isinstance(error, KeyboardInterrupt):
                return replace(result, status=Status.INTERRUPTED)
            warn_of_rounds(number, n_rounds, Status.OUT_OF_MEMORY)
            return replace(result, status=Status.OUT_OF_MEMORY)
        result = replace(found, n_iter=used + found.n_iter)
        if result.status in (Status.INTERRUPTED, Status.OUT_OF_MEMORY):
            break
    assert result is not None
    return result


def warn_of_rounds(made: int, n_rounds: int, why: Status) -> None:
    """Warn that fewer rounds were made than asked for."""
    warn(
        f"{made} of {n_rounds} rounds were made ({why}): the metric is that of the last of them.",
        ConvergenceWarning,
    )
