"""Evaluations that skip comparisons whose slope must be zero.

A comparison with ``z > rho + support`` has slope zero. Take a point M0 where all margins are known.
For every M with ``-r B <= M - M0 <= r B`` a distance changes by at most r times the distance under
B. B is M0 plus a little of the identity, so r is a relative change of distances. Comparisons that
stay beyond the margin in this whole ball are left out, which changes nothing, until a step leaves
the ball. Then all comparisons are evaluated and a new ball is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh, qr

from .._support.typing import Dense, Floats
from ..engines.threads import map_blocks
from ..spectraplex.factors import unit
from .losses import Loss, vanishes

if TYPE_CHECKING:
    from .edge_points import EdgeFactorPoint
    from .objective import EdgeObjective

__all__ = ["Screened", "relative_change", "worthwhile"]

# The share of the identity in B. Without it no M with a direction that M0 lacks would be in a ball;
# the more of it, the fewer comparisons a ball leaves out.
_FLOOR = 0.05
# A ball is made for this many steps like the last one. A ball that the next step leaves is wasted,
# a large one leaves out little.
_REACH = 4.0
# Radii of balls. Below the smallest a ball would be left, and made again, for little more to skip.
# Beyond the largest (early, long steps) margins may change by a third of the distances, and few
# comparisons stay outside.
_SMALLEST, _LARGEST = 0.01, 0.3
# The largest share of comparisons that a ball may keep: it costs a pass over all and a copy.
_WORTH = 0.5
# Comparisons; with fewer, fixed costs dominate: fits to 62,850 comparisons of digits take 15 % less
# without balls, fits to 100,000 and 200,000 of other sets 5 % more.
_MANY = 1 << 16
# Columns of X whose product costs as much as the gathers along one edge per item. If products
# dominate, skipping comparisons gains nothing (docs/performance.md).
_LONG = 16.0


def worthwhile(objective: EdgeObjective) -> bool:
    """Whether comparisons, and not products with X, take most of the time of an evaluation."""
    n, D = objective.X.shape
    if len(objective.comparisons) < _MANY or objective.n_edges * _LONG < n * D:
        return False
    return vanishes(objective.loss)


@dataclass(frozen=True, eq=False)
class Ball:
    """An objective without the comparisons that have slope zero around P.

    It equals the whole objective within ``radius`` of P, as long as rho is at most ``rho``.
    """

    objective: EdgeObjective
    P: Floats
    radius: float
    rho: float


class Screened:
    """An objective for a solver's steps; certificates (``exact``) are made with all comparisons."""

    def __init__(self, whole: EdgeObjective) -> None:
        self.whole = whole
        self.ball: Ball | None = None
        self.last: Floats | None = None
        self.skipped = 0  # comparisons, in all evaluations

    @property
    def n_features(self) -> int:
        return self.whole.n_features

    @property
    def n_comparisons(self) -> int:
        return self.whole.n_comparisons

    @property
    def n_edges(self) -> int:
        return self.whole.n_edges

    @property
    def learned_share(self) -> float:
        return self.whole.learned_share

    @property
    def eps(self) -> float:
        return self.whole.eps

    @property
    def needs_exact(self) -> bool:
        """Whether the last evaluation skipped comparisons, or was rounded to float32."""
        return self.ball is not None or self.whole.needs_exact

    @property
    def cache(self) -> dict[Any, Any]:
        return self.whole.cache

    def scatter(self, V: Floats, /) -> Floats:
        return self.whole.scatter(V)

    def scatter_roots(self) -> Iterator[Floats]:
        return self.whole.scatter_roots()

    def with_loss(self, loss: Loss, /) -> Screened:
        return Screened(self.whole.with_loss(loss))

    def screened(self) -> Screened:
        return self

    def at(self, P: Floats, /, *, rho: float = 0.0, exact: bool = False) -> EdgeFactorPoint:
        """Evaluate F with the comparisons of the ball, or with all if P or rho leaves it."""
        # 1. Certificates use all comparisons.
        if exact:
            return self.whole.at(P, rho=rho, exact=True)
        P_last, self.last = self.last, P
        # 2. Inside the ball, as long as rho stays below its limit, too.
        ball = self.ball
        if ball is not None and relative_change(P, ball.P) <= ball.radius:
            point = ball.objective.at(P, rho=rho)
            if point.rho <= ball.rho:
                self.skipped += len(self.whole.comparisons) - len(ball.objective.comparisons)
                return point
        # 3. Outside: evaluate everything, and make a ball as wide as the last step suggests. Free
        #    the old ball before new arrays are made.
        self.ball = ball = None
        point = self.whole.at(P, rho=rho)
        step = np.inf if P_last is None else relative_change(P, P_last)
        self.ball = self._around(point, _REACH * step)
        return point

    def _around(self, point: EdgeFactorPoint, radius: float) -> Ball | None:
        """Make a ball around a point, or None if it would not save enough."""
        if radius > _LARGEST:
            return None
        radius = max(radius, _SMALLEST)
        whole, c = self.whole, self.whole.comparisons
        # rho may grow with the distances; `at` checks that it stays below this.
        rho = point.rho + radius * (point.rho + whole.loss.support)
        kept = np.empty(len(c), dtype=bool)
        d, lengths, far, near = point.distances, self._lengths, c.far, c.near

        def fill(r: slice) -> None:
            # By how much the distances can change; under the prior's share they do not.
            change = d[far[r]] + d[near[r]] + _FLOOR * (lengths[far[r]] + lengths[near[r]])
            limit = rho + whole.loss.support + radius * whole.learned_share * change
            np.less_equal(point.z[r], limit, out=kept[r])

        map_blocks(len(c), fill)
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
        """Squared distances under I/D in the units of the objective, rounded up to float32."""
        o = self.whole
        distances = o.X.squared_differences(*o.comparisons.edges.T)
        # They are upper bounds of a change: 1e-6 exceeds the rounding of float32, 6e-8.
        distances *= o.scale / o.n_features * (1.0 + 1e-6)
        return distances.astype(np.float32)


def relative_change(P: Floats, Q: Floats) -> float:
    """Return the least r with ``-r B <= M(P) - M(Q) <= r B``, B = M(Q) + a little of I / D."""
    D = len(P)
    P, Q = unit(P), unit(Q)
    # Outside the span of both factors M(P) - M(Q) is zero: a small eigenproblem is enough.
    if P.shape[1] + Q.shape[1] < D:
        basis = qr(np.hstack([P, Q]), mode="economic")[0]
        P, Q = basis.T @ P, basis.T @ Q
    M0 = Q @ Q.T
    B = M0 + (_FLOOR / D) * np.eye(len(M0))
    extremes = eigh(P @ P.T - M0, B, eigvals_only=True)
    # An upper bound in spite of rounding.
    return float(max(-extremes[0], extremes[-1])) * (1.0 + 1e-6) + 1e-12
