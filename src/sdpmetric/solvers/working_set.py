"""Comparisons that are too many to list, by working sets.

A comparison whose margin exceeds ``rho + support`` has slope zero and does not matter. So: solve
for a small set, ask for every comparison inside the margin of that metric, add them, and go on
until there is none to add. Over more comparisons rho can only be smaller, so then value, rho and
slopes over all comparisons are those over the set, and its certificate is that of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .._typing import Floats
from ..objective import Objective
from ..result import Result, Status
from .budget import Budget
from .monitor import Callback

__all__ = ["Pool", "by_working_sets"]

_FIRST = 1e-2  # relative gap of the first sets; later ones are solved more closely
_CLOSER = 0.2


class Pool(Protocol):
    """All comparisons, of which an objective holds some."""

    def objective(self) -> Objective:
        """The objective of the set at hand."""

    def add(self, factor: Floats, rho: float, /) -> int:
        """Add what is inside the margin under ``M' = P P'``; return how many that was."""


def by_working_sets(
    solver: Callable[..., Result],
    pool: Pool,
    *,
    start: Floats | None = None,
    tol: float = 1e-4,
    max_iter: int = 3000,
    time_limit: float | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> Result:
    """Maximise F over all comparisons of the pool to a relative gap of ``tol``."""
    budget = Budget(max_iter, time_limit, callback)
    goal = max(tol, _FIRST)
    stage, status = None, None
    try:
        while status is None:
            elapsed = budget.seconds
            stage = budget.run(solver, pool.objective(), start=start, tol=goal, **options)
            budget.note(stage, elapsed)
            start = stage.factor
            added = pool.add(start, stage.rho)
            if not added and goal <= tol:
                return budget.whole(stage)
            goal = max(tol, _CLOSER * goal) if added else tol
            if not stage.converged:
                status = stage.status
            elif budget.used >= max_iter:
                status = Status.ITERATION_LIMIT
    except KeyboardInterrupt:
        if stage is None:
            raise
        pool.add(stage.factor, stage.rho)
        status = Status.INTERRUPTED
    # A limit came first: the certificate of what there is, over all comparisons.
    elapsed = budget.seconds
    stage = Budget(0, None, None).run(solver, pool.objective(), start=start, tol=tol, **options)
    budget.note(stage, elapsed)
    return budget.whole(stage, status=stage.status if stage.converged else status)
