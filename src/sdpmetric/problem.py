"""From items and comparisons to an objective in the units of the library, and back.

The objective works in its own coordinates: only the items that are compared, without large
offsets, scaled so that the mean far distance is one and, where dense items are fewer than
dimensions, in the subspace that they span. `Problem` remembers the way back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, svd

from ._typing import Floats, Ints, Items
from .comparisons import Comparisons
from .factors import spectrum
from .losses import Loss
from .objective import Objective
from .products import edge_distances, forward, squared_differences, tame
from .result import Result
from .spectraplex import DENSE_LIMIT

__all__ = ["Problem", "build"]

_LARGE_OFFSET = 10.0  # a column this many ranges away from zero loses a digit: items are centred
_LIGHT = 1 << 22  # entries of float32 items below which float64 costs nothing and reaches further
_ALIKE = 1e6  # columns whose ranges differ by less are of similar units


@dataclass(frozen=True, eq=False)
class Problem:
    """An objective, and what turns its solution into a metric on the user's items."""

    objective: Objective
    scale: float
    basis: Items | None
    prior: str | Floats | None

    def lower(self, factor: Floats | None) -> Floats | None:
        """A factor of the user's, in the objective's coordinates; None if nothing is left there."""
        if factor is None or self.basis is None:
            return factor
        inside: Floats = self.basis.T @ factor
        return inside if np.linalg.norm(inside) > 1e-8 * np.linalg.norm(factor) else None

    def lift(self, result: Result, k: int | None) -> Result:
        """A solver's result in the user's coordinates, with the prior mixed in, cut to k rows."""
        factor = result.factor if self.basis is None else self.basis @ result.factor
        whole = spectrum(factor, self.prior, self.objective.t, k)
        return replace(
            result,
            factor=factor,
            components=whole.components,
            eigenvalues=whole.eigenvalues,
            retained=whole.retained,
            scale=self.scale,
        )


def build(
    X: Items,
    indices: Ints,
    weights: Floats | None,
    loss: Loss,
    C: float,
    prior: str | Floats | None,
    t: float,
) -> Problem:
    """The problem of validated items and comparisons; weight 0 means left out."""
    if weights is not None and not weights.all():
        indices, weights = indices[weights > 0.0], weights[weights > 0.0]
    comparisons = Comparisons.from_indices(indices, weights)
    items = comparisons.items()
    comparisons = comparisons.relabel(items)
    D = X.shape[1]
    X = X if len(items) == X.shape[0] else X[items]
    if X.dtype == np.float32 and X.shape[0] * X.shape[1] <= _LIGHT:
        X = X.astype(np.float64)
    X, factor = tame(X)
    euclidean = squared_differences(X, *comparisons.edges.T)
    share = comparisons.weights / comparisons.weights.max()
    share /= share.sum()
    far = float(share @ euclidean[comparisons.far])
    if not far > 0.0:
        raise ValueError(
            "X: the two items of every far pair coincide (distance 0), so no metric can tell them "
            "apart; expected at least one far pair of different rows."
        )
    scale = D / far
    prior_distances = _prior_distances(X, comparisons, euclidean, prior) if t > 0.0 else None
    X, basis = _coordinates(X)
    objective = Objective(
        X,
        comparisons,
        C * share,
        scale,
        loss,
        None if prior_distances is None else scale * prior_distances,
        t,
    )
    return Problem(objective, scale * factor * factor, basis, prior)


def _coordinates(X: Items) -> tuple[Items, Items | None]:
    """X in the coordinates of the solver, and the basis that leads back (None: the same).

    Columns that never differ are left out, large offsets, which cancel badly, are taken away, and
    few dense items are expressed in the span of their rows. X itself, not a copy, where none of
    this is called for.
    """
    basis: Items | None = None
    range_ = _ranges(X)
    varied = range_ > 0.0
    if not varied.all():
        basis = sp.eye_array(X.shape[1], format="csc")[:, varied]
        X = X[:, varied]
    if sp.issparse(X):
        return X, basis
    n, D = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    range_ = range_[varied]
    # Columns in very different units would lose the small ones to rounding in a rotation.
    few = n < D and n <= DENSE_LIMIT and range_.max() < _ALIKE * range_.min()
    if not few:
        offset = bool(np.any(np.abs(mean) > _LARGE_OFFSET * range_))
        return X - mean.astype(X.dtype) if offset else X, basis
    U, s, Vt = svd(X - mean, full_matrices=False)
    kept = s > s[0] * D * np.finfo(np.float64).eps
    rows = Vt[kept].T
    return U[:, kept] * s[kept], rows if basis is None else basis @ rows


def _ranges(X: Items) -> Floats:
    """The largest less the smallest entry of each column."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    ranges: Floats = np.asarray(high, dtype=np.float64) - low
    return ranges


def _prior_distances(
    X: Items, comparisons: Comparisons, euclidean: Floats, prior: str | Floats | None
) -> Floats:
    """Squared distances of the edges under M0, trace one."""
    if prior is None or isinstance(prior, str):
        return euclidean / float(X.shape[1])
    e, U = eigh(prior)
    centre = X if sp.issparse(X) else X - X.mean(axis=0, dtype=np.float64)
    return edge_distances(
        forward(centre, U * np.sqrt(np.maximum(e, 0.0)), exact=True), comparisons.edges
    )
