"""The objective with rho eliminated, in memory: ``F(M) = max_{rho >= 0} f(M, rho)``.

``f(M, rho) = rho - sum_r c_r loss(z_r(M) - rho)`` is concave, and by Danskin's theorem the
gradient of F is that of f at rho*(M): ``G = sum_r w_r (far_r far_r' - near_r near_r')`` with
``w_r = c_r |loss'(z_r - rho*)|``. On edges ``G = X' L X``, L the signed Laplacian of the edge
weights, so G is applied and never formed.

With a prior, margins are those of ``M = (1 - t) M' + t M0``, M' being the part that a solver moves.
Solvers do not know t.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import qr

from .._support.typing import Dense, Floats
from ..linalg.blocks import EDGE_NUMBERS, blocks, column_blocks
from ..linalg.items import Items
from ..linalg.kernels.evaluation import evaluate
from ..linalg.laplacian import Laplacian
from ..linalg.products import edge_distances
from .comparisons import Comparisons
from .edge_points import CompiledPoint, EdgeFactorPoint, EdgePoint, MarginFit, SlopeSums
from .losses import Loss, parabola
from .margin import best_rho, weighted_slopes, weighted_sums
from .protocols import Objective
from .screening import Screened, worthwhile

__all__ = ["EdgeObjective"]

# The entries of X from which steps use a float32 copy of it: with fewer, products take little of
# the time. Up to which: the copy is 256 MB then.
_SINGLE_LEAST, _SINGLE_MOST = 1 << 20, 1 << 26
# A block of X @ P may have an eighth of the numbers of X, up to 1 GB: each block reads X again.
_BLOCK_SHARE, _BLOCK_NUMBERS = 8, 1 << 27


@dataclass(frozen=True, eq=False)
class EdgeObjective:
    """F for items in one process, dense or CSR: an `Objective` computed on unique edges.

    Coefficients and scale are given, so that a working set, a fold or a partition never rescales
    itself. ``prior`` holds the scaled squared distances of the edges under M0.
    ``fixed_rho`` fixes rho, as the paper's inner loop does. Up to ``compiled_limit`` numbers along
    edges an evaluation is one compiled call, if the loss has one. ``single`` holds the items as
    float32, less their mean, which no difference shows: evaluations that are not exact use them.
    ``block_share`` is the part of X that a block of ``X @ P`` may be as large as.
    """

    X: Items
    comparisons: Comparisons
    coefficients: Floats
    scale: float
    loss: Loss
    prior: Floats | None = None
    t: float = 0.0
    fixed_rho: float | None = None
    compiled_limit: int = EDGE_NUMBERS
    single: Items | None = None
    block_share: int = _BLOCK_SHARE
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_comparisons(self) -> int:
        return len(self.coefficients)

    @property
    def n_edges(self) -> int:
        return len(self.comparisons.edges)

    @property
    def learned_share(self) -> float:
        return 1.0 - self.t

    @cached_property
    def eps(self) -> float:
        return float(np.finfo(self._rows(exact=False).dtype).eps)

    @property
    def needs_exact(self) -> bool:
        """Whether evaluations are float32, so that certificates need one of their own."""
        return bool(self._rows(exact=False).dtype != np.float64)

    def replace(self, **changes: Any) -> EdgeObjective:
        """Return a copy with other fields: loss, comparisons, coefficients, t or rho."""
        other = replace(self, **changes)
        alike = other.X is self.X and other.comparisons is self.comparisons
        # The cache holds results that depend on items, comparisons and units, and on these alone.
        return other if alike and other.scale == self.scale else replace(other, cache={})

    def with_loss(self, loss: Loss, /) -> EdgeObjective:
        return self.replace(loss=loss)

    def screened(self) -> Objective:
        if worthwhile(self):
            return Screened(self)
        if not _SINGLE_LEAST <= len(self.X) * self.n_features <= _SINGLE_MOST:
            return self
        if "single" not in self.cache:
            self.cache["single"] = self.X.single()
        return self.replace(single=self.cache["single"])

    def _rows(self, *, exact: bool) -> Items:
        return self.X if exact or self.single is None else self.single

    def at(self, P: Floats, /, *, rho: float = 0.0, exact: bool = False) -> EdgeFactorPoint:
        """Evaluate F at ``M' = P P' / ||P||_F^2``: distances, margins, rho*, F."""
        if P.shape[1] <= self._columns_at_once:
            return self._at_once(P, rho)
        distances, Y = self.learned_distances(P, exact=exact)
        fit = self.optimal_margin(distances, rho)
        return EdgeFactorPoint(self, distances, fit, P, Y, exact)

    def _at_once(self, P: Floats, rho: float) -> CompiledPoint:
        """`at` by one compiled call between the products with X."""
        Y = self.X.times(P)
        E, m = self.n_edges, self.n_comparisons
        distances, z, weights, S = out = np.zeros(E), np.empty(m), np.zeros(E), np.zeros(Y.shape)
        value, rho, curvature, *sums = evaluate(
            Y, self.scale / float(np.vdot(P, P)), rho, *self._arguments, out
        )
        fit = MarginFit(z, rho, value, curvature)
        return CompiledPoint(self, distances, fit, P, Y, True, SlopeSums(weights, *sums), S)

    @cached_property
    def _columns_at_once(self) -> int:
        """The number of columns of P up to which an evaluation is one compiled call."""
        if self.fixed_rho is not None or self.needs_exact or parabola(self.loss) is None:
            return 0
        # Four numbers for a comparison: more comparisons are shared among threads.
        if 4 * self.n_comparisons > self.compiled_limit:
            return 0
        return self.compiled_limit // max(len(self.X), self.n_edges)

    @cached_property
    def _arguments(self) -> tuple[Any, ...]:
        """The arguments of such a call that do not change."""
        c = self.comparisons
        # Not a view of a single number, which would be another type to compile for.
        coefficients = np.ascontiguousarray(self.coefficients)
        prior = np.empty(0) if self.prior is None else self.prior
        return (c.edges, c.near, c.far), coefficients, parabola(self.loss), prior, self.t

    def at_distances(self, distances: Floats, rho: float = 0.0) -> EdgePoint:
        """Return the point of known, scaled edge distances under M'."""
        return EdgePoint(self, distances, self.optimal_margin(distances, rho))

    def learned_distances(self, V: Floats, *, exact: bool = False) -> tuple[Floats, Dense | None]:
        """Return scaled edge distances under ``V V' / ||V||_F^2``; X @ V too if it is one block."""
        distances = np.zeros(self.n_edges)
        Y: Dense | None = None
        for columns in self._column_blocks(V):
            Y = None  # free the last block before the next one is made
            Y = self._rows(exact=exact).times(V[:, columns], exact=exact)
            edge_distances(Y, self.comparisons.edges, distances)
        if Y is not None and Y.shape[1] < V.shape[1]:
            Y = None  # only the last block: the whole is as large as X for tall data, so not kept
        distances *= self.scale / float(np.vdot(V, V))
        return distances, Y

    def _column_blocks(self, V: Floats) -> Iterator[slice]:
        n, D = self.X.shape
        return column_blocks(
            n, V.shape[1], max(self.n_edges, min(n * D // self.block_share, _BLOCK_NUMBERS))
        )

    def scatter(self, V: Floats, /) -> Floats:
        return self.signed_scatter(np.full(self.n_edges, 1.0 / self.n_edges), V)

    def signed_scatter(
        self, weights: Floats, V: Floats, *, exact: bool = True, Y: Dense | None = None
    ) -> Floats:
        """Return ``sum_e weights_e d_e d_e' V`` in units of the distances; Y is X @ V if known."""
        L = Laplacian(self.comparisons.edges, weights, self.X.shape[0])
        rows = self._rows(exact=exact)

        def scattered(V: Floats) -> Floats:
            # A function, so that the large arrays of a block are freed before the next ones.
            Z = rows.times(V, exact=exact) if Y is None else Y
            if L.is_large(Z):
                return rows.transposed_rows(L.rows_of(Z), Z.shape[1], exact=exact)
            return rows.transposed_times(L @ Z, exact=exact)

        parts = list(self._column_blocks(V))
        if len(parts) == 1:
            out = scattered(V)
        else:
            out = np.empty(V.shape)
            for columns in parts:
                out[:, columns] = scattered(V[:, columns])
        out *= self.scale
        return out

    def scatter_roots(self) -> Iterator[Floats]:
        """Yield R by QR of blocks of differences.

        A root and not the sum ``R' R`` itself, whose rounding would hide directions below 1e-8 of
        the others (see `spectraplex.span.span_basis`).
        """
        edges = self.comparisons.forest(len(self.X))
        R, parts = np.zeros((0, self.n_features)), list(blocks(len(edges), self.n_features))
        for number, block in enumerate(parts, start=1):
            a, b = (self.X.rows(edges[block, end]).astype(np.float64) for end in (0, 1))
            R = qr(np.vstack([R, a - b]), mode="r")[0]
            R = R[: self.n_features]
            # After 1, 2, 4, ... blocks: each look at R is a decomposition. No look is worth it
            # while a column is zero, since some directions are missing then.
            doubled = number & (number - 1) == 0
            if number == len(parts) or (doubled and R.any(axis=0).all()):
                yield R

    def mix(self, distances: Floats) -> Floats:
        """Return edge distances under ``M = (1 - t) M' + t M0`` from those under M'."""
        if self.prior is None or self.t == 0.0:
            return distances
        return self.learned_share * distances + self.t * self.prior

    def optimal_margin(self, distances: Floats, guess: float) -> MarginFit:
        """Return margins, rho*, F and the curvature for edge distances under M'."""
        z = self.comparisons.margins(self.mix(distances))
        rho = self.fixed_rho
        if rho is None:
            rho = best_rho(z, self.coefficients, self.loss, guess)
        paid, _, curvature = weighted_sums(z, self.coefficients, rho, self.loss)
        return MarginFit(z, rho, rho - paid, curvature)

    def slopes(self, z: Floats, rho: float) -> Floats:
        """``w_r = c_r |loss'(z_r - rho)|``."""
        return weighted_slopes(z, self.coefficients, rho, self.loss)
