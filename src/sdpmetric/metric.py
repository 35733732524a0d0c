"""What a fitted metric can do, whatever it was learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._typing import Dense, Floats, Items
from .comparisons import Comparisons
from .inputs import as_csr, as_triplets, as_weights, check_finite
from .products import edge_distances

__all__ = ["MetricMixin", "validated"]


class MetricMixin(TransformerMixin):
    """Distances under ``M = components_' components_``; a distance is the root of the form."""

    components_: Floats

    def transform(self, X: Any) -> Dense:
        """Map rows so that Euclidean distances between them are distances under the metric.

        Parameters
        ----------
        X : (n, D), dense or sparse

        Returns
        -------
        (n, k) array of X's precision
        """
        check_is_fitted(self)
        X = self._validated(X)
        mapped: Dense = np.asarray(X @ self.components_.T.astype(X.dtype))
        return mapped

    def get_mahalanobis_matrix(self) -> Floats:
        """M itself, (D, D): positive semidefinite, trace one (entries may be negative)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def get_metric(self) -> Callable[..., float]:
        """A function ``metric(u, v, squared=False)`` of two vectors.

        For k-nearest neighbours `transform` followed by Euclidean distances is far faster.
        """
        check_is_fitted(self)
        components = self.components_.copy()

        def metric(u: Any, v: Any, squared: bool = False) -> float:
            u, v = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
            if u.shape != (components.shape[1],) or v.shape != u.shape:
                raise ValueError(
                    f"u and v must be vectors of length {components.shape[1]}, got shapes "
                    f"{u.shape} and {v.shape}."
                )
            length = float(np.linalg.norm(components @ (u - v)))
            return length * length if squared else length

        return metric

    def pair_distance(self, pairs: Any) -> Floats:
        """The distance within each pair.

        Parameters
        ----------
        pairs : (n, 2, D) array of pairs of points

        Returns
        -------
        (n,) distances, not squared
        """
        check_is_fitted(self)
        given = np.asarray(pairs, dtype=np.float64)
        D = self.components_.shape[1]
        if given.ndim != 3 or given.shape[1:] != (2, D):
            raise ValueError(f"pairs must have shape (n, 2, {D}), got {given.shape}.")
        mapped = (given[:, 0] - given[:, 1]) @ self.components_.T
        lengths: Floats = np.linalg.norm(mapped, axis=1)
        return lengths

    def pairwise_distances(self, X: Any, Y: Any = None) -> Floats:
        """The distance, not squared, of every row of X to every row of Y (of X if None)."""
        A = self.transform_array(X)
        B = A if Y is None else self.transform_array(Y)
        return np.asarray(cdist(A, B))

    def triplet_accuracy(self, X: Any, triplets: Any, sample_weight: Any = None) -> float:
        """The share of comparisons that the metric answers rightly: near strictly nearer than far.

        Parameters
        ----------
        X : (n, D) items
        triplets : (m, 3) or (m, 4) row indices, as for fitting
        sample_weight : (m,) weights
        """
        mapped = self.transform_array(X)
        indices = as_triplets(triplets, len(mapped))
        weights = as_weights(sample_weight, len(indices))
        comparisons = Comparisons.from_indices(indices, weights)
        right = comparisons.margins(edge_distances(mapped, comparisons.edges)) > 0.0
        return float(np.average(right, weights=comparisons.weights))

    def save(self, path: Any) -> None:
        """Write the metric to a file that `sdpmetric.load` reads; an existing one is replaced.

        The file runs no code when it is loaded, and is complete or not there at all.

        Parameters
        ----------
        path : file name that ends in ``.safetensors``, or in ``.json`` for a small metric
        """
        from .model_file import save  # which knows all estimators

        save(self, path)

    def transform_array(self, X: Any) -> Floats:
        """`transform` in float64 and always as an array, whatever ``set_output`` says."""
        check_is_fitted(self)
        return np.asarray(self._validated(X) @ self.components_.T, dtype=np.float64)

    def _validated(self, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
        return validated(self, X, y, reset=reset)


def validated(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = False) -> Any:
    """X (and y) by scikit-learn's rules, but our own word on what is not finite."""
    checked = validate_data(
        estimator,
        X,
        y,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
    )
    items = checked[0] if isinstance(checked, tuple) else checked
    if sp.issparse(items):
        items = as_csr(items)
    _finite(items)
    return (items, checked[1]) if isinstance(checked, tuple) else items


def _finite(X: Items) -> None:
    check_finite(X, X.data if sp.issparse(X) else X)
