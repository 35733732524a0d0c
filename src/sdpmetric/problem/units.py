"""Turn items and comparisons into an objective in the solver's units, and solutions back.

The objective has its own coordinates: only the compared items, without large offsets, scaled so
that the mean far distance is one and, if dense items are fewer than dimensions, in the subspace
that they span. `Problem` keeps the way back to the user's coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import svd

from .._support.typing import Floats, Ints
from ..linalg.dense_items import DenseItems
from ..linalg.items import Items
from ..linalg.mapped import WeightedTables
from ..spectraplex.oracle import DENSE_LIMIT
from .comparisons import Comparisons
from .losses import Loss
from .objective import EdgeObjective
from .prior import Prior
from .user_units import LARGE_OFFSET, LIGHT, SCALES, UserUnits, check_far

__all__ = ["Problem"]

_ALIKE = 1e6  # columns whose ranges differ by less have similar units


@dataclass(frozen=True, eq=False)
class Problem(UserUnits):
    """A problem whose items and comparisons are in memory."""

    objective: EdgeObjective

    @classmethod
    def from_triplets(
        cls, X: Items, indices: Ints, weights: Floats | None = None, **options: Any
    ) -> Problem:
        """Build the problem of (m, 3) triplets or (m, 4) quadruplets of row indices.

        Comparisons of weight 0 are left out. ``options`` are those of `of`.
        """
        if weights is not None and not weights.all():
            indices, weights = indices[weights > 0.0], weights[weights > 0.0]
        return cls.of(X, Comparisons.from_indices(indices, weights), **options)

    @classmethod
    def of(
        cls,
        X: Items,
        comparisons: Comparisons,
        *,
        loss: Loss,
        C: float,
        prior: Prior,
        every_item: bool = False,
    ) -> Problem:
        """Build the problem of validated items and comparisons.

        Parameters
        ----------
        X : the user's items
        comparisons : of the rows of X, each of positive weight
        loss, C, prior : the terms of the objective
        every_item : whether to keep items that no comparison mentions
        """
        # 1. Only the items that the comparisons mention.
        items = comparisons.items()
        D = X.shape[1]
        # If more than half of a large X is used, a copy of that part would cost more than it saves.
        enough = len(items) if X.shape[0] * D <= LIGHT else 2 * len(items)
        if not every_item and enough < X.shape[0]:
            comparisons, X = comparisons.relabel(items), X.take(items)
        if X.dtype == np.float32 and X.shape[0] * X.shape[1] <= LIGHT:
            X = X.astype(np.float64)
        # 2. The units: the mean far distance under I/D becomes one.
        X, factor = X.rescaled()
        euclidean = X.squared_differences(*comparisons.edges.T)
        far_sum, total = comparisons.far_sums(comparisons.weights, euclidean)
        check_far(far_sum / total, float(euclidean[comparisons.far].max()), float(euclidean.max()))
        scale = D / (far_sum / total)
        # 3. The coordinates of the solver.
        X, basis = _coordinates(X, None if every_item else comparisons)
        objective = EdgeObjective(X, comparisons, np.empty(0), scale, loss, None, prior.weight)
        problem = cls(
            objective=objective,
            # At the end of the range where it lies beyond: no infinity leaves a fit.
            user_scale=float(np.clip(scale * factor * factor, *SCALES)),
            total=total,
            unit=C / total,
            basis=basis,
            prior=prior,
            root=prior.root(basis),
        )
        return replace(problem, objective=problem.with_comparisons(comparisons))

    def with_comparisons(self, comparisons: Comparisons) -> EdgeObjective:
        """The objective of other comparisons of the same items, in the same units."""
        objective = self.objective
        # Distances under the prior depend on the edges alone: along a path they are made once.
        prior = objective.prior if comparisons is objective.comparisons else None
        if objective.t > 0.0 and prior is None:
            factor, rows = self.prior.table(objective.X, self.root)
            prior = objective.scale * factor * rows.squared_differences(*comparisons.edges.T)
        return objective.replace(
            comparisons=comparisons,
            coefficients=scaled(comparisons.weights, self.unit),
            prior=prior,
        )

    def with_settings(self, loss: Loss, C: float, t: float) -> Problem:
        """The same comparisons with another loss, C or weight of the prior."""
        objective = self.objective.replace(loss=loss, t=t)
        prior, unit = self.prior.with_weight(t), C / self.total
        changed = replace(self, objective=objective, unit=unit, prior=prior)
        return replace(changed, objective=changed.with_comparisons(objective.comparisons))

    def saturation_C(self, factor: Floats) -> float:
        """Return the C beyond which rho stays 0 and M the same.

        ``factor`` is that of the optimum at ``rho = 0``. The slopes there sum to at least 1 from
        this C on, and a larger C only multiplies the whole objective. Infinite if none counts.
        """
        point = self.objective.at(factor, exact=True)
        steepness = float(self.objective.slopes(point.z, 0.0).sum())
        return self.unit * self.total / steepness if steepness > 0.0 else np.inf

    def mapped(self, factor: Floats) -> WeightedTables:
        """Return the items mapped by the metric of a factor in the objective's coordinates."""
        o = self.objective
        # Centred, since the rounding of products grows with the norms of the rows.
        Z = o.X.times(factor / np.linalg.norm(factor), exact=True)
        rows: Items = DenseItems(Z - Z.mean(axis=0))
        tables = [(o.learned_share * o.scale, rows)]
        if o.t > 0.0:
            weight, rows = self.prior.table(o.X, self.root)
            tables.append((o.t * o.scale * weight, rows))
        return WeightedTables(*tables)


def scaled(weights: Floats, unit: float) -> Floats:
    """Multiply weights by a unit; equal weights stay a single number behind a view."""
    if weights.strides == (0,):
        return np.broadcast_to(unit * weights[0], weights.shape)
    return unit * weights


def _coordinates(X: Items, comparisons: Comparisons | None) -> tuple[Items, Any]:
    """Return X in the solver's coordinates, and the basis that leads back (None: the same).

    Constant columns are left out, large offsets are subtracted, and few dense items are expressed
    in the span of their rows. If none of this applies, X itself is returned, not a copy.
    ``comparisons`` are given if there will be no others: items that these do not join may be moved.
    """
    basis: Any = None
    low, high = X.extremes
    range_: Floats = high.astype(np.float64) - low
    varied = range_ > 0.0
    if not varied.all():
        basis = sp.eye_array(X.shape[1], format="csc")[:, varied]
        X = X.columns(varied)
    n, D = X.shape
    mean, range_ = X.mean(), range_[varied]
    # In fewer coordinates than D every product is smaller. Up to DENSE_LIMIT rows, so that the
    # oracle then decomposes whole matrices. In very different units a rotation would lose the
    # columns of small numbers to rounding.
    alike = range_.max() < _ALIKE * range_.min()
    few = not X.sparse and n < D and n <= DENSE_LIMIT and alike
    # Only these columns: a shift of the others would cost float32 entries their last digits, and
    # CSR columns their zeros. A column with zeros is never far from zero.
    offset = np.where(np.abs(mean) > LARGE_OFFSET * range_, mean, 0.0)
    if offset.any():
        X = X.astype(np.float64 if few else X.dtype).centred(offset)
    if not few:
        return X, basis
    X = X.astype(np.float64)
    parts = np.zeros(n, dtype=np.int64) if comparisons is None else comparisons.parts(n)
    if parts.any():
        # Far parts that are not compared with each other would cost small differences their digits.
        sums = sp.csr_array((np.ones(n), (parts, np.arange(n)))) @ X.rows(slice(None))
        X = DenseItems(X.rows(slice(None)) - (sums / np.bincount(parts)[:, None])[parts])
    _, s, Vt = svd(X.centred(X.mean()).raw, full_matrices=False)
    # The usual numerical rank; beyond it directions are rounding, also the one lost by centring.
    kept = s > s[0] * D * np.finfo(np.float64).eps
    rows = Vt[kept].T
    # X times the basis, not U s: each row is then exact relative to its own length.
    return DenseItems(X.times(rows)), rows if basis is None else basis @ rows
