"""`SDPMetricCV`: settings chosen on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np

from ..._support.checks import check_choice, check_integer, seed_of
from ..._support.deadline import Deadline
from ..._support.progress import Report
from ..._support.registry import METRICS, stored_in
from ..._support.typing import Ints
from ...engines.threads import thread_pool
from ...evaluation.folds import row_splits
from ...linalg.items import Items, check_varied
from ...problem.losses import Loss
from ...triplets.knn import check_neighbors, check_pairs, triplet_ratio
from ...triplets.labels import as_labels
from ..estimators.automatic import automatic
from ..estimators.callbacks import SearchTask, with_callbacks
from ..estimators.sdp_metric import SDPMetric
from ..estimators.validate import rows_to_fit
from ..fit.labelled import LabelledRows, TripletRule, anchor_weights
from .base import SearchEstimator
from .choice import CheckedSpace
from .label_split import LabelCandidate, LabelSplit
from .search import FINALISTS

__all__ = ["SDPMetricCV"]

# Least and largest C for triplets="all": C is divided by the number of k-nearest triplets, but many
# more triplets have a loss, so smaller values do the same.
_ALL = 0.15, 8.0
# The least C over the threshold of a bounded objective; the same room as in the path for "knn".
_ROOM = 1.25
# A training part has fewer rows of other classes than all data, and with two folds half of them.
_FOLD_RATIO = 0.5
# Training rows of a split whose triplets are fitted: at least these, and at least this share. All
# training rows can be near or far rows, and vote.
_ANCHORS, _ANCHOR_SHARE = 2_000, 0.125
# From so many rows on the best one and the default settings meet again on the other splits. Scores
# are less noisy there, and a second best chose no better (benchmarks/README.md, bench-search).
_MANY = 1_000
_FINALISTS_OF_MANY = 2
# Least and largest C by default. Below, a metric has so few directions that the neighbours which
# the next round finds under it are accidents: of ten searches on Twin-Peaks, seven chose 1.25 and
# two rounds, and three of these had more errors on validation rows than Euclidean distance.
_BOUNDED = 3.5, 28.0  # four values by default: 3.5, 7, 14 and 28
_DEFAULT_C = 7.0  # the default of `SDPMetric`
# A lower C, for candidates that are safe from that: of one round, or with some weight of the prior.
_LOWEST = 1.75


@stored_in(METRICS)
class SDPMetricCV(SearchEstimator):
    """`SDPMetric` with settings chosen on held-out rows.

    The search walks a path over C for each candidate of several grids. Each fit starts from its
    neighbour on the path. The prior alone, that is Euclidean distance in each of the
    ``coordinates``, is always a candidate, and so are the default settings: the first value of
    every grid, the C nearest to 7, and the coordinates in which `SDPMetric` would learn. The better
    one of the two is replaced only for a clear gain.

    Parameters
    ----------
    Cs : int or list, default=4
        Values of C, or their number in a range that suits the loss: 3.5 to 28, and 1.75 beside them
        for one round or some weight of the prior. A path ends at ``rho = 0``, because the metric is
        the same for every larger C.
    n_components, loss, neighbors, class_weight, prior, solver, solver_options, tol, max_iter, \
time_limit, random_state, n_jobs, checkpoint
        As in `SDPMetric`; ``prior`` is "identity" or an array. Each of ``n_jobs`` threads tries
        another split, so that scores do not depend on their number.
    coordinates : list of {"raw", "standard", "within"}, default=None
        Coordinates in which the metric is learned: as given, columns of unit deviation, or
        whitened by the scatter within classes (trace one is not invariant to units). None tries
        all that suit X.
    h, n_neighbors, n_impostors, triplets, n_rounds, prior_weight : a value, or a list of them
        Grids for the parameters of the same names of `SDPMetric`. On a path, later rounds choose
        their comparisons once, under the metric at its default C, or else its middle one.
    cv : None, int, splitter or iterable, default=None
        None: five stratified folds, twice over for fewer than 1,000 rows. All settings are tried on
        the first five folds (from 1,000 rows on, the first two), and the best two (from 1,000 rows
        on, the best), the default settings and the prior alone on the others, until 6,000 rows were
        held out; from 50,000 rows on there is a single fifth. Coordinates are compared first, with
        the default settings: those clearly behind, and the last of three, go no further. If
        ``groups`` are given to `fit`, folds are made of these, and all settings are tried on all of
        them. Of more than 2,000 training rows a sample (2,000, or an eighth) gives the triplets of
        these fits; all of them can be near or far rows, and vote.
    scoring : "knn", "triplets" or a classifier, default="knn"
        "knn": accuracy of a vote of three nearest neighbours among the training rows. "triplets":
        share of held-out triplets answered correctly. A classifier takes the place of the vote.
    search : {"stages", "product"}, default="stages"
        "stages": one grid after the other, later ones near the best C. "product": all
        combinations.
    doubt : float, default=1.0
        How clear a gain has to be. The default settings and the prior alone (in raw or standard
        coordinates; whitened ones are learned) meet without privilege. If the prior alone is
        better, it is replaced only by a candidate that gains more than this many standard errors
        over the splits (a single split has no standard error); else the default settings are
        replaced for half as many. Fits to a sample of triplets are worse
        than the last fit will be: then the prior alone has no privilege.
    one_standard_error : bool, default=False
        Choose the simplest candidate within one standard error of the best: the one that leans
        most on the prior.
    search_tol : float, default=1e-2
        Relative gap at which fits of the search stop; the last fit stops at ``tol``.
    progress : bool or function, default=False
        True shows on the terminal how many settings were tried, then how far the last fit is. A
        function is called with (settings tried, settings).

    Attributes
    ----------
    components_ : (k, D) array for raw rows, ``M = components_' components_`` of trace one
    best_params_, best_score_, best_index_ : dict, float and int
        The chosen settings, their mean score, and their row in ``cv_results_``.
    best_estimator_ : ``SDPMetric(**best_params_)``, with the other parameters, fitted to all rows
    coordinates_, rho_, objective_, upper_bound_, gap_, scale_, status_, converged_, n_iter_, \
n_triplets_, eigenvalues_, retained_, history_
        The certificate of the last fit, as in `SDPMetric`.
    cv_results_ : dict of columns: parameters, scores, gaps, ranks, margins, seconds
    n_splits_ : int, number of splits
    search_ended_ : None if all settings were tried
        Else ``Status.INTERRUPTED`` (Ctrl-C) or ``Status.STOPPED`` (a callback): the choice is among
        the settings that were tried before.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetricCV
    >>> X, y = load_wine(return_X_y=True)
    >>> chosen = SDPMetricCV(Cs=4, n_neighbors=3, n_impostors=3, n_rounds=1, cv=3).fit(X, y)
    >>> chosen.best_params_["coordinates"] != "raw"  # proline is in the hundreds, hue near one
    True
    >>> chosen.best_score_ > 0.95
    True
    """

    def __init__(
        self,
        Cs: Any = 4,
        *,
        n_components: int | None = None,
        loss: str | Loss = "huber",
        coordinates: Any = None,
        h: Any = 0.05,
        n_neighbors: Any = (5, 10),
        n_impostors: Any = (10, 30),
        triplets: Any = "knn",
        n_rounds: Any = (2, 4, 1),
        neighbors: str = "exact",
        class_weight: Any = None,
        prior: Any = "identity",
        prior_weight: Any = (0.0, 0.3),
        cv: Any = None,
        scoring: Any = "knn",
        search: str = "stages",
        doubt: float = 1.0,
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
        self.n_neighbors = n_neighbors
        self.n_impostors = n_impostors
        self.triplets = triplets
        self.n_rounds = n_rounds
        self.neighbors = neighbors
        self.class_weight = class_weight
        self.prior = prior
        self.prior_weight = prior_weight
        self.cv = cv
        self.scoring = scoring
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
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Choose the settings, then learn the metric from all rows.

        Parameters
        ----------
        X : (n, D) rows, dense or sparse
        y : (n,) class labels
        groups : (n,) rows of one group are held out together
        """
        deadline, task = Deadline(), SearchTask(self, X, y)
        X, y, task.columns = rows_to_fit(self, X, y)
        checked = self._checked_space(X, deadline)
        grids = checked.grids
        for name in ("n_neighbors", "n_impostors", "n_rounds"):
            grids[name] = [check_integer(name, value, 1) for value in grids[name]]
        for value in grids["triplets"]:
            check_choice("triplets", value, ("knn", "all"))
        check_neighbors(self.neighbors)
        self._check_scoring()
        classes, codes = as_labels(y)
        check_pairs(np.bincount(codes))
        check_varied(X)
        weights = anchor_weights(self.class_weight, classes, codes)
        splits, n_first_splits = row_splits(
            self.cv, X.raw, codes, groups, seed_of(self.random_state), weights
        )
        cells = self._cells(checked, X, splits, y=y)
        # The last fit has all rows and at least these triplets.
        fewest = TripletRule("all", min(grids["n_neighbors"]), min(grids["n_impostors"]))
        LabelledRows(X, codes).check_memory(fewest)
        # Neighbours are sorted by distance: those of a smaller rule are the first of the widest.
        widest = TripletRule("knn", max(grids["n_neighbors"]), max(grids["n_impostors"]))

        # All triplets need the near rows of all rows, and an anchor may have a weight of zero.
        sampled = weights is None and "all" not in grids["triplets"]

        def split(train: Ints, held: Ints) -> LabelSplit:
            anchors = None
            if sampled:
                train, anchors = _anchors_first(train, codes, seed_of(self.random_state))
            of_train = None if weights is None else weights[train]
            # A split may lack some classes: those it has are numbered without gaps.
            numbered = np.unique(codes[train], return_inverse=True)[1]
            return LabelSplit(
                fit=checked.fit,
                losses=checked.losses,
                train=LabelledRows(X.take(train), numbered, of_train, self.neighbors, anchors),
                train_codes=codes[train],
                held=X.take(held),
                held_codes=codes[held],
                widest=widest,
                scoring=self.scoring,
            )

        # The user's own splits are all tried with all settings, as scikit-learn's searches do.
        votes = 0
        if self.cv is None and groups is None:
            votes = sum(len(held) for _, held in splits[:n_first_splits])
        choice = self._choose(
            checked.space(
                LabelCandidate,
                self.search == "product",
                self._paths(codes, checked),
                default_C=_DEFAULT_C,
                default_coordinates=self._default_coordinates(X, codes, grids["coordinates"]),
                votes=votes,
                finalists=FINALISTS if len(codes) < _MANY else _FINALISTS_OF_MANY,
            ),
            [split(*rows) for rows in splits[:n_first_splits]],
            checked,
            task,
            # Made only when they are used: each has a copy of its rows.
            [partial(split, *rows) for rows in splits[n_first_splits:]],
            cells,
            split_size=float(X.shape[0] * X.shape[1]),
            sampled=sampled and _n_anchors(len(splits[0][0])) < len(splits[0][0]),
        )
        metric = SDPMetric(
            **self._best_parameters(choice),
            neighbors=self.neighbors,
            class_weight=self.class_weight,
        )
        return self._refit(metric, choice, checked.deadline, task, X, y, cells)

    def _default_coordinates(self, X: Items, codes: Ints, tried: list[str]) -> str | None:
        """The coordinates that `SDPMetric` would learn in, None if there is no choice."""
        if len(tried) == 1:
            return None
        with thread_pool(self.n_jobs):
            return automatic(X, codes, seed_of(self.random_state))

    def _counts_Cs(self) -> bool:
        return isinstance(self.Cs, Integral) and int(self.Cs) > 1

    def _path(self, loss: Loss) -> list[float]:
        one = isinstance(self.Cs, Integral) and self.Cs == 1  # the default C of `SDPMetric`
        if one or not np.isfinite(loss.max_slope):
            return super()._path(loss)
        return self._between(*_BOUNDED)

    def _grids(self, X: Items) -> dict[str, Any]:
        names = ("n_neighbors", "n_impostors", "n_rounds", "triplets", "prior_weight", "h")
        return {"coordinates": self._coordinates(X)} | {n: getattr(self, n) for n in names}

    def _paths(self, codes: Ints, checked: CheckedSpace) -> Callable[[LabelCandidate], list[float]]:
        """The values of C of a candidate: all triplets need other ones than k-nearest triplets."""

        # By default alone: a user's values of C are all that is tried.
        lowest = [_LOWEST] if checked.path[0] == _BOUNDED[0] and self._counts_Cs() else []

        def Cs_of(candidate: LabelCandidate) -> list[float]:
            if candidate.triplets == "knn":
                safe = candidate.prior_weight > 0.0 or candidate.n_rounds == 1
                return [*lowest, *checked.path] if safe else checked.path
            ratio = triplet_ratio(codes, candidate.n_neighbors, candidate.n_impostors)
            return self._between(max(_ALL[0], _ROOM / (_FOLD_RATIO * ratio)), _ALL[1])

        return Cs_of

    def _check_scoring(self) -> None:
        if isinstance(self.scoring, str):
            check_choice("scoring", self.scoring, ("knn", "triplets"))
        elif not (hasattr(self.scoring, "fit") and hasattr(self.scoring, "score")):
            raise ValueError(
                f"scoring must be 'knn', 'triplets' or a classifier, got {self.scoring!r}."
            )


def _n_anchors(n_rows: int) -> int:
    """How many training rows of a split give triplets, at most."""
    return max(_ANCHORS, int(_ANCHOR_SHARE * n_rows))


def _anchors_first(train: Ints, codes: Ints, seed: int) -> tuple[Ints, int | None]:
    """Return training rows with a random sample of anchors first, and their number.

    Few rows stay as they are, and all of them are anchors (None).
    """
    wanted = _n_anchors(len(train))
    if len(train) <= wanted:
        return train, None
    # A row alone in its class has no near row, so it gives no triplet.
    paired = np.bincount(codes[train])[codes[train]] > 1
    order = np.random.default_rng(seed).permutation(len(train))
    order = order[np.argsort(~paired[order], kind="stable")]
    return train[order], min(wanted, int(paired.sum()))
