"""The objective with rho eliminated, in memory: ``F(M) = max_{rho >= 0} f(M, rho)``.

``f(M, rho) = rho - sum_r c_r loss(z_r(M) - rho)`` is concave, and by Danskin's theorem the
gradient of F is that of f at rho*(M): ``G = sum_r w_r (far_r far_r' - near_r near_r')`` with
``w_r = c_r |loss'(z_r - rho*)|``. On edges ``G = X' L X``, L the signed Laplacian of the edge
weights, so G is applied and never formed.

A `Point` is F at ``M' = P P' / ||P||_F^2``. With a prior, margins are those of
``M = (1 - t) M' + t M0``; nobody but the objective knows t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ._typing import Floats, Items
from .comparisons import Comparisons
from .losses import Loss
from .margin import best_rho
from .products import backward, forward

__all__ = ["Line", "Objective", "Point"]

_BLOCK = 1 << 17  # numbers in a block of edge differences: two such blocks stay in the L2 cache


class Point(Protocol):
    """F at ``M' = P P' / ||P||_F^2``; immutable.

    ``pull = <G, M'>``, ``far = sum_r w_r d_M(far_r)``; ``slack = rho (sum_r w_r - 1)`` is what an
    inexact rho adds to the dual bound (zero but for rounding).
    """

    P: Floats
    value: float
    rho: float

    @property
    def pull(self) -> float: ...
    @property
    def far(self) -> float: ...
    @property
    def slack(self) -> float: ...
    def gradient(self) -> Floats: ...
    def times(self, V: Floats, /) -> Floats: ...
    def toward(self, V: Floats, /) -> Line: ...


class Line(Protocol):
    """F along ``M' + alpha (V V' / ||V||_F^2 - M')``, 0 <= alpha <= 1, from cached margins."""

    def __call__(self, alpha: float, /) -> tuple[float, float]: ...
    def point(self, alpha: float, /) -> Point: ...


@dataclass(frozen=True, eq=False)
class Objective:
    """F for items in memory, dense or CSR.

    Coefficients and scale come from outside, so that a working set, a fold or a partition never
    rescales itself. ``prior`` holds the squared distances of the edges under M0, scaled.
    """

    X: Items
    comparisons: Comparisons
    coefficients: Floats
    scale: float
    loss: Loss
    prior: Floats | None = None
    t: float = 0.0

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

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
        return self.X.dtype != np.float64

    def replace(self, **changes: object) -> Objective:
        """The same items and edges with another loss, other coefficients or another t."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def at(self, P: Floats, *, rho: float = 0.0, exact: bool = False) -> MemoryPoint:
        """F at P; ``rho`` is a guess, ``exact`` computes in float64 even where X is float32."""
        Y = forward(self.X, P, exact=exact)
        norm = float(np.vdot(P, P))
        learned = edge_distances(Y, self.comparisons.edges) * (self.scale / norm)
        return self._point(P, norm, Y, learned, rho)

    def scatter(self, V: Floats) -> Floats:
        """The mean of ``d d'`` over the edges, times V (in the units of the distances)."""
        edges = self.comparisons.edges
        weights = np.full(len(edges), self.scale / len(edges))
        L = laplacian(edges, weights, self.X.shape[0])
        return backward(self.X, L @ forward(self.X, V, exact=True), exact=True)

    def mix(self, learned: Floats) -> Floats:
        """Edge distances under ``M = (1 - t) M' + t M0`` from those under M'."""
        if self.prior is None or self.t == 0.0:
            return learned
        return self.share * learned + self.t * self.prior

    def best(self, learned: Floats, guess: float) -> tuple[Floats, float, float]:
        """Margins, rho* and F for edge distances under M'."""
        z = self.comparisons.margins(self.mix(learned))
        rho = best_rho(z, self.coefficients, self.loss, guess)
        return z, rho, rho - float(self.coefficients @ self.loss.value(z - rho))

    def slopes(self, z: Floats, rho: float) -> Floats:
        """``w_r = c_r |loss'(z_r - rho)|``."""
        return -self.coefficients * self.loss.slope(z - rho)

    def _point(
        self, P: Floats, norm: float, Y: Floats, learned: Floats, guess: float
    ) -> MemoryPoint:
        z, rho, value = self.best(learned, guess)
        return MemoryPoint(self, P, norm, Y, learned, z, rho, value)


@dataclass(frozen=True, eq=False)
class MemoryPoint:
    """A `Point` of an `Objective`; keeps ``Y = X P`` and the edge distances for reuse."""

    objective: Objective
    P: Floats
    norm: float
    Y: Floats
    learned: Floats
    z: Floats
    rho: float
    value: float

    @cached_property
    def slopes(self) -> Floats:
        return self.objective.slopes(self.z, self.rho)

    @cached_property
    def edge_weights(self) -> Floats:
        return self.objective.comparisons.edge_weights(self.slopes)

    @cached_property
    def pull(self) -> float:
        return float(self.edge_weights @ self.learned)

    @cached_property
    def far(self) -> float:
        d = self.objective.mix(self.learned)
        return float(self.slopes @ d[self.objective.comparisons.far])

    @cached_property
    def slack(self) -> float:
        return max(0.0, self.rho * (float(self.slopes.sum()) - 1.0))

    @cached_property
    def _laplacian(self) -> sp.csr_array[np.float64, tuple[int, int]]:
        o = self.objective
        return laplacian(o.comparisons.edges, o.scale * self.edge_weights, o.X.shape[0])

    def gradient(self) -> Floats:
        """``G P``, from the ``X P`` at hand: one pass over X."""
        return backward(self.objective.X, self._laplacian @ self.Y)

    def times(self, V: Floats, /) -> Floats:
        """``G V`` in float64, for the eigenvector oracle."""
        X = self.objective.X
        return backward(X, self._laplacian @ forward(X, V, exact=True), exact=True)

    def toward(self, V: Floats, /) -> MemoryLine:
        """The line from M' to ``V V' / ||V||_F^2``: one product with X, then none."""
        o = self.objective
        norm = float(np.vdot(V, V))
        Y = forward(o.X, V)
        learned = edge_distances(Y, o.comparisons.edges) * (o.scale / norm)
        return MemoryLine(self, V, norm, Y, learned)


@dataclass(frozen=True, eq=False)
class MemoryLine:
    """Distances are linear in M, so F along a segment needs no further product."""

    start: MemoryPoint
    V: Floats
    norm: float
    Y: Floats
    learned: Floats

    def __call__(self, alpha: float, /) -> tuple[float, float]:
        """F and its derivative at ``alpha``."""
        o = self.start.objective
        learned = self._learned(alpha)
        z, rho, value = o.best(learned, self.start.rho)
        turn = o.share * o.comparisons.margins(self.learned - self.start.learned)
        return value, float(o.slopes(z, rho) @ turn)

    def point(self, alpha: float, /) -> MemoryPoint:
        a, b = np.sqrt((1.0 - alpha) / self.start.norm), np.sqrt(alpha / self.norm)
        P = np.hstack([a * self.start.P, b * self.V])
        Y = np.hstack([a * self.start.Y, b * self.Y])
        o = self.start.objective
        return o._point(P, float(np.vdot(P, P)), Y, self._learned(alpha), self.start.rho)

    def _learned(self, alpha: float) -> Floats:
        return (1.0 - alpha) * self.start.learned + alpha * self.learned


def edge_distances(Y: Floats, edges: np.typing.NDArray[np.int64]) -> Floats:
    """Squared Euclidean distance of the rows of Y joined by each edge, block by block."""
    out = np.empty(len(edges))
    step = max(1, _BLOCK // max(1, Y.shape[1]))
    for start in range(0, len(edges), step):
        pair = edges[start : start + step]
        d = np.take(Y, pair[:, 0], axis=0)
        d -= np.take(Y, pair[:, 1], axis=0)
        np.einsum("ij,ij->i", d, d, out=out[start : start + step])
    return out


def laplacian(
    edges: np.typing.NDArray[np.int64], weights: Floats, n_items: int
) -> sp.csr_array[np.float64, tuple[int, int]]:
    """``sum_e weights_e (e_a - e_b)(e_a - e_b)'`` over the edges of non-zero weight."""
    active = np.flatnonzero(weights)
    w = weights[active]
    a, b = edges[active, 0], edges[active, 1]
    degree = np.bincount(a, w, n_items) + np.bincount(b, w, n_items)
    off = sp.coo_array((-w, (a, b)), shape=(n_items, n_items)).tocsr()
    return (sp.diags_array(degree, dtype=np.float64) + off + off.T).tocsr()
