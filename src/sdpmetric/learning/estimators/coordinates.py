"""The coordinates in which a metric is learned: raw, standardised, or whitened within classes.

Trace one is not invariant to the units of the columns. If one column is a thousand times as large
as another, a metric that needs the small column must spend nearly all of its trace on it. So the
coordinates are a choice like C. They are linear maps: a metric learned in any of them is a metric
on the raw rows.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, solve
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.covariance import ledoit_wolf
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..._support.checks import check_choice
from ..._support.memory import check_memory
from ..._support.registry import TRANSFORMERS, stored_in
from ..._support.typing import Floats
from ...linalg.blocks import blocks
from ...linalg.interface import Table
from ...linalg.items import Items
from ...linalg.scaling import column_factors, power_of_two
from ...problem.checks import as_triplets
from ...triplets.labels import as_labels
from .validate import rows_to_fit, set_fitted, validated

__all__ = ["COORDINATES", "Coordinates", "check_within", "deviations", "inverses"]

COORDINATES = ("raw", "standard", "within")
# Columns up to which rows are whitened: the covariance then has 128 MB, and its decomposition takes
# D^3 steps.
_WITHIN_LIMIT = 4096
# Least eigenvalue of the covariance, relative to the largest: a direction in which near rows never
# differ would otherwise be stretched without limit.
_LEAST_EIGENVALUE = 1e-8
# Of near rows, in deviations: below, all of them count as equal, and columns keep unit deviation.
_LEAST_DIFFERENCE = 1e-290


@stored_in(TRANSFORMERS)
class Coordinates(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Map rows to the coordinates in which a metric is learned.

    Parameters
    ----------
    kind : {"raw", "standard", "within"}
        "raw": as they are. "standard": columns of unit deviation. "within": whitened by the
        covariance of rows around the mean of their class, or of near pairs where comparisons are
        given instead of labels (Ledoit and Wolf's estimate, so that few rows will do).

    Attributes
    ----------
    map_ : (D,) factors of the columns, or (D, D) array; ``X @ map_.T`` are the new coordinates

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric.learning.estimators.coordinates import Coordinates
    >>> X = np.array([[0.0, 0.0], [2.0, 2000.0], [0.0, 2000.0], [2.0, 0.0]])
    >>> Coordinates("standard").fit_transform(X, [0, 0, 1, 1]).tolist()
    [[0.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0]]
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the map from rows and their labels, or items and their comparisons."""
        check_choice("kind", self.kind, COORDINATES)
        rows, _, columns = rows_to_fit(self, X)
        set_fitted(self, columns, map_=self._map(rows, y))
        return self

    def learn(self, X: Items, y: Any = None) -> Self:
        """`fit` for checked rows."""
        self.n_features_in_ = X.shape[1]
        self.map_ = self._map(X, y)
        return self

    @classmethod
    def known(cls, kind: str, map_: Floats) -> Self:
        """Coordinates whose map is known."""
        coordinates = cls(kind)
        coordinates.n_features_in_, coordinates.map_ = len(map_), map_
        return coordinates

    def _map(self, X: Items, y: Any) -> Floats:
        if self.kind == "within":
            check_within(X)
            if y is None:
                raise ValueError("kind='within' requires y to be passed, but the target y is None.")
            return _whitening(X, y)
        if self.kind == "standard":
            # Distances do not depend on the mean, and subtracting it would fill sparse rows.
            rows, factors = _by_column(X)
            return inverses(_deviations(rows), factors, X.dtype)
        return np.ones(X.shape[1])

    def transform(self, X: Any) -> Any:
        """Rows in the new coordinates; sparse rows stay sparse."""
        check_is_fitted(self)
        return self.forward(validated(self, X)).raw

    def forward(self, X: Items) -> Items:
        """`transform` for checked rows."""
        if self.kind == "raw":
            return X
        return X.mapped(self.map_) if self.map_.ndim == 2 else X.multiplied(self.map_)

    def back(self, components: Floats) -> Floats:
        """Components for raw rows from components in these coordinates, with M of trace one."""
        if self.kind == "raw":
            return components
        return _unit(components * self.map_ if self.map_.ndim == 1 else components @ self.map_)

    def inward(self, components: Floats) -> Floats:
        """Components in these coordinates from components for raw rows, with M of trace one."""
        return components if self.kind == "raw" else _unit(self._undo(components))

    def inward_matrix(self, M: Floats) -> Floats:
        """The same squared distances, times a number, as a matrix in these coordinates."""
        if self.kind == "raw":
            return M
        inside = self._undo(self._undo(M).T)
        return inside / float(np.trace(inside))

    def _undo(self, components: Floats) -> Floats:
        if self.map_.ndim == 1:
            # Relative to the largest factor, so that the squares of the quotients stay in range.
            return components * (float(self.map_.max()) / self.map_)
        return np.asarray(solve(self.map_.T, components.T)).T

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.kind == "within"
        tags.input_tags.sparse = self.kind != "within"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _unit(components: Floats) -> Floats:
    """The components scaled to trace one; zeros stay zeros."""
    largest = float(np.abs(components).max(initial=0.0))
    if not largest > 0.0:
        return components
    # By the largest entry first: squares of the factors of extreme columns would overflow.
    scaled = components / largest
    return scaled / float(np.linalg.norm(scaled))


def check_within(X: Table) -> None:
    """Raise ValueError unless X can be whitened."""
    if X.sparse:
        raise ValueError("coordinates='within' needs a dense X, got a sparse one.")
    if X.shape[1] > _WITHIN_LIMIT:
        raise ValueError(
            f"coordinates='within' is for up to {_WITHIN_LIMIT} features, X has {X.shape[1]}."
        )


def deviations(X: Items) -> Floats:
    """The standard deviation of each column, zero for a constant one."""
    rows, factors = _by_column(X)
    return _deviations(rows) / factors


def _deviations(X: Items) -> Floats:
    """The standard deviation of each column, zero if rounding cannot tell it from zero."""
    if X.sparse:
        scaler = StandardScaler(with_mean=False).fit(X.raw)
        mean, variance = scaler.mean_, scaler.var_
    else:
        # Not by scikit-learn: on a small table its checks take longer than a round of a fit.
        mean, total = X.mean(), np.zeros(X.shape[1])
        for block in blocks(*X.shape):
            total += ((X.rows(block) - mean) ** 2).sum(axis=0)
        variance = total / len(X)
    # scikit-learn's bound on the rounding of a variance that is zero.
    n, eps = len(X), float(np.finfo(np.float64).eps)
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    deviation: Floats = np.sqrt(np.where(constant, 0.0, variance))
    return deviation


def _by_column(X: Items) -> tuple[Items, Floats]:
    """X with each column multiplied by a power of two that keeps its squares in range."""
    factors = column_factors(*X.extremes, X.dtype)
    return (X, np.ones(X.shape[1])) if factors is None else (X.multiplied(factors), factors)


def inverses(deviation: Floats, factors: Floats, dtype: npt.DTypeLike) -> Floats:
    """One over the deviation of each column of X, from that of ``X * factors``.

    1 for a constant column, and for one so close to it that X's precision cannot hold the inverse.
    """
    with np.errstate(over="ignore"):
        quotients = factors / np.where(deviation > 0.0, deviation, 1.0)
    found: Floats = np.where(quotients < _largest(dtype), quotients, 1.0)
    return found


def _largest(dtype: npt.DTypeLike) -> float:
    """A number that a precision can still multiply by the entries of a whitening map."""
    return math.sqrt(_LEAST_EIGENVALUE) * float(np.finfo(dtype).max)


def _whitening(X: Items, y: Any) -> Floats:
    """The symmetric inverse root of the covariance of differences that should be small."""
    given = np.asarray(y)
    # The rows or pairs, apart from each other, and scikit-learn's copy of these.
    n_rows = len(given) if given.ndim == 2 else len(X)
    check_memory(16.0 * n_rows * X.shape[1], "coordinates='within': the differences of near rows")
    X, factors = _by_column(X)
    rows = X.rows(slice(None))
    if given.ndim == 2:
        pairs = as_triplets(given, X.shape[0])[:, :2]
        apart = np.asarray(rows[pairs[:, 0]] - rows[pairs[:, 1]], dtype=np.float64)
    else:
        codes = as_labels(y)[1]
        sizes = np.bincount(codes)
        means = np.zeros((len(sizes), X.shape[1]))
        np.add.at(means, codes, rows)
        apart = rows - (means / sizes[:, None])[codes]
    # In units of the columns: shrinking toward the identity must not drown the small ones.
    each = inverses(rows.std(axis=0, dtype=np.float64), factors, X.dtype)
    apart *= each / factors
    # In units of the largest difference: squares of tiny ones would underflow.
    largest = float(np.abs(apart).max())
    size = power_of_two(largest) if largest > _LEAST_DIFFERENCE else 1.0
    if len(apart) == 1:
        # Twice the same difference has the same covariance, and scikit-learn does not warn of it.
        apart = np.repeat(apart, 2, axis=0)
    # Centred already: deviations by class means, and pairs have no first and second member.
    covariance = ledoit_wolf(apart * size, assume_centered=True)[0]
    e, U = eigh(covariance)
    least = _LEAST_EIGENVALUE * e[-1] if e[-1] > 0.0 else 1.0  # 1: no two near rows differ
    root: Floats = (U / np.sqrt(np.maximum(e, least))) @ U.T
    return root * (each * min(size, _largest(X.dtype) / float(each.max())))
