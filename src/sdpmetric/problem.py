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
from .all_triplets import Mapped
from .comparisons import Comparisons
from .factors import spectrum
from .losses import Loss
from .objective import Objective
from .products import edge_distances, extremes, forward, squared_differences, tame
from .result import Result
from .spectraplex import DENSE_LIMIT

__all__ = ["Problem", "build"]

_LARGE_OFFSET = 10.0  # a column this many ranges away from zero loses a digit: items are centred
_LIGHT = 1 << 22  # entries of float32 items below which float64 costs nothing and reaches further
_ALIKE = 1e6  # columns whose ranges differ by less are of similar units


@dataclass(frozen=True, eq=False)
class Problem:
    """An objective, and what turns its solution into a metric on the user's items.

    ``total`` is the weight of all comparisons, ``unit`` the coefficient of one of weight one,
    ``root`` a factor of a given prior in the objective's coordinates.
    """

    objective: Objective
    scale: float
    total: float
    unit: float
    basis: Items | None
    prior: str | Floats | None
    root: Floats | None

    def lower(self, factor: Floats | None) -> Floats | None:
        """A factor of the user's, in the objective's coordinates; None if nothing is left there."""
        if factor is None or self.basis is None:
            return factor
        inside: Floats = self.basis.T @ factor
        return inside if np.linalg.norm(inside) > 1e-8 * np.linalg.norm(factor) else None

    def raised(self, factor: Floats) -> Floats:
        """A factor of the objective's, in the user's coordinates."""
        return factor if self.basis is None else self.basis @ factor

    def lift(self, result: Result, k: int | None) -> Result:
        """A solver's result in the user's coordinates, with the prior mixed in, cut to k rows."""
        factor = self.raised(result.factor)
        whole = spectrum(factor, self.prior, self.objective.t, k)
        return replace(
            result,
            factor=factor,
            components=whole.components,
            eigenvalues=whole.eigenvalues,
            retained=whole.retained,
            scale=self.scale,
        )

    def on(self, comparisons: Comparisons) -> Objective:
        """The objective of other comparisons of the same items, in the same units."""
        objective = self.objective
        prior = objective.prior if comparisons is objective.comparisons else None
        if objective.t > 0.0 and prior is None:
            distances = _prior_distances(objective.X, comparisons, self.root, self.n_features)
            prior = objective.scale * distances
        return objective.replace(
            comparisons=comparisons,
            coefficients=scaled(comparisons.weights, self.unit),
            prior=prior,
        )

    def vary(self, loss: Loss, C: float, t: float) -> Problem:
        """The same comparisons with another loss, C or weight of the prior."""
        objective = self.objective.replace(loss=loss, t=t)
        varied = replace(self, objective=objective, unit=C / self.total)
        return replace(varied, objective=varied.on(objective.comparisons))

    def steady(self, factor: Floats) -> float:
        """The C from which on rho stays 0 and M the same, where M is that of ``rho = 0``.

        Beyond it C is but a factor of the whole objective.
        """
        point = self.objective.at(factor, exact=True)
        return self.unit * self.total / float(self.objective.slopes(point.z, 0.0).sum())

    def mapped(self, factor: Floats) -> Mapped:
        """The items under the metric of a factor in the objective's coordinates."""
        o = self.objective
        Z = forward(o.X, factor / np.linalg.norm(factor), exact=True)
        tables = [(o.share * o.scale, Z - Z.mean(axis=0))]
        if o.t > 0.0 and self.root is None:
            tables.append((o.t * o.scale / self.n_features, o.X))
        elif o.t > 0.0 and self.root is not None:
            Z = forward(o.X, self.root, exact=True)
            tables.append((o.t * o.scale, Z - Z.mean(axis=0)))
        return Mapped(*tables)

    @property
    def n_features(self) -> int:
        """Of the user's items."""
        return int(self.objective.X.shape[1] if self.basis is None else self.basis.shape[0])


def build(
    X: Items,
    indices: Ints,
    weights: Floats | None,
    loss: Loss,
    C: float,
    prior: str | Floats | None,
    t: float,
    *,
    every_item: bool = False,
) -> Problem:
    """The problem of validated items and comparisons; weight 0 means left out.

    ``every_item`` keeps items that no comparison mentions.
    """
    if weights is not None and not weights.all():
        indices, weights = indices[weights > 0.0], weights[weights > 0.0]
    comparisons = Comparisons.from_indices(indices, weights)
    items = comparisons.items()
    D = X.shape[1]
    # More than half of a large X is not copied to leave out the rest.
    enough = len(items) if X.shape[0] * D <= _LIGHT else 2 * len(items)
    if not every_item and enough < X.shape[0]:
        comparisons, X = comparisons.relabel(items), X[items]
    if X.dtype == np.float32 and X.shape[0] * X.shape[1] <= _LIGHT:
        X = X.astype(np.float64)
    X, factor = tame(X)
    euclidean = squared_differences(X, *comparisons.edges.T)
    far, total = comparisons.far_sums(comparisons.weights, euclidean)
    if not far > 0.0:
        raise ValueError(
            "X: the two items of every far pair coincide (distance 0), so no metric can tell them "
            "apart; expected at least one far pair of different rows."
        )
    scale = D / (far / total)  # the mean far distance under I/D becomes one
    X, basis = _coordinates(X)
    objective = Objective(X, comparisons, np.empty(0), scale, loss, None, t)
    root = _root(prior, basis) if isinstance(prior, np.ndarray) else None
    problem = Problem(objective, scale * factor * factor, total, C / total, basis, prior, root)
    return replace(problem, objective=problem.on(comparisons))


def scaled(weights: Floats, unit: float) -> Floats:
    """Weights in other units; equal ones stay a single number behind a view."""
    if weights.strides == (0,):
        return np.broadcast_to(unit * weights[0], weights.shape)
    return unit * weights


def _coordinates(X: Items) -> tuple[Items, Items | None]:
    """X in the coordinates of the solver, and the basis that leads back (None: the same).

    Columns that never differ are left out, large offsets, which cancel badly, are taken away, and
    few dense items are expressed in the span of their rows. X itself, not a copy, where none of
    this is called for.
    """
    basis: Items | None = None
    low, high = extremes(X)
    range_: Floats = high.astype(np.float64) - low
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


def _root(prior: Floats, basis: Items | None) -> Floats:
    """R with ``R R' = prior``, in the coordinates of the solver."""
    e, U = eigh(prior)
    root: Floats = U * np.sqrt(np.maximum(e, 0.0))
    return root if basis is None else basis.T @ root


def _prior_distances(
    X: Items, comparisons: Comparisons, root: Floats | None, n_features: int
) -> Floats:
    """Squared distances of the edges under M0, trace one."""
    if root is None:
        return squared_differences(X, *comparisons.edges.T) / n_features
    Z = forward(X, root, exact=True)
    return edge_distances(Z - Z.mean(axis=0), comparisons.edges)
