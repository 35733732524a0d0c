"""`MetricMixin`: the methods of a fitted metric, whatever data it was learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._support.checks import as_floats
from ..._support.typing import Dense, Floats
from ...engines.dask_arrays import is_dask, map_blocks_lazily
from ...evaluation.answered import triplet_accuracy
from ...linalg.dense_items import DenseItems
from ...linalg.distances import rescaled_together
from ...linalg.items import Items, as_items
from ...linalg.scaling import lengths
from ...persistence.model_file import save
from ...problem.checks import as_triplets, as_weights
from ...problem.comparisons import Comparisons
from .validate import validated

__all__ = ["MetricMixin", "components_of"]


class _MapOfRows(TransformerMixin):
    """`transform` of rows in memory, whose result scikit-learn's ``set_output`` converts."""

    components_: Floats

    def transform(self, X: Any) -> Dense:
        mapped: Dense = validated(self, X).mapped(self.components_).raw
        return mapped


# Without keys scikit-learn converts nothing here: it would compute a Dask array in this process.
class MetricMixin(_MapOfRows, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Distances under ``M = components_' components_``; a distance is the root of the form."""

    def transform(self, X: Any) -> Dense:
        """Map rows so that Euclidean distances between them are distances under the metric.

        Parameters
        ----------
        X : (n, D), dense or sparse, or a dask.array

        Returns
        -------
        (n, k) array of X's precision, or what ``set_output`` asks for; always a dask.array, not
        computed yet, if X is one
        """
        check_is_fitted(self)
        mapped: Dense = self._transform_lazily(X) if is_dask(X) else super().transform(X)
        return mapped

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Dense:
        """Fit to rows and `transform` them."""
        if is_dask(X):
            fitted: MetricMixin = self.fit(X, y, **fit_params)
            return fitted.transform(X)
        mapped: Dense = super().fit_transform(X, y, **fit_params)
        return mapped

    def _transform_lazily(self, X: Any) -> Any:
        """`transform` of a Dask array: each of its blocks, once it is computed."""
        if X.ndim != 2 or X.shape[1] != self.components_.shape[1]:
            raise ValueError(
                f"X has shape {X.shape}, but {type(self).__name__} is expecting "
                f"{self.components_.shape[1]} features as input."
            )
        dtype = X.dtype if X.dtype == np.float32 else np.dtype(np.float64)
        return map_blocks_lazily(X, BlockMap(self.components_), len(self.components_), dtype)

    def get_mahalanobis_matrix(self) -> Floats:
        """M itself, (D, D): positive semidefinite, trace one (entries may be negative)."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def get_metric(self) -> Callable[..., float]:
        """A function ``metric(u, v, squared=False)`` of two vectors.

        For k-nearest neighbours `transform` followed by Euclidean distances is far faster.
        """
        check_is_fitted(self)
        # A copy: the function stays the same if the estimator is fitted again.
        components = self.components_.copy()

        def metric(u: Any, v: Any, squared: bool = False) -> float:
            u, v = as_floats("u", u), as_floats("v", v)
            if u.shape != (components.shape[1],) or v.shape != u.shape:
                raise ValueError(
                    f"u and v must be vectors of length {components.shape[1]}, got shapes "
                    f"{u.shape} and {v.shape}."
                )
            length = float(lengths(u, v, components))
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
        if is_dask(pairs):
            # NumPy would compute it here, all of it.
            raise ValueError(
                "pairs is a Dask array, expected an array in one memory: pairs.compute(), or "
                "differences of rows of transform(X), which stays lazy."
            )
        given = as_floats("pairs", pairs)
        D = self.components_.shape[1]
        if given.ndim != 3 or given.shape[1:] != (2, D):
            raise ValueError(f"pairs must have shape (n, 2, {D}), got {given.shape}.")
        return lengths(given[:, 0], given[:, 1], self.components_)

    def pairwise_distances(self, X: Any, Y: Any = None) -> Floats:
        """The distance, not squared, of every row of X to every row of Y (of X if None)."""
        left = DenseItems(self.transform_array(X))
        right = left if Y is None else DenseItems(self.transform_array(Y))
        A, B, factor = rescaled_together(left, right)
        # cdist takes differences; products would be faster, but lose the digits of near rows.
        distances: Floats = cdist(A.raw, B.raw)
        with np.errstate(over="ignore"):  # infinite only if larger than any float64
            distances /= factor
        return distances

    def triplet_accuracy(self, X: Any, triplets: Any, sample_weight: Any = None) -> float:
        """The share of comparisons answered correctly: near strictly nearer than far.

        Parameters
        ----------
        X : (n, D) items
        triplets : (m, 3) or (m, 4) row indices, as for fitting
        sample_weight : (m,) weights
        """
        check_is_fitted(self)
        mapped = self._validated(X).mapped(self.components_, exact=True)
        indices = as_triplets(triplets, len(mapped))
        weights = as_weights(sample_weight, len(indices))
        comparisons = Comparisons.from_indices(indices, weights)
        return triplet_accuracy(mapped, comparisons)

    def save(self, path: Any) -> None:
        """Write the metric to a file that `sdpmetric.load` reads; an existing one is replaced.

        The file runs no code when it is loaded. It is written whole or not at all.

        Parameters
        ----------
        path : file name that ends in ``.safetensors``, or in ``.json`` for a small metric
        """
        save(self, path)

    def transform_array(self, X: Any) -> Floats:
        """`transform` in float64 and always as an array, whatever ``set_output`` says."""
        check_is_fitted(self)
        mapped: Floats = self._validated(X).mapped(self.components_, exact=True).raw
        return mapped

    def _validated(self, X: Any) -> Items:
        return validated(self, X)


class BlockMap:
    """The map of a metric for one block of rows: all that a worker needs."""

    def __init__(self, components: Floats) -> None:
        self.components = components

    def __call__(self, block: Any) -> Dense:
        mapped: Dense = as_items(block).mapped(self.components).raw
        return mapped


def components_of(metric: Any) -> Floats:
    """The (k, D) map of a fitted metric."""
    if not isinstance(metric, MetricMixin):
        raise ValueError(
            f"metric must be a fitted metric such as SDPMetric, got {type(metric).__name__} "
            "(whole pipelines can be exported to ONNX)."
        )
    check_is_fitted(metric)
    return metric.components_
