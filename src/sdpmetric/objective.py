"""The objective with rho eliminated, in memory: ``F(M) = max_{rho >= 0} f(M, rho)``.

``f(M, rho) = rho - sum_r c_r loss(z_r(M) - rho)`` is concave, and by Danskin's theorem the
gradient of F is that of f at rho*(M): ``G = sum_r w_r (far_r far_r' - near_r near_r')`` with
``w_r = c_r |loss'(z_r - rho*)|``. On edges ``G = X' L X``, L the signed Laplacian of the edge
weights, so G is applied and never formed.

With a prior, margins are those of ``M = (1 - t) M' + t M0``, M' being what a solver moves; nobody
but the objective knows t.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from ._typing import Dense, Floats, Ints, Items
from .comparisons import Comparisons
from .kernels.edges import index_edges, laplacian_rows, list_lower
from .losses import Loss
from .margin import best_rho, weighted_slopes, weighted_sums
from .products import EDGE_NUMBERS, backward, blocks, column_blocks, edge_distances, forward
from .threads import over

__all__ = ["Factored", "Line", "Objective", "Point", "Station"]


class Point(Protocol):
    """F at some M'; immutable.

    ``pull = <G, M'>`` and ``far = sum_r w_r d_M(far_r)``. ``slack = rho (sum_r w_r - 1)`` is what
    an inexact rho adds to the dual bound: zero but for rounding. ``curvature`` is
    ``sum_r c_r loss''(z_r - rho)``.
    """

    @property
    def value(self) -> float: ...
    @property
    def rho(self) -> float: ...
    @property
    def pull(self) -> float: ...
    @property
    def far(self) -> float: ...
    @property
    def slack(self) -> float: ...
    @property
    def curvature(self) -> float: ...
    def times(self, V: Floats, /) -> Floats:
        """``G V`` in float64, for the eigenvector oracle."""

    def toward(self, V: Floats, /) -> Line:
        """The line from M' to ``V V' / ||V||_F^2``."""


class Factored(Point, Protocol):
    """A point whose factor is at hand: ``M' = P P' / ||P||_F^2``."""

    @property
    def P(self) -> Floats: ...
    def gradient(self) -> Floats:
        """``G P``, reusing ``X P``: one pass over X."""


@dataclass(frozen=True, eq=False)
class Station:
    """The numbers of a `Factored` point without its arrays: what a solver goes on from."""

    P: Floats
    value: float
    rho: float
    pull: float
    far: float
    curvature: float

    @classmethod
    def of(cls, point: Factored) -> Station:
        return cls(point.P, point.value, point.rho, point.pull, point.far, point.curvature)


class Line(Protocol):
    """F along ``M' + alpha (V V' / ||V||_F^2 - M')``, 0 <= alpha <= 1, from cached distances."""

    def __call__(self, alpha: float, /) -> tuple[float, float]:
        """F and its derivative."""

    def point(self, alpha: float, /) -> Point: ...


@dataclass(frozen=True, eq=False)
class Objective:
    """F for items in memory, dense or CSR.

    Coefficients and scale come from outside, so that a working set, a fold or a partition never
    rescales itself. ``prior`` holds the scaled squared distances of the edges under M0. ``pinned``
    fixes rho, as the paper's inner loop does. ``memory`` is for what follows from the items and the
    comparisons alone, so that fits along a path make it once.
    """

    X: Items
    comparisons: Comparisons
    coefficients: Floats
    scale: float
    loss: Loss
    prior: Floats | None = None
    t: float = 0.0
    pinned: float | None = None
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_comparisons(self) -> int:
        return len(self.coefficients)

    @property
    def share(self) -> float:
        """``1 - t``, the share of M that is learned."""
        return 1.0 - self.t

    @property
    def eps(self) -> float:
        """The rounding unit of the heavy products."""
        return float(np.finfo(self.X.dtype).eps)

    @property
    def rounded(self) -> bool:
        """Whether X is float32, so that certificates need an evaluation of their own."""
        return bool(self.X.dtype != np.float64)

    def replace(self, **changes: Any) -> Objective:
        """The same items with another loss, other comparisons, coefficients, another t or rho."""
        other = replace(self, **changes)
        alike = other.X is self.X and other.comparisons is self.comparisons
        return other if alike and other.scale == self.scale else replace(other, memory={})

    def at(self, P: Floats, *, rho: float = 0.0, exact: bool = False) -> FactoredMemoryPoint:
        """F at P; ``rho`` is a guess, ``exact`` computes in float64 even where X is float32."""
        learned, Y = self.distances(P, exact=exact)
        return FactoredMemoryPoint(self, learned, *self.best(learned, rho), P, Y)

    def at_distances(self, learned: Floats, rho: float = 0.0) -> MemoryPoint:
        """F where the scaled edge distances under M' are known."""
        return MemoryPoint(self, learned, *self.best(learned, rho))

    def distances(self, V: Floats, *, exact: bool = False) -> tuple[Floats, Dense | None]:
        """Scaled edge distances under ``V V' / ||V||_F^2``; X @ V too, if that fits in a block."""
        learned = np.zeros(self.n_edges)
        Y: Dense | None = None
        for columns in column_blocks(self.X.shape[0], V.shape[1], self.n_edges):
            Y = None  # before the next block is made
            Y = forward(self.X, V[:, columns], exact=exact)
            edge_distances(Y, self.comparisons.edges, learned)
        if Y is not None and Y.shape[1] < V.shape[1]:
            Y = None  # only the last block: as large as X for tall data, so not kept whole
        learned *= self.scale / float(np.vdot(V, V))
        return learned, Y

    def scatter(self, V: Floats) -> Floats:
        """The mean of ``d d'`` over the edges, in the units of the distances, times V."""
        return self.signed_scatter(np.full(self.n_edges, 1.0 / self.n_edges), V)

    def signed_scatter(
        self, weights: Floats, V: Floats, *, exact: bool = True, Y: Dense | None = None
    ) -> Floats:
        """``sum_e weights_e d_e d_e'``, in the units of the distances, times V; Y is X @ V."""
        out = np.empty(V.shape)
        L = Laplacian(self.comparisons.edges, weights, self.X.shape[0])
        for columns in column_blocks(self.X.shape[0], V.shape[1], self.n_edges):
            block = forward(self.X, V[:, columns], exact=exact) if Y is None else Y
            S = L @ block
            out[:, columns] = backward(self.X, S, exact=exact)
            del block, S  # before the next ones are made
        out *= self.scale
        return out

    @property
    def n_edges(self) -> int:
        return len(self.comparisons.edges)

    def scatter_roots(self) -> Iterator[Floats]:
        """R with ``R' R`` the sum of ``d d'`` over more and more edges, at last over all.

        By QR of blocks of differences.
        """
        edges = self.comparisons.edges
        R = np.zeros((0, self.n_features))
        for block in blocks(len(edges), self.n_features):
            d = self.X[edges[block, 0]].astype(np.float64) - self.X[edges[block, 1]]
            R = qr(np.vstack([R, d.toarray() if sp.issparse(d) else d]), mode="r")[0]
            R = R[: self.n_features]
            yield R

    def mix(self, learned: Floats) -> Floats:
        """Edge distances under ``M = (1 - t) M' + t M0`` from those under M'."""
        if self.prior is None or self.t == 0.0:
            return learned
        return self.share * learned + self.t * self.prior

    def best(self, learned: Floats, guess: float) -> tuple[Floats, float, float, float]:
        """Margins, rho*, F and the curvature for edge distances under M'."""
        z = self.comparisons.margins(self.mix(learned))
        rho = self.pinned
        if rho is None:
            rho = best_rho(z, self.coefficients, self.loss, guess)
        paid, _, curvature = weighted_sums(z, self.coefficients, rho, self.loss)
        return z, rho, rho - paid, curvature

    def slopes(self, z: Floats, rho: float) -> Floats:
        """``w_r = c_r |loss'(z_r - rho)|``."""
        return weighted_slopes(z, self.coefficients, rho, self.loss)


@dataclass(frozen=True, eq=False)
class MemoryPoint:
    """A `Point` of an `Objective`: the edge distances are all that it needs."""

    objective: Objective
    learned: Floats
    z: Floats
    rho: float
    value: float
    curvature: float

    @cached_property
    def _sums(self) -> tuple[Floats, float, float]:
        """Edge weights, ``far`` and the sum of the slopes, which are not kept themselves."""
        o = self.objective
        w = o.slopes(self.z, self.rho)
        return o.comparisons.edge_weights(w), *o.comparisons.far_sums(w, o.mix(self.learned))

    @property
    def edge_weights(self) -> Floats:
        return self._sums[0]

    @cached_property
    def pull(self) -> float:
        return float(self.edge_weights @ self.learned)

    @cached_property
    def prior_pull(self) -> float:
        """``t <G, M0>``."""
        o = self.objective
        return 0.0 if o.prior is None else o.t * float(self.edge_weights @ o.prior)

    @property
    def far(self) -> float:
        return self._sums[1]

    @property
    def slack(self) -> float:
        return max(0.0, self.rho * (self._sums[2] - 1.0))

    def times(self, V: Floats, /) -> Floats:
        return self.objective.signed_scatter(self.edge_weights, V)

    def toward(self, V: Floats, /) -> MemoryLine:
        """One product with X, then none."""
        return MemoryLine(self, self.objective.distances(V)[0])


@dataclass(frozen=True, eq=False)
class FactoredMemoryPoint(MemoryPoint):
    """A point that keeps its factor and, unless that is too large, ``Y = X P``."""

    P: Floats
    Y: Dense | None

    def gradient(self) -> Floats:
        return self.objective.signed_scatter(self.edge_weights, self.P, exact=False, Y=self.Y)


@dataclass(frozen=True, eq=False)
class MemoryLine:
    """Distances are linear in M, so F along a segment needs no further product with X."""

    start: MemoryPoint
    learned: Floats

    def __call__(self, alpha: float, /) -> tuple[float, float]:
        o = self.start.objective
        z, rho, value, _ = o.best(self._at(alpha), self.start.rho)
        return value, float(o.slopes(z, rho) @ self._turn)

    def point(self, alpha: float, /) -> MemoryPoint:
        return self.start.objective.at_distances(self._at(alpha), self.start.rho)

    @cached_property
    def _turn(self) -> Floats:
        o = self.start.objective
        return o.share * o.comparisons.margins(self.learned - self.start.learned)

    def _at(self, alpha: float) -> Floats:
        return (1.0 - alpha) * self.start.learned + alpha * self.learned


class Laplacian:
    """``sum_e weights_e (e_a - e_b)(e_a - e_b)'`` as an operator on the items.

    Edges are sorted by their lower item; those with weight are listed by their higher one too, so
    that each row of the result only gathers, and threads can share the rows.
    """

    def __init__(self, edges: Ints, weights: Floats, n_items: int) -> None:
        self.edges, self.weights = edges, weights
        self.upper, self.lower = np.zeros((2, n_items + 1), dtype=np.int64)
        active = index_edges(edges, weights, self.upper, self.lower)
        self.items, self.values = np.empty(active, dtype=edges.dtype), np.empty(active)
        list_lower(edges, weights, self.lower, self.items, self.values)

    def __matmul__(self, Y: Dense) -> Dense:
        """A row per item, in Y's precision."""
        out = np.empty_like(Y)
        listed = self.edges, self.weights, self.upper, self.lower, self.items, self.values
        over(
            len(Y),
            lambda part: laplacian_rows(*listed, Y, part.start, part.stop, out),
            len(Y) * EDGE_NUMBERS // max(1, len(self.items) * Y.shape[1]),
        )
        return out
