"""The monitor that every solver uses: limits, certificates, history, callback, solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Self
from weakref import ReferenceType, ref

import numpy as np

from .._support.typing import Floats
from ..problem.protocols import FactorPoint, Objective, Point
from ..problem.result import HISTORY, Dual, Progress, Solution, Status
from ..spectraplex.factors import unit
from ..spectraplex.oracle import Leading, Oracle
from .protocol import Limits, certify_last

__all__ = ["Monitor", "bracket", "relative", "rounding"]

_EPS = float(np.finfo(np.float64).eps)
# Objective and bound are sums of up to millions of rounded numbers. Where they contradict each
# other by no more than this share of their terms, they are equal; by more, one of them is wrong.
_ROUNDING = 1e-12


def relative(gap: float, far_weight: float, value: float) -> float:
    """Return a gap relative to the weighted far distance, ``sum_r w_r d_M(far_r)``.

    The far distance is zero if all slopes are zero, or all far items coincide under M. Then a gap
    within the rounding of the objective counts as 0, and any other as infinite. NaN is infinite.
    """
    if far_weight > 0.0:
        return gap / far_weight if gap >= 0.0 else np.inf
    return 0.0 if far_weight == 0.0 and gap <= 1e-10 * max(1.0, abs(value)) else np.inf


def rounding(point: FactorPoint) -> tuple[float, float]:
    """Return the usual and the largest size of rounding in F, ``<G, M>`` and the bound."""
    terms = abs(point.value) + point.rho + abs(point.inner_GM) + 2.0 * point.far_weight
    of_distances = point.rounding  # once, since it is a pass over the items
    return 16.0 * _EPS * terms + of_distances, _ROUNDING * terms + 16.0 * of_distances


def bracket(value: float, gap: float, best: float, room: float) -> tuple[float, float]:
    """Return the upper bound and the gap at a point with this objective.

    A negative gap, or an earlier bound ``best`` below the objective, is a contradiction: then
    nothing is proven, and both are infinite. So they are for NaN. Within the ``room`` that rounding
    needs, objective and bound are equal.
    """
    if not (gap >= -room and best >= value - room):
        return np.inf, np.inf
    gap = max(gap, 0.0)
    return max(value, min(best, value + gap)), gap


class Certified(NamedTuple):
    """A certified point, without its large arrays."""

    factor: Floats
    rho: float
    value: float
    gap: float
    dual: Dual


@dataclass
class Monitor:
    """Counts evaluations, keeps the best bound and decides when to stop."""

    oracle: Oracle
    learned_share: float
    limits: Limits
    upper_bound: float
    n_iter: int = 0
    gap: float = np.inf
    inner_gap: float = np.inf  # over the directions of the factor alone, for callbacks
    last: Certified | None = None
    proven: ReferenceType[Point] | None = None  # weak, so that the point's arrays can go
    rows: list[tuple[float, float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, objective: Objective, limits: Limits) -> Self:
        """Make the monitor of a solver that starts now."""
        return cls(limits.oracle(objective), objective.learned_share, limits, limits.upper_bound)

    def leading(self, point: FactorPoint, k: int = 1, most: int = 0) -> Leading:
        """Return k leading eigenpairs of G, closely enough for a certificate of this point.

        Up to ``most`` of them if more cost nothing.
        """
        if self.learned_share == 0.0:  # M is the prior, whatever G is
            return Leading(np.array([-np.inf]), point.P[:, :1], -np.inf)
        tol = 0.1 * self.limits.tol
        inner = point.inner_GM
        return self.oracle.leading(point, k, most=most, tol=tol, reached=inner, near=point.P)

    def prove(self, point: FactorPoint) -> float:
        """Certify a point with an eigenvector of its own; return the gap."""
        return self.certify(point, self.leading(point))

    def certify(self, point: FactorPoint, leading: Leading) -> float:
        """Record the bound ``F* <= F(M) + (1 - t)(lambda_max(G) - <G, M'>)``; return the gap."""
        usual, most = rounding(point)
        gap = self._absolute_gap(point, leading)
        self.upper_bound, gap = bracket(point.value, gap, self.upper_bound, most)
        if leading.rough:  # no time for a closer one: the best bound so far may do better
            gap = self.upper_bound - point.value
        # F and <G, M> are rounded themselves. That matters if the far distances are so small that
        # the relative gap divides by little.
        self._record(point, gap + usual)
        dual = Dual(self._linear_bound(leading) + point.inner_GM0, point.far_weight, (usual, most))
        self.last = Certified(unit(point.P), point.rho, point.value, self.gap, dual)
        # At last: an interrupt before this line leaves a point that is certified once more.
        self.proven = ref(point)
        return self.gap

    def estimate_gap(self, point: Point, leading: Leading) -> None:
        """Add a gap to the history but not to the bound, since ``leading`` may be an estimate."""
        self._record(point, max(self._absolute_gap(point, leading), 0.0))  # NaN stays NaN

    def has_proven(self, point: Point | None) -> bool:
        """Whether this very point is the one certified last."""
        return point is not None and self.proven is not None and self.proven() is point

    def stop(self, value: float, rank: int, factor: Callable[[], Floats]) -> Status | None:
        """Return why the solver must stop now, the callback or a limit; None to go on."""
        limits = self.limits
        # The callback first, so that it also sees the last point before a limit.
        if limits.callback is not None:
            seconds = limits.deadline.seconds
            now = Progress(
                self.n_iter, value, self.gap, seconds, rank, factor, inner_gap=self.inner_gap
            )
            if limits.callback(now):
                return Status.STOPPED
        return self.reached

    @property
    def reached(self) -> Status | None:
        """The limit that is reached, None if none is."""
        return self.limits.reached(self.n_iter)

    def solution(self, status: Status, certify: Callable[[], object]) -> Solution:
        """Make the solution at the point where the loop ended, which ``certify`` certifies.

        If Ctrl-C or a lack of memory prevents that, it is the solution at the point certified last.
        """
        status = certify_last(status, certify, self.last is not None)
        assert self.last is not None
        return Solution(
            factor=self.last.factor,
            rho=self.last.rho,
            objective=self.last.value,
            upper_bound=self.upper_bound,
            gap=self.last.gap,
            status=status,
            n_iter=self.n_iter,
            n_products=self.oracle.products,
            history=np.array(self.rows, dtype=HISTORY),
            dual=self.last.dual,
        )

    def _linear_bound(self, leading: Leading) -> float:
        # M is the prior if nothing is learned, whatever G is.
        return self.learned_share * leading.bound if self.learned_share > 0.0 else 0.0

    def _absolute_gap(self, point: Point, leading: Leading) -> float:
        return self._linear_bound(leading) - self.learned_share * point.inner_GM + point.slack

    def _record(self, point: Point, gap: float) -> None:
        self.gap = relative(gap, point.far_weight, point.value)
        self.rows.append((point.value, self.gap, self.limits.deadline.seconds))
