"""`TripletSDPMetricCV`: settings chosen on held-out comparisons."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from ..._support.checks import check_choice, seed_of
from ..._support.deadline import Deadline
from ..._support.progress import Report
from ..._support.registry import METRICS, stored_in
from ..._support.typing import Ints
from ...evaluation.folds import FOLDS_BY, comparison_splits
from ...linalg.items import Items, check_varied
from ...problem.checks import as_triplets, as_weights
from ...problem.losses import Loss
from ..estimators.callbacks import SearchTask, with_callbacks
from ..estimators.triplet_sdp_metric import TripletSDPMetric
from ..estimators.validate import rows_to_fit
from .base import SearchEstimator
from .triplet_split import TripletCandidate, TripletSplit

__all__ = ["TripletSDPMetricCV"]

# Comparisons from which one fold is enough to discard most candidates; with fewer, three folds.
_MANY = 5_000
_FIRST = 3


@stored_in(METRICS)
class TripletSDPMetricCV(SearchEstimator):
    """`TripletSDPMetric` with settings chosen on held-out comparisons.

    Attributes are those of `SDPMetricCV`; scores are shares of held-out comparisons answered
    correctly.

    Parameters
    ----------
    Cs, n_components, loss, coordinates, h, prior, prior_weight, search, one_standard_error, \
solver, solver_options, search_tol, tol, max_iter, time_limit, random_state, \
n_jobs, checkpoint, progress
        As in `SDPMetricCV`; "within" coordinates are whitened by the scatter of near pairs.
    doubt : float, default=2.0
        As in `SDPMetricCV`, whose default is 1: what suits comparisons was not measured.
    cv : None, int, splitter or iterable, default=None
        Number of folds, or a splitter of comparisons. None: five folds; all settings are tried on
        three of them, from 5,000 comparisons on one, and the best three on the others.
    folds : {"anchor", "comparison", "item", "group"}, default="anchor"
        Comparisons that are held out together. "anchor": those of one anchor. "comparison": each
        one alone. "item": all that mention an item of the fold, so that these items are new.
        "group": those of one of the ``groups`` given to `fit`, for example one participant.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import TripletSDPMetricCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 40))
    >>> T = np.array([rng.choice(60, 3, replace=False) for _ in range(30)])  # answers at random
    >>> chosen = TripletSDPMetricCV(Cs=3).fit(X, T)
    >>> chosen.best_params_["prior_weight"]  # nothing to learn: Euclidean distance stays
    1.0
    """

    def __init__(
        self,
        Cs: Any = 4,
        *,
        n_components: int | None = None,
        loss: str | Loss = "huber",
        coordinates: Any = None,
        h: Any = 0.05,
        prior: Any = "identity",
        prior_weight: Any = (0.0, 0.2, 0.6),
        cv: Any = None,
        folds: str = "anchor",
        search: str = "stages",
        doubt: float = 2.0,
        one_standard_error: bool = False,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        search_tol: float = 1e-2,
        tol: float = 1e-4,
        max_iter: int = 3000,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | Report = False,
        checkpoint: Any = None,
    ) -> None:
        self.Cs = Cs
        self.n_components = n_components
        self.loss = loss
        self.coordinates = coordinates
        self.h = h
        self.prior = prior
        self.prior_weight = prior_weight
        self.cv = cv
        self.folds = folds
        self.search = search
        self.doubt = doubt
        self.one_standard_error = one_standard_error
        self.solver = solver
        self.solver_options = solver_options
        self.search_tol = search_tol
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.checkpoint = checkpoint

    @with_callbacks
    def fit(self, X: Any, triplets: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the settings, then learn the metric from all comparisons.

        Parameters
        ----------
        X : (n, D) items, dense or sparse
        triplets : (m, 3) row indices [anchor, near, far], or (m, 4) [near, near, far, far]
        sample_weight : (m,) weight of each comparison
        groups : (m,) comparisons of one group are held out together, with ``folds="group"``
        """
        deadline, task = Deadline(), SearchTask(self, X, triplets, sample_weight)
        X, _, task.columns = rows_to_fit(self, X)
        checked = self._checked_space(X, deadline)
        check_choice("folds", self.folds, FOLDS_BY)
        indices = as_triplets(triplets, X.shape[0])
        weights = as_weights(sample_weight, len(indices))
        check_varied(X)
        seed = seed_of(self.random_state)

        def split(train: Ints, held: Ints) -> TripletSplit:
            return TripletSplit(
                fit=checked.fit,
                losses=checked.losses,
                X=X,
                train=indices[train],
                train_weights=None if weights is None else weights[train],
                held=indices[held],
                held_weights=None if weights is None else weights[held],
            )

        splits = comparison_splits(self.cv, indices, self.folds, groups, seed, weights)
        cells = self._cells(checked, X, splits, triplets=indices, weights=weights)
        # The user's own splits are all tried with all settings, as scikit-learn's searches do.
        n_first = len(splits)
        if self.cv is None and self.search == "stages":
            n_first = 1 if len(indices) >= _MANY else _FIRST
        choice = self._choose(
            checked.space(TripletCandidate, self.search == "product"),
            [split(*rows) for rows in splits[:n_first]],
            checked,
            task,
            [partial(split, *rows) for rows in splits[n_first:]],
            cells,
            split_size=float(X.shape[0] * X.shape[1]),
        )
        metric = TripletSDPMetric(**self._best_parameters(choice))
        return self._refit(
            metric, choice, checked.deadline, task, X, indices, cells, sample_weight=weights
        )

    def score(self, X: Any, triplets: Any, sample_weight: Any = None) -> float:
        """The share of comparisons answered correctly, as `triplet_accuracy`."""
        return self.triplet_accuracy(X, triplets, sample_weight)

    def _grids(self, X: Items) -> dict[str, Any]:
        grids = {"prior_weight": self.prior_weight, "h": self.h}
        return {"coordinates": self._coordinates(X)} | grids
