"""F over all triplets of a labelled set, none of which is listed: sums over tiles of margins.

A list takes hundreds of bytes and half a microsecond for each triplet. If nearly all of 100 million
are inside the margin, there may be time or memory for a few passes over the pairs of rows, and for
no list. A few passes certify any metric: one for each rho that is tried, then one for the slopes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, NoReturn, TypeAlias

import numpy as np

from .._support.typing import Floats, Ints
from ..linalg.kernels.margins import fill_margins, first_bracket, next_rho
from ..linalg.laplacian import Laplacian
from ..linalg.mapped import WeightedTables
from ..problem.losses import Hinge, Loss
from ..problem.margin import weighted_slopes, weighted_sums
from ..problem.objective import EdgeObjective
from ..problem.units import Problem
from ..spectraplex.oracle import DENSE_LIMIT
from .all_triplets import AllTriplets
from .remembered import RememberedTiles

__all__ = ["StreamedObjective", "StreamedPoint"]

# The dimension up to which the pass over the slopes also sums up a D x D matrix. The oracle needs
# all of it there; above, each product with G is a pass of its own.
_FORMED = DENSE_LIMIT

Sums: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class StreamedObjective:
    """F over all triplets, to certify a metric; steps would take too long.

    ``spanning`` is an objective whose differences span those of all triplets.
    """

    problem: Problem
    triplets: AllTriplets
    spanning: EdgeObjective
    loss: Loss
    needs_exact: bool = False

    @property
    def n_features(self) -> int:
        return self.spanning.n_features

    @property
    def n_comparisons(self) -> int:
        return self.triplets.count()

    @property
    def n_edges(self) -> int:
        return self.spanning.n_edges

    @property
    def learned_share(self) -> float:
        return self.spanning.learned_share

    @property
    def eps(self) -> float:
        return float(np.finfo(np.float64).eps)

    @property
    def cache(self) -> dict[Any, Any]:
        return self.spanning.cache

    def scatter(self, V: Floats, /) -> Floats:
        return self.spanning.scatter(V)

    def scatter_roots(self) -> Iterable[Floats]:
        return self.spanning.scatter_roots()

    def with_loss(self, loss: Loss, /) -> StreamedObjective:
        return replace(self, loss=loss)

    def screened(self) -> StreamedObjective:
        return self

    def at(self, P: Floats, /, *, rho: float = 0.0, exact: bool = False) -> StreamedPoint:
        """Evaluate F at ``M' = P P' / ||P||_F^2``: a pass over the pairs for each rho tried."""
        items = self.problem.mapped(P)
        tiles = RememberedTiles(self.triplets, items)
        sums = cache(partial(self._sums, tiles))  # the last rho tried is most often the best one
        best = self._best_rho(items, sums, rho)
        paid, _, curvature = sums(best)
        return StreamedPoint(self, P, tiles, best, best - paid, curvature)

    def _best_rho(
        self, items: WeightedTables, sums: Callable[[float], Sums], guess: float
    ) -> float:
        """Return rho*, as `problem.margin.best_rho` does for margins that are listed."""
        unit = self.problem.unit
        if type(self.loss) is Hinge:
            # Without curvature `next_rho` would halve its bracket some 50 times. But slopes only
            # count the margins below rho here.
            return max(0.0, self.triplets.quantile(items, 1.0 / unit))
        if guess == 0.0:  # a sample makes a guess in a fraction of a pass
            guess, _ = self.triplets.estimate(items, self.loss, unit)
        bracket, done = first_bracket(guess), False
        while not done:
            _, slopes, curvature = sums(float(bracket[0]))
            bracket, done = next_rho(bracket, slopes, curvature)
        return float(bracket[0])

    def margins(self, tile: Any, target: int, rho: float) -> tuple[Floats, Floats]:
        """Return ``z_r - rho`` and the coefficients of a tile and one target, flat.

        All margins that do not count are one number beyond the support of the loss.
        """
        products, weights = tile[0], tile[3]
        t = np.empty(products.shape)
        fill_margins(tile, target, rho, self.loss.support + 1.0, t)
        return t.ravel(), np.repeat(self.problem.unit * weights, products.shape[1])

    def _sums(self, tiles: RememberedTiles, rho: float) -> Sums:
        """Sum value, slope and curvature of the losses over all triplets."""

        def add(found: list[Sums], tile: Any) -> None:
            for target in range(self.triplets.targets.shape[1]):
                found.append(weighted_sums(*self.margins(tile, target, rho), 0.0, self.loss))

        parts = tiles.visit(list, add)
        found = [sums for part in parts for sums in part]
        value, slope, curvature = map(math.fsum, zip(*found, strict=True))
        return value, slope, curvature


class _Slopes:
    """Sums of the slopes w_r at a point.

    Attributes
    ----------
    near : of each row and target
    degrees : of the far pairs of each row, whichever end it is
    excess : ``sum_r w_r (z_r - rho)``
    crossed : ``sum_r w_r a b'``, a and b the centred ends of the far pair; None if D is large
    block : its part of the rows that are visited now, before the product with these rows
    """

    def __init__(self, targets: Ints, n_features: int) -> None:
        self.near = np.zeros(targets.shape)
        self.degrees = np.zeros(len(targets))
        self.excess = 0.0
        formed = n_features <= _FORMED
        self.crossed = np.zeros((n_features, n_features)) if formed else None
        self.block = np.empty((0, n_features))

    def __iadd__(self, other: _Slopes) -> _Slopes:
        self.near += other.near
        self.degrees += other.degrees
        self.excess += other.excess
        if self.crossed is not None and other.crossed is not None:
            self.crossed += other.crossed
        return self


@dataclass(frozen=True, eq=False)
class StreamedPoint:
    """A `FactorPoint` of a `StreamedObjective`; ``tiles`` are those under its metric."""

    objective: StreamedObjective
    P: Floats
    tiles: RememberedTiles
    rho: float
    value: float
    curvature: float

    @property
    def inner_GM(self) -> float:
        if self.objective.learned_share == 1.0:
            return self._inner
        # <G, M'> alone: the margins are those of M, in which the prior is mixed.
        return float(np.vdot(self.P, self._GP)) / float(np.vdot(self.P, self.P))

    @property
    def inner_GM0(self) -> float:
        share = self.objective.learned_share
        return 0.0 if share == 1.0 else self._inner - share * self.inner_GM

    @property
    def far_weight(self) -> float:
        # d(far) = z + d(near)
        rows, ranks, near = self._near
        return self._inner + float(
            self._slopes.near[rows, ranks] @ self.tiles.items.distances(rows, near)
        )

    @property
    def slack(self) -> float:
        return max(0.0, self.rho * (self._total - 1.0))

    @property
    def rounding(self) -> float:
        return self._total * self.tiles.items.rounding

    def gradient(self) -> Floats:
        return self._GP

    def times(self, V: Floats, /) -> Floats:
        # G = X' L X. The rows of L sum to zero, so X may be centred, which saves digits.
        X, mean, slopes = self._X, self._X.mean(), self._slopes
        Y = X.times(V, exact=True) - mean @ V
        S = slopes.degrees[:, None] * Y - self._near_laplacian @ Y
        if slopes.crossed is None:
            S -= self._crossed_times(Y)
        out = X.transposed_times(S, exact=True) - np.outer(mean, S.sum(axis=0))
        if slopes.crossed is not None:
            out -= slopes.crossed @ V + slopes.crossed.T @ V
        scaled: Floats = self.objective.spanning.scale * out
        return scaled

    def toward(self, V: Floats, /) -> NoReturn:
        raise TypeError("all triplets are streamed to certify a metric, not to improve it")

    def with_rho(self, rho: float | None, /) -> StreamedPoint:
        if rho is None or rho == self.rho:
            return self
        raise TypeError("all triplets are streamed to certify a metric, at its best rho")

    @property
    def _X(self) -> Any:
        return self.objective.spanning.X

    @cached_property
    def _GP(self) -> Floats:
        return self.times(self.P)

    @property
    def _total(self) -> float:
        return float(self._slopes.near.sum())

    @property
    def _inner(self) -> float:
        """``<G, M>``, which is ``sum_r w_r z_r``."""
        return self._slopes.excess + self.rho * self._total

    @cached_property
    def _near(self) -> tuple[Ints, Ints, Ints]:
        """The rows of all near pairs, the rank of the target, and the target."""
        targets = self.objective.triplets.targets
        rows, ranks = np.nonzero(targets >= 0)
        return rows, ranks, targets[rows, ranks]

    @cached_property
    def _near_laplacian(self) -> Laplacian:
        rows, ranks, near = self._near
        edges = np.sort(np.stack([rows, near], axis=1), axis=1)
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        edges = edges[order].astype(self.objective.spanning.comparisons.edges.dtype)
        return Laplacian(edges, self._slopes.near[rows, ranks][order], len(self._X))

    def _tile_slopes(self, tile: Any, slopes: _Slopes | None = None) -> Floats:
        """Return the slopes of a tile, summed over the targets; add to the sums if given."""
        o, total = self.objective, np.zeros(tile[0].shape)
        for target in range(o.triplets.targets.shape[1]):
            t, c = o.margins(tile, target, self.rho)
            w = weighted_slopes(t, c, 0.0, o.loss)
            if slopes is not None:
                slopes.excess += float(w @ t)
                slopes.near[tile[5], target] += w.reshape(total.shape).sum(axis=1)
            total += w.reshape(total.shape)
        return total

    @cached_property
    def _slopes(self) -> _Slopes:
        o, X, mean = self.objective, self._X, self._X.mean()

        def centred(rows: slice | Ints) -> Floats:
            chosen: Floats = X.rows(rows).astype(np.float64) - mean
            return chosen

        def begin() -> _Slopes:
            return _Slopes(o.triplets.targets, o.n_features)

        def add(slopes: _Slopes, tile: Any) -> None:
            w, rows, columns = self._tile_slopes(tile, slopes), tile[5], _columns(tile)
            slopes.degrees[rows] += w.sum(axis=1)
            slopes.degrees[columns] += w.sum(axis=0)
            if slopes.crossed is None:
                return
            # The product with the rows waits for the last column: D^2 multiplications a row.
            if columns.start == 0:
                slopes.block = np.zeros((len(rows), o.n_features))
            slopes.block += w @ centred(columns)
            if columns.stop == len(X):
                slopes.crossed += centred(rows).T @ slopes.block

        first, *others = self.tiles.visit(begin, add)
        for other in others:
            first += other
        return first

    def _crossed_times(self, Y: Floats) -> Floats:
        """Return ``(W + W') Y``; W has the slopes of all far pairs, rows by rows."""

        def add(total: Floats, tile: Any) -> None:
            w, rows, columns = self._tile_slopes(tile), tile[5], _columns(tile)
            total[rows] += w @ Y[columns]
            total[columns] += w.T @ Y[rows]

        parts = self.tiles.visit(lambda: np.zeros(Y.shape), add)
        total: Floats = np.sum(parts, axis=0)
        return total


def _columns(tile: Any) -> slice:
    return slice(tile[6], tile[6] + tile[0].shape[1])
