"""The paper's SDP itself: the hinge loss, by continuation in the width of Huber's.

Each stage solves the Huber problem from the last one's solution. Its slopes w satisfy
``0 <= w_r <= c_r`` and ``sum w >= 1``, so they are a feasible dual point of the hinge problem:
``F*_hinge <= (1 - t) lambda_max(G(w)) + t <G(w), M0>``, far tighter than bounding the difference
of the losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Floats
from ..losses import Hinge, Huber
from ..objective import Objective
from ..result import Result, Status
from ..spectraplex import DENSE_LIMIT, Oracle
from .budget import Budget
from .monitor import Callback, relative

__all__ = ["by_continuation"]

_FIRST_WIDTH = 0.5
_SHRINK = 0.25
_SMALLEST_WIDTH = 1e-9


def by_continuation(
    solver: Callable[..., Result],
    objective: Objective,
    *,
    start: Floats | None = None,
    tol: float = 1e-4,
    max_iter: int = 3000,
    time_limit: float | None = None,
    callback: Callback | None = None,
    seed: int = 0,
    dense_limit: int = DENSE_LIMIT,
    **options: Any,
) -> Result:
    """Maximise F for the hinge loss to a relative gap of ``tol``; ``solver`` does the stages."""
    oracle = Oracle(objective, dense_limit=dense_limit, seed=seed)
    hinge = objective.replace(loss=Hinge())
    budget = Budget(max_iter, time_limit, callback)
    width, upper, gap = _FIRST_WIDTH, np.inf, 0.1
    while True:
        smooth = objective.replace(loss=Huber(width))
        stage = budget.run(
            solver,
            smooth,
            start=start,
            tol=max(0.25 * tol, 0.1 * gap),  # the width still costs more than this
            seed=seed,
            dense_limit=dense_limit,
            **options,
        )
        start = stage.factor
        dual = smooth.at(start, rho=stage.rho, exact=True)
        leading = oracle.leading(dual, tol=0.1 * tol)
        upper = min(upper, objective.share * leading.bound + dual.prior_pull)
        primal = hinge.at(start, rho=stage.rho, exact=True)
        upper = max(upper, primal.value)  # they can differ by rounding
        gap = relative(upper - primal.value, dual.far, primal.value)
        budget.rows.append((primal.value, gap, budget.seconds))
        width *= _SHRINK
        spent = budget.used >= max_iter
        if gap <= tol or not stage.converged or spent or width < _SMALLEST_WIDTH:
            break
    budget.products += oracle.products
    return budget.whole(
        stage,
        rho=primal.rho,
        objective=primal.value,
        upper_bound=upper,
        gap=gap,
        status=_final(stage.status, gap <= tol, spent),
    )


def _final(last: Status, proven: bool, spent: bool) -> Status:
    if proven:
        return Status.CONVERGED
    if last is not Status.CONVERGED:
        return last
    return Status.ITERATION_LIMIT if spent else Status.STALLED
