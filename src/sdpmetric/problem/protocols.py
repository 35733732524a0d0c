"""The protocols between problem and solver: an objective, its points, and lines between them.

A solver uses nothing else, so it cannot tell an objective in memory from one that skips comparisons
or one on a cluster. M' is the learned part of ``M = (1 - t) M' + t M0``, F(M) is the objective with
the best rho, and G is the gradient of F.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from .._support.typing import Floats
from .losses import Loss

__all__ = ["FactorPoint", "Iterate", "Line", "Objective", "Point"]


class Objective(Protocol):
    """The function F on the spectraplex that a solver maximises."""

    @property
    def n_features(self) -> int:
        """D, the number of rows of a factor."""

    @property
    def n_comparisons(self) -> int:
        """m, the number of comparisons."""

    @property
    def n_edges(self) -> int:
        """The number of distinct pairs that comparisons use."""

    @property
    def learned_share(self) -> float:
        """``1 - t``, the share of M that is learned."""

    @property
    def eps(self) -> float:
        """The rounding unit of the products in an evaluation, float32's or float64's."""

    @property
    def needs_exact(self) -> bool:
        """Whether a certificate at the last point needs another call of `at` with ``exact``."""

    @property
    def cache(self) -> dict[Any, Any]:
        """Results that depend on items and comparisons alone, shared by all fits of a path."""

    def at(self, P: Floats, /, *, rho: float = 0.0, exact: bool = False) -> FactorPoint:
        """Evaluate F at ``M' = P P' / ||P||_F^2``: one pass over the items.

        ``rho`` is where the search for the best rho starts. ``exact``: all comparisons, in float64.
        """

    def scatter(self, V: Floats, /) -> Floats:
        """Return S V; S is the mean of ``d d'`` over the edges, in the units of the distances."""

    def scatter_roots(self) -> Iterable[Floats]:
        """Yield R with ``R' R`` the sum of ``d d'`` over more and more edges, finally over all."""

    def with_loss(self, loss: Loss, /) -> Objective:
        """The same comparisons under another loss."""

    def screened(self) -> Objective:
        """The same function for a solver's steps, the same but for rounding.

        It may skip comparisons that cannot count, or compute in float32 what is not ``exact``.
        """


class Point(Protocol):
    """The value and derivatives of F at some M'; immutable.

    ``inner_GM = <G, M'>``, ``inner_GM0 = t <G, M0>`` and ``far_weight = sum_r w_r d_M(far_r)``.
    ``slack = rho (sum_r w_r - 1)`` is added to the dual bound, since rho is exact only up to
    rounding.
    ``curvature = sum_r c_r loss''(z_r - rho)``.
    """

    @property
    def value(self) -> float: ...
    @property
    def rho(self) -> float: ...
    @property
    def inner_GM(self) -> float: ...
    @property
    def inner_GM0(self) -> float: ...
    @property
    def far_weight(self) -> float: ...
    @property
    def slack(self) -> float: ...
    @property
    def curvature(self) -> float: ...
    def times(self, V: Floats, /) -> Floats:
        """``G V`` in float64, for the eigenvector oracle: two passes over the items."""

    def toward(self, V: Floats, /) -> Line:
        """The line from M' to ``V V' / ||V||_F^2``: one pass over the items, then none."""

    def with_rho(self, rho: float | None, /) -> Point:
        """The same M', with rho fixed as in the paper's inner loop, or at its best for None."""


class FactorPoint(Point, Protocol):
    """A point that knows its factor: ``M' = P P' / ||P||_F^2``."""

    @property
    def P(self) -> Floats: ...
    @property
    def rounding(self) -> float:
        """About how far F is off because rows that lie far from zero are close to each other."""

    def gradient(self) -> Floats:
        """``G P``, from the product ``X P`` that the point keeps: one pass over the items.

        As exact as the point itself.
        """


class Line(Protocol):
    """F along ``M' + alpha (V V' / ||V||_F^2 - M')``, 0 <= alpha <= 1, from cached distances."""

    def __call__(self, alpha: float, /) -> tuple[float, float]:
        """F and its derivative."""

    def point(self, alpha: float, /) -> Point: ...


class Iterate(NamedTuple):
    """The numbers of a `FactorPoint` without its large arrays, which can then be freed."""

    P: Floats
    value: float
    rho: float
    inner_GM: float
    far_weight: float
    curvature: float

    @classmethod
    def of(cls, point: FactorPoint) -> Iterate:
        """Copy the numbers of a point. Compute its gradient before the point is dropped."""
        return cls(
            P=point.P,
            value=point.value,
            rho=point.rho,
            inner_GM=point.inner_GM,
            far_weight=point.far_weight,
            curvature=point.curvature,
        )
