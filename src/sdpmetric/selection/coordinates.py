"""The coordinates in which a metric is learned: raw, standardised, or whitened within classes.

Trace one is not invariant to the units of the columns: where one is a thousand times another, a
metric that needs the small one must spend nearly all of its trace on it. So the coordinates are a
choice like C. All of them are linear: a metric learned in any is one on the raw rows.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.covariance import ledoit_wolf
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._typing import Floats, Items
from ..inputs import as_labels, as_triplets
from ..metric import validated
from ..validation import check_choice

__all__ = ["COORDINATES", "Coordinates"]

COORDINATES = ("raw", "standard", "within")
_WITHIN_LIMIT = 4096  # columns up to which a covariance is estimated


class Coordinates(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Map rows to the coordinates in which a metric is learned.

    Parameters
    ----------
    kind : {"raw", "standard", "within"}, default="standard"
        "raw": as they are. "standard": columns of unit deviation. "within": whitened by the
        covariance of rows around the mean of their class, or of near pairs where comparisons are
        given instead of labels (Ledoit and Wolf's estimate, so that few rows will do).

    Attributes
    ----------
    map_ : (D,) factors of the columns, or (D, D) array; ``X @ map_.T`` are the new coordinates

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric.selection.coordinates import Coordinates
    >>> X = np.array([[0.0, 0.0], [2.0, 2000.0], [0.0, 2000.0], [2.0, 0.0]])
    >>> Coordinates("standard").fit_transform(X, [0, 0, 1, 1]).tolist()
    [[0.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0]]
    """

    def __init__(self, kind: str = "standard") -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the map from rows and their labels, or items and their comparisons."""
        check_choice("kind", self.kind, COORDINATES)
        X = validated(self, X, reset=True)
        if self.kind == "within":
            check_within(X)
            if y is None:
                raise ValueError("kind='within' requires y to be passed, but the target y is None.")
            self.map_ = _whitening(X, y)
        elif self.kind == "standard":
            self.map_ = 1.0 / StandardScaler(with_mean=False).fit(X).scale_
        else:
            self.map_ = np.ones(X.shape[1])
        return self

    def transform(self, X: Any) -> Any:
        """Rows in the new coordinates; sparse rows stay sparse."""
        check_is_fitted(self)
        return self.forward(validated(self, X))

    def forward(self, X: Items) -> Items:
        """`transform` for checked rows."""
        if self.kind == "raw":
            return X
        if self.map_.ndim == 2:
            return X @ self.map_.T.astype(X.dtype)
        if sp.issparse(X):
            scaled = X.copy()
            scaled.data = scaled.data * self.map_.astype(X.dtype)[scaled.indices]
            return scaled
        return X * self.map_.astype(X.dtype)

    def back(self, components: Floats) -> Floats:
        """Components in these coordinates as ones of the raw rows, M of trace one again."""
        raw = components * self.map_ if self.map_.ndim == 1 else components @ self.map_
        norm = float(np.linalg.norm(raw))
        return raw / norm if norm > 0.0 else raw

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.kind == "within"
        tags.input_tags.sparse = self.kind != "within"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_within(X: Items) -> None:
    """Whether X can be whitened."""
    if sp.issparse(X):
        raise ValueError("coordinates='within' needs a dense X, got a sparse one.")
    if X.shape[1] > _WITHIN_LIMIT:
        raise ValueError(
            f"coordinates='within' is for up to {_WITHIN_LIMIT} features, X has {X.shape[1]}."
        )


def _whitening(X: Items, y: Any) -> Floats:
    """The symmetric inverse root of the covariance of what should be near."""
    given = np.asarray(y)
    if given.ndim == 2:
        pairs = as_triplets(given, X.shape[0])[:, :2]
        apart = np.asarray(X[pairs[:, 0]] - X[pairs[:, 1]], dtype=np.float64)
    else:
        codes = as_labels(y)[1]
        sizes = np.bincount(codes)
        means = np.zeros((len(sizes), X.shape[1]))
        np.add.at(means, codes, X)
        apart = X - (means / sizes[:, None])[codes]
    # In units of the columns: shrinking toward the identity must not drown the small ones.
    deviation = X.std(axis=0, dtype=np.float64)
    unit = np.where(deviation > 0.0, deviation, 1.0)
    covariance = ledoit_wolf(apart / unit, assume_centered=True)[0]
    e, U = eigh(covariance)
    root: Floats = (U / np.sqrt(np.maximum(e, 1e-8 * e[-1]))) @ U.T / unit
    return root
