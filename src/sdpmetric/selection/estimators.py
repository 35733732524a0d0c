"""`SDPMetricCV` and `TripletSDPMetricCV`: the settings that do best on data held out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from .._typing import Floats, Ints, Items
from ..callbacks import SearchTask, with_callbacks
from ..estimators import SDPMetric, TripletSDPMetric
from ..inputs import as_labels, as_triplets, as_weights, check_varied
from ..labelled import Kind, Labelled, anchor_weights
from ..losses import Loss
from ..mining import check_pairs, crowd
from ..progress import Report
from ..settings import Settings, seed_of
from ..validation import check_choice, check_integer, check_neighbors
from .chooser import Chooser
from .folds import FOLDS_BY, comparison_splits, row_splits
from .grounds import LabelGround, TripletGround
from .search import Lane

__all__ = ["SDPMetricCV", "TripletSDPMetricCV"]

_ALL = 0.15, 8.0  # C for triplets="all": a comparison weighs as much, but they are many more


class SDPMetricCV(Chooser):
    """`SDPMetric` with settings chosen on held-out rows.

    A path over C in each of some grids, every fit started from its neighbour on the path. The
    prior alone, that is Euclidean distance in each of the ``coordinates``, is always among the
    candidates: what cannot be improved is left as it was.

    Parameters
    ----------
    Cs : int or list, default=8
        Values of C, or how many between values that suit the loss. A path ends where
        ``rho = 0``: from there on the metric no longer depends on C.
    n_components, loss, neighbors, class_weight, prior, solver, solver_options, tol, max_iter, \
time_limit, random_state, n_jobs
        As in `SDPMetric`; ``prior`` is "identity" or an array.
    coordinates : list of {"raw", "standard", "within"}, default=None
        In which the metric is learned: as given, columns of unit deviation, or whitened by the
        scatter within classes (trace one is not invariant to units). None tries all that suit X.
    h, n_neighbors, n_impostors, triplets, n_rounds, prior_weight : a value, or a list of them
        Grids for the parameters of the same names of `SDPMetric`.
    cv : None, int, splitter or iterable, default=None
        None: five stratified folds, repeated for fewer than 2,000 rows. From 5,000 rows on all
        settings are tried on the first fold, and the best eight and the prior alone on the others;
        from 50,000 rows on there is a single fifth. Folds of ``groups`` where these are given to
        `fit`.
    scoring : "knn", "triplets" or a classifier, default="knn"
        "knn": accuracy of a vote of three nearest neighbours among the training rows; another
        classifier in its place; or the share of held-out triplets that are right.
    search : {"stages", "product"}, default="stages"
        "stages": one grid after the other, later ones near the best C. "product": everything.
    doubt : float, default=2.0
        The prior alone is left only for a candidate that gains more than this many standard errors
        on it over the splits (folds overlap, so one would be too few; a single split has none).
    one_standard_error : bool, default=False
        Choose the simplest candidate within one standard error of the best: the one that leans
        most on the prior.
    search_tol : float, default=1e-3
        Relative gap of the fits on the way; the last one is made to ``tol``.

    Attributes
    ----------
    components_ : (k, D) array for raw rows, ``M = components_' components_`` of trace one
    best_params_, best_score_, best_index_ : the choice
    best_estimator_ : `SDPMetric` fitted to all rows, after `Coordinates` unless they are raw
    gap_, converged_, n_iter_ : of the last fit, in its coordinates
    cv_results_ : dict of columns: parameters, scores, gaps, ranks, margins, seconds
    n_splits_ : number of splits
    search_ended_ : None if all settings were tried
        Else ``Status.INTERRUPTED`` (Ctrl-C) or ``Status.STOPPED`` (a callback): the choice is among
        the settings tried by then.

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
        Cs: Any = 8,
        *,
        n_components: int | None = None,
        loss: str | Loss = "huber",
        coordinates: Any = None,
        h: Any = 0.02,
        n_neighbors: Any = (3, 10),
        n_impostors: Any = (3, 20),
        triplets: Any = "knn",
        n_rounds: Any = (1, 4),
        neighbors: str = "exact",
        class_weight: Any = None,
        prior: Any = "identity",
        prior_weight: Any = (0.0, 0.2, 0.5),
        cv: Any = None,
        scoring: Any = "knn",
        search: str = "stages",
        doubt: float = 2.0,
        one_standard_error: bool = False,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        search_tol: float = 1e-3,
        tol: float = 1e-4,
        max_iter: int = 3000,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | Report = False,
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

    @with_callbacks
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Choose the settings, then learn the metric from all rows.

        Parameters
        ----------
        X : (n, D) rows, dense or sparse
        y : (n,) class labels
        groups : (n,) rows of one group are held out together
        """
        task = SearchTask(self, X, y)
        X, y = self._validated(X, y, reset=True)
        grids, settings = self._checked_grids(X)
        for name in ("n_neighbors", "n_impostors", "n_rounds"):
            grids[name] = [check_integer(name, value, 1) for value in grids[name]]
        for value in grids["triplets"]:
            check_choice("triplets", value, ("knn", "all"))
        check_neighbors(self.neighbors)
        self._check_scoring()
        codes = as_labels(y)[1]
        check_pairs(codes)
        check_varied(X)
        weights = anchor_weights(self.class_weight, y)
        splits, scouts = row_splits(self.cv, X, codes, groups, seed_of(self.random_state))
        widest = Kind("knn", max(grids["n_neighbors"]), max(grids["n_impostors"]))

        def ground(train: Ints, held: Ints) -> LabelGround:
            rows = Labelled(X[train], _dense(codes[train]), _some(weights, train), self.neighbors)
            tried = X[held], codes[held]
            return LabelGround(settings, rows, codes[train], *tried, widest, self.scoring)

        grounds = [ground(*split) for split in splits[:scouts]]
        finals = [partial(ground, *split) for split in splits[scouts:]]
        self._choose(grids, self._paths(codes, settings), grounds, task, finals)
        chosen = SDPMetric(
            **self._best_settings(), neighbors=self.neighbors, class_weight=self.class_weight
        )
        return self._refit(chosen, task, X, y)

    def _grids(self, X: Items) -> dict[str, Any]:
        names = ("n_neighbors", "n_impostors", "n_rounds", "triplets", "prior_weight", "h")
        return {"coordinates": self._coordinates(X)} | {n: getattr(self, n) for n in names}

    def _paths(self, codes: Ints, settings: Settings) -> Callable[[Lane], list[float]]:
        knn = self._path(settings)

        def of(lane: Lane) -> list[float]:
            given = dict(lane)
            if given["triplets"] == "knn":
                return knn
            # A fold has fewer rows, hence the half.
            rest = 0.5 * crowd(codes, given["n_neighbors"], given["n_impostors"])
            return self._between(max(_ALL[0], 1.25 / rest), _ALL[1])

        return of

    def _check_scoring(self) -> None:
        if isinstance(self.scoring, str):
            check_choice("scoring", self.scoring, ("knn", "triplets"))
        elif not (hasattr(self.scoring, "fit") and hasattr(self.scoring, "score")):
            raise ValueError(
                f"scoring must be 'knn', 'triplets' or a classifier, got {self.scoring!r}."
            )


class TripletSDPMetricCV(Chooser):
    """`TripletSDPMetric` with settings chosen by held-out comparisons.

    Attributes are those of `SDPMetricCV`; scores are shares of held-out comparisons answered
    rightly.

    Parameters
    ----------
    Cs, n_components, loss, coordinates, h, prior, prior_weight, search, doubt, \
one_standard_error, solver, solver_options, search_tol, tol, max_iter, time_limit, random_state, \
n_jobs
        As in `SDPMetricCV`; "within" coordinates are whitened by the scatter of near pairs.
    cv : None, int, splitter or iterable, default=None
        Number of folds (None: 5), or a splitter of comparisons.
    folds : {"anchor", "comparison", "item", "group"}, default="anchor"
        What is held out together: comparisons of the same anchor; nothing but the comparison
        itself; every comparison that mentions an item of the fold, so that these items are new;
        or the ``groups`` given to `fit`, participants say.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import TripletSDPMetricCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 40))
    >>> T = np.array([rng.choice(60, 3, replace=False) for _ in range(30)])  # answers at random
    >>> chosen = TripletSDPMetricCV(Cs=3).fit(X, T)
    >>> chosen.best_params_["prior_weight"]  # nothing to learn: Euclidean distance it is
    1.0
    """

    def __init__(
        self,
        Cs: Any = 8,
        *,
        n_components: int | None = None,
        loss: str | Loss = "huber",
        coordinates: Any = None,
        h: Any = 0.02,
        prior: Any = "identity",
        prior_weight: Any = (0.0, 0.2, 0.5, 0.8),
        cv: Any = None,
        folds: str = "anchor",
        search: str = "stages",
        doubt: float = 2.0,
        one_standard_error: bool = False,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        search_tol: float = 1e-3,
        tol: float = 1e-4,
        max_iter: int = 3000,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | Report = False,
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
        task = SearchTask(self, X, triplets, sample_weight)
        X = self._validated(X, reset=True)
        grids, settings = self._checked_grids(X)
        check_choice("folds", self.folds, FOLDS_BY)
        indices = as_triplets(triplets, X.shape[0])
        weights = as_weights(sample_weight, len(indices))
        check_varied(X)
        seed = seed_of(self.random_state)
        splits = comparison_splits(self.cv, indices, self.folds, groups, seed)
        grounds = [
            TripletGround(
                settings,
                X,
                *(indices[train], _some(weights, train)),
                *(indices[held], _some(weights, held)),
            )
            for train, held in splits
        ]
        path = self._path(settings)
        self._choose(grids, lambda lane: path, grounds, task)
        chosen = TripletSDPMetric(**self._best_settings())
        return self._refit(chosen, task, X, indices, sample_weight=weights)

    def score(self, X: Any, triplets: Any, sample_weight: Any = None) -> float:
        """The share of comparisons answered rightly, as `triplet_accuracy`."""
        return self.triplet_accuracy(X, triplets, sample_weight)

    def _grids(self, X: Items) -> dict[str, Any]:
        grids = {"prior_weight": self.prior_weight, "h": self.h}
        return {"coordinates": self._coordinates(X)} | grids


def _dense(codes: Ints) -> Ints:
    """Classes numbered without gaps, though a split may lack some."""
    return np.unique(codes, return_inverse=True)[1]


def _some(weights: Floats | None, rows: Ints) -> Floats | None:
    return None if weights is None else weights[rows]
