"""Evaluations that skip comparisons which cannot count.

A comparison with ``z > rho + support`` has slope zero. Around a point M0 where all margins are
known, those of every M with ``-r B <= M - M0 <= r B`` change by at most r times the distances under
B, B being M0 and a little of the identity, so that r is a relative change of distances. What stays
beyond the margin in that whole ball is left out, exactly and not approximately, until an M leaves
the ball; then everything is evaluated and a new ball is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, qr

from ._typing import Dense, Floats
from .factors import unit
from .losses import vanishes
from .objective import FactoredMemoryPoint, Objective
from .products import squared_differences
from .threads import over_blocks

__all__ = ["Screened", "relative_change", "worthwhile"]

_FLOOR = 0.05  # the share of the identity in B
_REACH = 4.0  # steps like the last one that a ball is made for
_SMALLEST, _LARGEST = 0.01, 0.3  # radius of a ball
_WORTH = 0.5  # the share of the comparisons that may be left for a ball to be worth it
_MANY = 1 << 15  # comparisons; with fewer, nothing is to be gained
_LONG = 16.0  # columns of X whose product costs as much as the gathers along one edge per item


def worthwhile(objective: Objective) -> bool:
    """Whether comparisons, and not products with X, are what an evaluation costs."""
    n, D = objective.X.shape
    if len(objective.comparisons) < _MANY or objective.n_edges * _LONG < n * D:
        return False
    return vanishes(objective.loss)


@dataclass(frozen=True, eq=False)
class Ball:
    """What is left of an objective within ``radius`` of P, as long as rho is not above ``rho``."""

    objective: Objective
    P: Floats
    radius: float
    rho: float


class Screened:
    """An objective for a solver's steps; certificates (``exact``) are made with all comparisons."""

    def __init__(self, whole: Objective) -> None:
        self.whole = whole
        self.ball: Ball | None = None
        self.last: Floats | None = None
        self.skipped = 0  # comparisons, in all evaluations

    @property
    def share(self) -> float:
        return self.whole.share

    @property
    def eps(self) -> float:
        return self.whole.eps

    @property
    def rounded(self) -> bool:
        """Whether the last evaluation was not a certificate's."""
        return self.ball is not None or self.whole.rounded

    def at(self, P: Floats, *, rho: float = 0.0, exact: bool = False) -> FactoredMemoryPoint:
        if exact:
            return self.whole.at(P, rho=rho, exact=True)
        P_last, self.last = self.last, P
        ball = self.ball
        if ball is not None and relative_change(P, ball.P) <= ball.radius:
            point = ball.objective.at(P, rho=rho)
            if point.rho <= ball.rho:
                self.skipped += len(self.whole.comparisons) - len(ball.objective.comparisons)
                return point
        self.ball = ball = None  # what it holds is let go before new arrays are made
        point = self.whole.at(P, rho=rho)
        step = np.inf if P_last is None else relative_change(P, P_last)
        self.ball = self._around(point, _REACH * step)
        return point

    def _around(self, point: FactoredMemoryPoint, radius: float) -> Ball | None:
        if radius > _LARGEST:
            return None
        radius = max(radius, _SMALLEST)
        whole, c = self.whole, self.whole.comparisons
        rho = point.rho + radius * (point.rho + whole.loss.support)
        kept = np.empty(len(c), dtype=bool)
        d, lengths, far, near = point.learned, self._lengths, c.far, c.near

        def fill(r: slice) -> None:
            # By how much the distances can change; under the prior's share they do not.
            change = d[far[r]] + d[near[r]] + _FLOOR * (lengths[far[r]] + lengths[near[r]])
            limit = rho + whole.loss.support + radius * whole.share * change
            np.less_equal(point.z[r], limit, out=kept[r])

        over_blocks(len(c), fill)
        if np.count_nonzero(kept) > _WORTH * len(kept) or not kept.any():
            return None
        part = whole.replace(
            comparisons=c.subset(kept),
            coefficients=whole.coefficients[kept],
            prior=None if whole.prior is None else whole.prior[c.needed(kept)],
        )
        return Ball(part, point.P, radius, rho)

    @cached_property
    def _lengths(self) -> Dense:
        """Squared distances under I/D, in the units of the objective, not too small."""
        o = self.whole
        distances = squared_differences(o.X, *o.comparisons.edges.T)
        distances *= o.scale / o.n_features * (1.0 + 1e-6)
        return distances.astype(np.float32)


def relative_change(P: Floats, Q: Floats) -> float:
    """The least r with ``-r B <= M(P) - M(Q) <= r B``, B being M(Q) and a little of I / D."""
    D = len(P)
    P, Q = unit(P), unit(Q)
    if P.shape[1] + Q.shape[1] < D:
        basis = qr(np.hstack([P, Q]), mode="economic")[0]
        P, Q = basis.T @ P, basis.T @ Q
    M0 = Q @ Q.T
    B = M0 + (_FLOOR / D) * np.eye(len(M0))
    extremes = eigh(P @ P.T - M0, B, eigvals_only=True)
    return float(max(-extremes[0], extremes[-1])) * (1.0 + 1e-6) + 1e-12
