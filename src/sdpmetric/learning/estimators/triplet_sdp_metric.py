"""`TripletSDPMetric`: a metric from given comparisons."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from ..._support.deadline import Deadline
from ..._support.progress import Report, shown
from ..._support.registry import METRICS, stored_in
from ...engines.dask_arrays import is_dask
from ...engines.threads import thread_pool
from ...linalg.items import check_varied
from ...problem.checks import as_triplets, as_weights
from ...problem.losses import Loss
from .automatic import check_coordinates
from .base import SDPEstimator
from .callbacks import FitTask, with_callbacks
from .chunked_fit import fit_comparisons
from .validate import rows_to_fit

__all__ = ["TripletSDPMetric"]


@stored_in(METRICS)
class TripletSDPMetric(SDPEstimator):
    """Large-margin Mahalanobis metric from comparisons of items, with a certificate.

    A comparison says "item i is closer to j than to k": an answer of a person, a click, or the
    output of another model. Parameters and attributes are those of `SDPMetric` without the ones for
    labels. ``coordinates="auto"`` looks at the share of comparisons that Euclidean distance answers
    correctly; "within" whitens by the scatter of near pairs. The comparisons take the place of y,
    so the estimator can end a Pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import TripletSDPMetric
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 4))
    >>> T = np.array([rng.choice(50, 3, replace=False) for _ in range(300)])
    >>> d = lambda a, b: np.abs(X[a, 0] - X[b, 0])  # people look at the first feature only
    >>> swap = d(T[:, 0], T[:, 1]) > d(T[:, 0], T[:, 2])
    >>> T[swap] = T[swap][:, [0, 2, 1]]
    >>> metric = TripletSDPMetric().fit(X, T)
    >>> metric.score(X, T) > 0.95
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        loss: str | Loss = "huber",
        C: float = 7.0,
        h: float = 0.05,
        coordinates: str = "auto",
        prior: Any = "identity",
        prior_weight: float = 0.0,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-4,
        max_iter: int = 3000,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        progress: bool | Report = False,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.C = C
        self.h = h
        self.coordinates = coordinates
        self.prior = prior
        self.prior_weight = prior_weight
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.progress = progress

    @with_callbacks
    def fit(self, X: Any, triplets: Any, sample_weight: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : (n, D) items, dense or sparse, or a dask.array in chunks of rows
        triplets : (m, 3) row indices [anchor, near, far], or (m, 4) [near, near, far, far]
        sample_weight : (m,) weight of each comparison; 2 equals giving it twice, 0 leaving it out
        """
        deadline, task = Deadline(), FitTask(self, X, triplets, sample_weight)
        if is_dask(X):
            fit_comparisons(self, X, triplets, sample_weight, deadline, task)
            return self
        X, _, task.columns = rows_to_fit(self, X)
        fit = self._parameters().resolve(X.shape[1], deadline)
        indices = as_triplets(triplets, X.shape[0])
        weights = as_weights(sample_weight, len(indices))
        check_coordinates(self.coordinates, X)
        check_varied(X)
        start = self._start(X.shape[1])
        data = {"triplets": indices, "weights": weights}
        with (
            shown(self.progress) as stages,
            thread_pool(fit.n_jobs),
            self._checkpoint(fit, X, **data) as checkpoint,
        ):
            # Comparisons of weight 0 are left out of everything.
            counted = indices if weights is None else indices[weights > 0.0]
            inside = self._in_coordinates(X, counted, fit, start, task)
            prepared = inside.fit.prepare(inside.X, indices, weights)
            run = partial(checkpoint.run_once, inside.fit, prepared, inside.start)
            result = task.shown_in(stages, "fit", fit.limits.tol, run)
        self._finish(result, inside.coordinates, len(counted), task)
        return self

    def score(self, X: Any, triplets: Any, sample_weight: Any = None) -> float:
        """The share of comparisons answered correctly, as `triplet_accuracy`."""
        return self.triplet_accuracy(X, triplets, sample_weight)
