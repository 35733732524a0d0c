"""Our solver: L-BFGS on a thin factor, certified by the leading eigenvector.

``M = P P' / ||P||_F^2`` with P of size D x d. L-BFGS climbs in P; the gap of the convex problem
then proves that M is optimal, or its eigenvectors are the columns by which P grows. One
evaluation costs two passes over X and none of the work is done on D x D matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from .._typing import Floats
from ..factors import unit
from ..objective import Factored, Objective, Station
from ..result import Result, Status
from ..screening import Screened, worthwhile
from ..spectraplex import DENSE_LIMIT, Oracle
from .lbfgs import History, Pairs
from .line_search import best_step
from .monitor import Callback, Monitor, relative
from .preconditioner import Sketch, scatter_sketch

__all__ = ["low_rank"]

_CHECK_EVERY = 5  # evaluations between looks at the gap inside the range of P and its curvature
_NEAR = 6.0  # times the target: from there on the gap is looked at after every step
_CUT_EVERY = 20  # evaluations between attempts to drop idle columns
_GROW_BY = 8  # eigenvectors looked at, at the least
_GROW_MOST = 64
_ARMIJO = 1e-4
_FIRST_LOOK = 1e-1  # the inner gap at which the first certificate is made
_SETTLED = 0.8  # share of tol at which the inner gap asks for one
_IDLE = 1e-8  # a column direction with less of the trace is dropped before growing
_HISTORY_BYTES = 1 << 28


def low_rank(
    objective: Objective,
    *,
    start: Floats | None = None,
    tol: float = 1e-4,
    max_iter: int = 3000,
    time_limit: float | None = None,
    callback: Callback | None = None,
    rank: int = 64,
    corrections: int = 15,
    dense_limit: int = DENSE_LIMIT,
    history_bytes: int = _HISTORY_BYTES,
    screen: bool = True,
    seed: int = 0,
) -> Result:
    """Maximise F over the spectraplex to a relative gap of ``tol``.

    Parameters
    ----------
    start : (D, d) factor to start from
    rank : columns of the factor at the start, at most; more than the rank of the optimum is best,
        which for m comparisons is seldom above the root of m
    corrections : steps that L-BFGS remembers, fewer where ``history_bytes`` does not allow them
    dense_limit : up to this dimension the certificate decomposes G whole
    screen : skip comparisons that cannot count, where that saves time; the steps are the same
    """
    oracle = Oracle(objective, dense_limit=dense_limit, seed=seed)
    monitor = Monitor(oracle, objective.share, tol, max_iter, time_limit, callback)
    sketch = scatter_sketch(objective, oracle, min(rank, math.isqrt(objective.n_comparisons) + 1))
    P = sketch.start if start is None else start
    seen = Screened(objective) if screen and worthwhile(objective) else objective
    climb = _Climb(seen, oracle, sketch, History(corrections, history_bytes))
    climb.move_to(objective.at(unit(P)))
    target = max(_FIRST_LOOK, _SETTLED * tol)
    status = None
    try:
        while status is None:
            status = _ascend(climb, monitor, target)
            if status is None:
                rank = climb.point.P.shape[1]
                status = _certify_or_grow(climb, monitor, target)
                grown = climb.point.P.shape[1] > rank
                # Where directions were missing more may be: look again long before the end.
                target = max(_SETTLED * tol, 0.1 * monitor.gap if grown else 0.0)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    whole = climb.whole
    if whole is None or monitor.certified is None or monitor.certified() is not whole:
        whole = climb.tidy(tol)
        monitor.certify(whole, oracle.leading(whole, tol=0.1 * tol, reached=whole.pull))
    return monitor.result(whole, whole.P, status)


def _certify_or_grow(climb: _Climb, monitor: Monitor, target: float) -> Status | None:
    """Prove the optimum, or add the directions that the proof lacks."""
    point = climb.tidy(monitor.tol)
    free = monitor.oracle.confined is None
    leading = monitor.oracle.leading(
        point, climb.growth(), tol=0.1 * monitor.tol, reached=point.pull
    )
    if free and monitor.oracle.confined is not None:
        climb.confine()
        return None
    gap = monitor.certify(point, leading)
    if gap <= monitor.tol:
        return Status.CONVERGED
    if gap <= 2.0 * target and target > _SETTLED * monitor.tol:
        return None  # an early look: nothing is missing, P is just not there yet
    missing = leading.values > point.pull + 0.3 * (leading.values[0] - point.pull)
    if missing.any() and climb.grow(point, leading.vectors[:, missing]):
        return None
    return Status.STALLED


@dataclass
class _Climb:
    """The state of the ascent; ``gradient`` is that of F with respect to P.

    ``whole`` is the point itself while it is the last one evaluated: its arrays are let go before
    the next ones are made.
    """

    objective: Objective | Screened
    oracle: Oracle
    sketch: Sketch
    history: History
    evaluations: int = 0
    whole: Factored | None = None

    def move_to(self, point: Factored, pairs: Pairs | None = None) -> None:
        station = Station.of(point)
        GP = point.gradient()
        norm = float(np.vdot(point.P, point.P))
        gradient = self.oracle.confine(GP - point.pull * point.P)
        gradient *= 2.0 * self.objective.share / norm
        # Together, so that an interrupt cannot leave half of them behind.
        self.point, self.whole, self.GP, self.gradient = station, point, GP, gradient
        self.history.pairs = self.history.pairs if pairs is None else pairs
        self.evaluations += 1

    def step(self) -> bool:
        """One L-BFGS step with a backtracking line search; False if rounding forbids progress."""
        p, g = self.point, self.gradient
        direction = self.history.direction(g)
        if not self.history.pairs:
            length = float(np.linalg.norm(direction))
            direction *= 0.1 * float(np.linalg.norm(p.P)) / max(length, 1e-300)
        slope = float(np.vdot(g, direction))
        # Close to the optimum F changes by less than its rounding error while the gap still falls.
        noise = 8.0 * self.objective.eps * max(abs(p.value), p.rho, p.far)
        alpha, self.whole = 1.0, None
        while slope > 0.0 and alpha > 1e-8:
            trial = self.objective.at(p.P + alpha * direction, rho=p.rho)
            if trial.value >= p.value + _ARMIJO * alpha * slope - noise:
                self.move_to(trial)
                self.history.learn(alpha * direction, g - self.gradient)
                return True
            self.evaluations += 1
            shortfall = p.value + alpha * slope - trial.value
            alpha *= min(0.5, max(0.1, alpha * slope / (2.0 * shortfall)))
        return False

    def adapt(self) -> None:
        """Precondition by the curvature at this point."""
        share = self.objective.share
        self.history.precondition = self.sketch.inverse_hessian(self.point, share)

    def inner_gap(self) -> tuple[float, Floats, Floats]:
        """The relative gap over the range of P alone, and the spectrum of M in P's columns."""
        p = self.point
        norm = float(np.vdot(p.P, p.P))
        weights, W = eigh(p.P.T @ p.P / norm)
        kept = weights > 1e-12 * weights[-1]
        B = W[:, kept] / np.sqrt(weights[kept])
        A = B.T @ (p.P.T @ self.GP / norm) @ B
        top = float(eigh(0.5 * (A + A.T), eigvals_only=True)[-1])
        gap = relative(self.objective.share * (top - p.pull), p.far, p.value)
        return gap, weights, W

    def confine(self) -> None:
        """Start again inside the span of the differences: outside it, P may have gone astray."""
        self.history.clear()
        self.move_to(self.objective.at(unit(self.oracle.confine(self.sketch.start))))

    def busy(self, weights: Floats, W: Floats, least: float) -> npt.NDArray[np.bool_]:
        """Which of the columns P W carry some of the trace, or of the distances."""
        S = np.einsum("ij,ij->j", W, self.sketch.spread(self.point.P) @ W)
        busy: npt.NDArray[np.bool_] = (weights > least * weights[-1]) | (least * S.max() < S)
        return busy

    def tidy(self, tol: float) -> Factored:
        """Drop directions without weight; return the point, evaluated whole and in float64."""
        _, weights, W = self.inner_gap()
        kept = self.busy(weights, W, min(_IDLE, 1e-3 * tol))
        if not kept.all() or self.whole is None or self.objective.rounded:
            return self.rotate(W[:, kept], exact=True)
        return self.whole

    def rotate(self, W: Floats, *, exact: bool = False) -> Factored:
        """Change to the columns P W: M stays the same but for the columns left out."""
        pairs = self.history.carried(lambda A: A @ W)
        self.whole = None
        point = self.objective.at(self.point.P @ W, rho=self.point.rho, exact=exact)
        self.move_to(point, pairs)
        return point

    def growth(self) -> int:
        """How many directions to add: as many again where every column of P is in use."""
        D, rank = map(int, self.point.P.shape)
        return min(D, max(_GROW_BY, min(rank, _GROW_MOST, D - rank)))

    def grow(self, point: Factored, V: Floats) -> bool:
        """Add the columns V with the weight that serves F best; False if none does."""
        line = point.toward(V)
        alpha = best_step(line)
        weights = np.sqrt([1.0 - alpha, alpha])
        P = np.hstack([weights[0] * unit(self.point.P), weights[1] * unit(V)])
        grown = self.objective.at(P, rho=self.point.rho)
        if grown.value <= self.point.value:
            return False
        empty = np.zeros(V.shape)
        self.move_to(grown, self.history.carried(lambda A: np.hstack([A, empty])))
        return True


def _ascend(climb: _Climb, monitor: Monitor, target: float) -> Status | None:
    """Climb until the gap inside the range of P is below ``target``, or no step is possible."""
    next_look = next_check = climb.evaluations
    next_cut = next_check + _CUT_EVERY
    while True:
        monitor.n_iter = climb.evaluations
        P = climb.point.P
        status = monitor.stop(climb.point.value, P.shape[1], partial(unit, P))
        if status is not None:
            return status
        if climb.evaluations >= next_look:
            gap, weights, W = climb.inner_gap()
            if gap <= target:
                return None
            if climb.evaluations >= next_check:
                next_check = climb.evaluations + _CHECK_EVERY
                kept = climb.busy(weights, W, _IDLE)
                if climb.evaluations >= next_cut and kept.sum() <= 0.8 * len(kept):
                    next_cut = climb.evaluations + _CUT_EVERY
                    climb.rotate(W[:, kept])
                climb.adapt()
            next_look = climb.evaluations + 1 if gap < _NEAR * target else next_check
        if not climb.step():
            if not climb.history.pairs:
                return None
            climb.history.clear()
