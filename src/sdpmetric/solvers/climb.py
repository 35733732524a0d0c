"""The state of the low-rank solver: the factor P, its gradient, and what may be done with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.linalg import eigh, eigvalsh

from .._support.typing import Floats
from ..linalg.scaling import power_of_two
from ..problem.protocols import FactorPoint, Iterate, Objective
from ..problem.scatter import Sketch
from ..spectraplex.factors import unit
from .certificate import Monitor, relative
from .lbfgs import History, Pairs
from .line_search import best_step
from .preconditioner import inverse_hessian

__all__ = ["IDLE", "Climb"]

IDLE = 1e-8  # a column direction with less of the trace is dropped before growing
_GROW_BY = 8  # the least number of eigenvectors that a certificate computes
# Columns added at once if each costs products: wide blocks make the Krylov method expensive. If the
# matrix is decomposed, P may double.
_GROW_MOST = 64
_ARMIJO = 1e-4  # the usual constant: a step must gain this share of its predicted gain
_EPS = float(np.finfo(np.float64).eps)

Look: TypeAlias = tuple[float, Floats, Floats]


@dataclass
class Climb:
    """The state of the ascent; ``gradient`` is that of F with respect to P.

    ``whole`` is the point itself while it is the last one evaluated: its arrays are freed before
    the next ones are made.
    """

    objective: Objective
    monitor: Monitor
    sketch: Sketch
    history: History
    exact: bool = False  # whether float32 has ended, and steps are exact
    whole: FactorPoint | None = None
    looked: tuple[Iterate, Look] | None = None  # the last look, and where

    def move_to(self, point: FactorPoint, pairs: Pairs | None = None) -> None:
        """Make a point the current one and compute its gradient."""
        iterate = Iterate.of(point)
        GP = point.gradient()
        norm = float(np.vdot(point.P, point.P))
        gradient = self.monitor.oracle.confine(GP - point.inner_GM * point.P)
        gradient *= 2.0 * self.objective.learned_share / norm
        # Together, so that an interrupt cannot leave half of them behind.
        self.point, self.whole, self.GP, self.gradient = iterate, point, GP, gradient
        self.history.pairs = self.history.pairs if pairs is None else pairs
        self.monitor.n_iter += 1

    @property
    def eps(self) -> float:
        """The rounding unit of the steps."""
        return _EPS if self.exact else self.objective.eps

    def sharpen(self) -> bool:
        """Go on in float64; False if steps already are, or if a limit allows no evaluation."""
        if self.eps == _EPS or self.monitor.reached is not None:
            return False
        self.exact, self.whole = True, None
        self.move_to(self.objective.at(self.point.P, rho=self.point.rho, exact=True))
        return True

    def step(self) -> bool:
        """Take an L-BFGS step by backtracking; False if rounding or a limit prevents it."""
        p, g = self.point, self.gradient
        direction = self.monitor.oracle.confine(self.history.direction(g))
        if not self.history.pairs:
            # Without pairs the direction has no length: a tenth of P is a cautious first step.
            # Where nearly all slopes are zero, the model of the curvature can make it huge.
            direction *= power_of_two(float(np.abs(direction).max(initial=0.0)))
            length = float(np.linalg.norm(direction))
            direction *= 0.1 * float(np.linalg.norm(p.P)) / max(length, 1e-300)
        slope = float(np.vdot(g, direction))
        # Close to the optimum F changes by less than its rounding error while the gap still falls.
        noise = 8.0 * self.eps * max(abs(p.value), p.rho, p.far_weight)
        alpha, self.whole = 1.0, None
        while slope > 0.0 and alpha > 1e-8 and self.monitor.reached is None:
            step = direction if alpha == 1.0 else alpha * direction
            trial = self.objective.at(p.P + step, rho=p.rho, exact=self.exact)
            if trial.value >= p.value + _ARMIJO * alpha * slope - noise:
                self.move_to(trial)
                self.history.learn(step, g - self.gradient)
                return True
            self.monitor.n_iter += 1
            # The top of the parabola through both values and the slope, kept within safe bounds.
            shortfall = p.value + alpha * slope - trial.value
            alpha *= min(0.5, max(0.1, alpha * slope / (2.0 * shortfall)))
        return False

    def adapt(self) -> None:
        """Precondition by the curvature at this point."""
        learned_share = self.objective.learned_share
        self.history.model = inverse_hessian(self.sketch, self.point, learned_share)

    def inner_gap(self) -> Look:
        """Return the relative gap over the range of P alone, and the spectrum of M in P's columns.

        It needs no product with X: ``P' G P`` comes from the gradient. Computed once at a point.
        """
        p = self.point
        if self.looked is None or self.looked[0] is not p:
            self.looked = p, self._look(p)
        return self.looked[1]

    def _look(self, p: Iterate) -> Look:
        norm = float(np.vdot(p.P, p.P))
        weights, W = eigh(p.P.T @ p.P / norm)
        kept = int(np.count_nonzero(weights > 1e-12 * weights[-1]))  # ascending; B divides by them
        B = W[:, -kept:] / np.sqrt(norm * weights[-kept:])
        A = B.T @ (p.P.T @ self.GP) @ B
        top = float(eigvalsh(0.5 * (A + A.T))[-1])
        gap = max(self.objective.learned_share * (top - p.inner_GM), 0.0)
        return relative(gap, p.far_weight, p.value), weights, W

    def stay_inside(self) -> bool:
        """Move into the span of the differences for good if <G, M> < 0; True if that moved P.

        G is zero outside, which then is better than M: the rounding of P there grows step by step.
        """
        oracle = self.monitor.oracle
        if not self.point.inner_GM < 0.0 or oracle.confined is not None:
            return False
        if self.monitor.reached is not None:
            return False  # `certify` does it, without a step
        oracle.stay_inside()
        if oracle.confined is None:  # the span is everything, or not known
            return False
        self.confine()
        return True

    def confine(self) -> None:
        """Move P into the span of the differences."""
        self.history.clear()
        self.whole = None
        P = self.inside(self.point.P)
        self.move_to(self.objective.at(P, rho=self.point.rho, exact=self.exact))

    def inside(self, P: Floats) -> Floats:
        """Return the factor P projected on the span, or the start if little of M is left there."""
        oracle = self.monitor.oracle
        inside = oracle.confine(unit(P))
        if np.vdot(inside, inside) < 0.5:
            inside = oracle.confine(self.sketch.start)
        return unit(inside)

    def busy(self, weights: Floats, W: Floats, least: float) -> npt.NDArray[np.bool_]:
        """Mark the columns of P W that carry some of the trace or of the distances."""
        # Also of the distances: in large units a tiny share of the trace can make most of them.
        S = np.einsum("ij,ij->j", W, self.sketch.spread(self.point.P) @ W)
        busy: npt.NDArray[np.bool_] = (weights > least * weights[-1]) | (least * S.max() < S)
        return busy

    def kept(self) -> Floats | None:
        """Return the columns W such that ``P W`` has weight in each; None if P itself has."""
        _, weights, W = self.inner_gap()
        kept = self.busy(weights, W, min(IDLE, 1e-3 * self.monitor.limits.tol))
        # Only the last point evaluated, of all comparisons and in float64, can be certified.
        exact = self.whole is not None and (self.exact or not self.objective.needs_exact)
        return None if kept.all() and exact else W[:, kept]

    def tidy(self) -> FactorPoint:
        """Drop directions without weight; return the point, with all comparisons and in float64."""
        W = self.kept()
        if W is not None:
            return self.rotate(W, exact=True)
        assert self.whole is not None
        return self.whole

    def certify(self) -> None:
        """Certify the point where the climb ended; it takes no step, so it needs no gradient."""
        monitor, oracle = self.monitor, self.monitor.oracle
        if monitor.has_proven(self.whole):
            return
        W, point = self.kept(), self.whole
        P = self.point.P if W is None else self.point.P @ W
        if W is not None:
            point = None
        # Steps stay inside the span once the oracle asks for it; before, P may have left it.
        inside = oracle.confined is not None
        if self.point.inner_GM < 0.0:
            oracle.stay_inside()
        while True:
            if oracle.confined is not None and not inside:
                P, point, inside = self.inside(P), None, True
            if point is None:
                self.whole = None
                point = self.objective.at(P, rho=self.point.rho, exact=True)
            leading = monitor.leading(point)
            if inside or oracle.confined is None:
                break
        monitor.certify(point, leading)

    def rotate(self, W: Floats, *, exact: bool = False) -> FactorPoint:
        """Change to the columns P W: M stays the same except for the columns left out."""
        pairs = self.history.carried(lambda A: A @ W)
        self.whole = None
        exact = exact or self.exact
        point = self.objective.at(self.point.P @ W, rho=self.point.rho, exact=exact)
        self.move_to(point, pairs)
        return point

    def growth(self) -> tuple[int, int]:
        """Return how many directions to look for, and how many if they cost nothing.

        As many as P has columns, within limits.
        """
        D, rank = map(int, self.point.P.shape)
        most = min(D, max(_GROW_BY, min(rank, D - rank)))
        return min(_GROW_MOST, most), most

    def grow(self, point: FactorPoint, V: Floats) -> bool:
        """Add the columns V with the weight that makes F largest; False if F does not grow."""
        line = point.toward(V)
        alpha = best_step(line)
        weights = np.sqrt([1.0 - alpha, alpha])
        P = np.hstack([weights[0] * unit(self.point.P), weights[1] * unit(V)])
        grown = self.objective.at(P, rho=self.point.rho, exact=self.exact)
        if grown.value <= self.point.value:
            self.monitor.n_iter += 1
            return False
        empty = np.zeros(V.shape)
        self.move_to(grown, self.history.carried(lambda A: np.hstack([A, empty])))
        return True
