"""Base classes of the estimators: from parameters to a fit, from a result to attributes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from ..._support.typing import Floats, Ints
from ...linalg.items import Items
from ...problem.result import Callback, Result, Status
from ..fit.checkpoint import Checkpoint, Fingerprinted, checkpointed, problem_key
from ..fit.parameters import FitParameters
from ..fit.run import Fit
from .automatic import learned_coordinates
from .callbacks import CallbackSupportMixin, FitTask
from .coordinates import Coordinates
from .metric import MetricMixin
from .validate import set_fitted

__all__ = ["MetricEstimator", "SDPEstimator"]


class MetricEstimator(ClassNamePrefixFeaturesOutMixin, MetricMixin, BaseEstimator):
    """A metric as scikit-learn sees it: a supervised transformer that takes sparse rows."""

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True, eq=False)
class InCoordinates:
    """The rows, the parameters and the start of a fit in the coordinates that it has learned."""

    coordinates: Coordinates
    X: Items
    fit: Fit
    start: Floats | None


class SDPEstimator(CallbackSupportMixin, MetricEstimator):
    """An estimator that makes one fit; its parameters include the fields of `FitParameters`."""

    # Called before every step, for tests that follow a fit; scikit-learn's callbacks cost more.
    _watch: Callback | None = None

    def _parameters(self) -> FitParameters:
        return FitParameters(**{f.name: getattr(self, f.name) for f in fields(FitParameters)})

    def _start(self, n_features: int) -> Floats | None:
        """The factor of the last fit, for raw rows, with ``warm_start``, else None."""
        factor: Floats | None = getattr(self, "_factor", None) if self.warm_start else None
        if factor is not None and len(factor) != n_features:
            raise ValueError(
                f"X has {n_features} features, but warm_start=True goes on from a fit with "
                f"{len(factor)}."
            )
        return factor

    def _checkpoint(
        self, fit: Fit, X: Fingerprinted, **data: Any
    ) -> AbstractContextManager[Checkpoint]:
        """The checkpoint of a fit to these data."""
        seed = fit.limits.seed
        return checkpointed(self.checkpoint, lambda: problem_key(self, seed, X, **data), X.shape[1])

    def _in_coordinates(
        self, X: Items, y: Ints, fit: Fit, start: Floats | None, task: FitTask
    ) -> InCoordinates:
        """Learn the coordinates, and take the rows, a given prior and the start there."""
        coordinates = learned_coordinates(self.coordinates, X, y, fit.limits.seed)
        fit, start = self._inside(coordinates, fit, start, task)
        return InCoordinates(coordinates, coordinates.forward(X), fit, start)

    def _inside(
        self, coordinates: Coordinates, fit: Fit, start: Floats | None, task: FitTask
    ) -> tuple[Fit, Floats | None]:
        """Take a given prior and the start to the coordinates of a fit."""
        fit = fit.with_prior_matrix(coordinates.inward_matrix)
        task.coordinates, task.prior = coordinates, fit.prior
        return fit, None if start is None else coordinates.inward(start.T).T

    def _finish(
        self, result: Result, coordinates: Coordinates, n_triplets: int, task: FitTask
    ) -> None:
        """Set the fitted attributes; then raise KeyboardInterrupt again, if there was one.

        So a notebook cell, a loop or a grid search stops, and the metric is usable all the same.
        """
        self._take(result, coordinates, n_triplets, task.columns)
        task.end()
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt

    def _take(
        self, result: Result, coordinates: Coordinates, n_triplets: int, columns: dict[str, Any]
    ) -> None:
        """Set the fitted attributes."""
        set_fitted(
            self,
            columns,
            # A warm start needs the factor: components_ have the prior mixed in, and may be cut. It
            # is one for raw rows, since the next fit learns coordinates of its own.
            _factor=coordinates.back(result.factor.T).T,
            components_=coordinates.back(result.components),
            coordinates_=coordinates,
            eigenvalues_=result.eigenvalues,
            retained_=result.retained,
            rho_=result.rho,
            objective_=result.objective,
            upper_bound_=result.upper_bound,
            gap_=result.gap,
            scale_=result.scale,
            status_=result.status,
            converged_=result.converged,
            n_iter_=result.n_iter,
            n_triplets_=n_triplets,
            history_=result.history,
        )
