"""The default solver: L-BFGS on a thin factor, certified by the leading eigenvector.

``M = P P' / ||P||_F^2`` with P of size D x d.

1. Start from the leading directions of the scatter of the compared differences.
2. Climb in P by L-BFGS, until the gap over the range of P alone is small.
3. Compute the gap over the whole spectraplex. If it is below tol, M is proven optimal: stop.
4. Else the leading eigenvectors of G are directions that P lacks: add them as columns, go to 2.

One evaluation costs two passes over the items, and none of the work is done on D x D matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._support.checks import check_integer
from .._support.typing import Floats
from ..problem.protocols import Objective
from ..problem.result import Solution, Status
from ..problem.scatter import scatter_sketch
from ..spectraplex.factors import unit
from .certificate import Monitor
from .climb import IDLE, Climb
from .lbfgs import History
from .protocol import Limits, until_interrupted

__all__ = ["LowRank"]

_CHECK_EVERY = 5  # evaluations between two computations of the inner gap and the preconditioner
# Below this many times the target the inner gap is computed after every step: 6 to 13 % fewer
# evaluations (docs/performance.md has a path over C).
_NEAR = 6.0
_CUT_EVERY = 20  # evaluations between attempts to drop idle columns
# The inner gap at which the first certificate is made. Early, since steps without the missing
# directions are wasted: 115 evaluations instead of 274 on 10,000 rows (docs/performance.md).
_FIRST_LOOK = 1e-1
_SETTLED = 0.8  # the share of tol for the inner gap: the whole gap is a little larger
# During the climb, column directions with less of the trace than this share of the gap are dropped:
# they cannot close the gap, and most never come back. If one was needed after all, the next
# certificate finds it.
_IDLE_SHARE = 1e-3
# The inner gap below which float32 steps gain nothing, measured on MNIST: rounding of the slopes.
_SINGLE_GAP = 3e-5
_PATIENCE = 60  # evaluations in float32 for which the inner gap may stay where it is
_HISTORY_BYTES = 1 << 28  # 256 MB: a limit for wide data only


@dataclass(frozen=True)
class LowRank:
    """Maximise F over the spectraplex by L-BFGS on a factor.

    Parameters
    ----------
    rank : columns of the factor at the start, at most; more than the rank of the optimum is best,
        which for m comparisons is seldom above the root of m
    corrections : steps that L-BFGS remembers, fewer where ``history_bytes`` does not allow them
    history_bytes : memory for these steps
    screen : skip comparisons that cannot count, or multiply in float32, where that saves time; the
        steps are the same but for rounding, and where rounding matters they go on in float64
    """

    rank: int = 64
    corrections: int = 15
    history_bytes: int = _HISTORY_BYTES
    screen: bool = True

    def __post_init__(self) -> None:
        for name in ("rank", "corrections", "history_bytes"):
            check_integer(f"solver_options[{name!r}]", getattr(self, name), 1)
        screen: Any = self.screen
        if not isinstance(screen, (bool, np.bool_)):
            raise ValueError(f"solver_options['screen'] must be a bool, got {screen!r}.")

    def __call__(self, objective: Objective, start: Floats | None, limits: Limits, /) -> Solution:
        monitor = Monitor.of(objective, limits)
        # An optimum over m comparisons seldom has a higher rank than the root of m. Fewer columns
        # make fits of 200 to 2,000 comparisons 1.3 to 2 times as fast (docs/performance.md).
        rank = min(self.rank, math.isqrt(objective.n_comparisons) + 1)
        sketch = scatter_sketch(objective, monitor.oracle, rank)
        steps = objective.screened() if self.screen else objective
        history = History(self.corrections, self.history_bytes)
        climb = Climb(steps, monitor, sketch, history)
        climb.move_to(objective.at(unit(sketch.start if start is None else start)))
        if start is not None:
            climb.stay_inside()  # a cold start may wait for its first certificate, and begin again
        status = until_interrupted(partial(_maximise, climb))
        return monitor.solution(status, climb.certify)


def _maximise(climb: Climb) -> Status:
    """Climb and certify in turn until the gap is proven or a limit is reached."""
    monitor = climb.monitor
    tol = monitor.limits.tol
    target = max(_FIRST_LOOK, _SETTLED * tol)
    while True:
        status = _ascend(climb, target)
        if status is not None:
            return status
        rank = climb.point.P.shape[1]
        status = _certify_or_grow(climb, target)
        if status is not None:
            return status
        grown = climb.point.P.shape[1] > rank
        if not grown and target <= _SETTLED * tol:
            climb.sharpen()  # the inner gap is small, the whole one is not: rounding
        # Where directions were missing more may be: look again long before the end.
        target = max(_SETTLED * tol, 0.1 * monitor.gap if grown else 0.0)


def _certify_or_grow(climb: Climb, target: float) -> Status | None:
    """Prove the optimum, or add the directions that the proof lacks."""
    monitor, oracle = climb.monitor, climb.monitor.oracle
    tol = monitor.limits.tol
    point = climb.tidy()
    if climb.stay_inside():
        return None  # the point was moved into the span: climb on from there
    free = oracle.confined is None
    leading = monitor.leading(point, *climb.growth())
    # lambda_max <= 0 was met for the first time: from now on all must stay inside the span.
    if free and oracle.confined is not None:
        if monitor.reached is not None:
            return monitor.reached  # the last certificate is made inside the span
        climb.confine()
        return None
    gap = monitor.certify(point, leading)
    if gap <= tol:
        return Status.CONVERGED
    if monitor.reached is not None:
        return monitor.reached  # to grow would take another evaluation
    if gap <= 2.0 * target and target > _SETTLED * tol:
        return None  # an early certificate: no direction is missing, P has not converged yet
    # Only eigenvectors that promise a good part of the gain of the best one become columns.
    missing = leading.values > point.inner_GM + 0.3 * (leading.values[0] - point.inner_GM)
    if missing.any() and climb.grow(point, leading.vectors[:, missing]):
        return None
    return None if climb.sharpen() else Status.STALLED


def _ascend(climb: Climb, target: float) -> Status | None:
    """Climb until the gap inside the range of P is below ``target``, or no step is possible.

    Three things happen from time to time, each when the number of evaluations reaches a counter:
    the inner gap is computed (``next_look``; more often near the target), the preconditioner is
    made again (``next_adapt``), idle columns are dropped (``next_cut``).
    """
    monitor = climb.monitor
    next_look = next_adapt = monitor.n_iter
    next_cut, least, next_patience = next_adapt + _CUT_EVERY, np.inf, np.inf
    while True:
        # 1. Limits and callback.
        P = climb.point.P
        status = monitor.stop(climb.point.value, P.shape[1], partial(unit, P))
        if status is not None:
            return status
        if monitor.n_iter >= next_look:
            # 2. The inner gap: small enough to ask for a certificate?
            gap, weights, W = climb.inner_gap()
            monitor.inner_gap = gap
            if gap <= target:
                return None
            if gap < 0.8 * least:
                least, next_patience = gap, monitor.n_iter + _PATIENCE
            if gap <= _SINGLE_GAP or monitor.n_iter >= next_patience:
                climb.sharpen()
            if monitor.n_iter >= next_adapt:
                next_adapt = monitor.n_iter + _CHECK_EVERY
                # 3. Drop idle columns if they are a fifth or more: a cut costs an evaluation.
                if monitor.n_iter >= next_cut and monitor.reached is None:
                    if climb.stay_inside():
                        continue
                    # No gap allows to drop all: relative to small far distances it has no limit.
                    kept = climb.busy(weights, W, max(IDLE, _IDLE_SHARE * min(gap, 1.0)))
                    if kept.sum() <= 0.8 * len(kept):
                        next_cut = monitor.n_iter + _CUT_EVERY
                        climb.rotate(W[:, kept])
                # 4. Precondition by the curvature here.
                climb.adapt()
            next_look = monitor.n_iter + 1 if gap < _NEAR * target else next_adapt
        # 5. Take a step of L-BFGS; if none is possible, try once more without its memory.
        if not climb.step() and monitor.reached is None and not climb.sharpen():
            if not climb.history.pairs:
                return None
            climb.history.clear()
