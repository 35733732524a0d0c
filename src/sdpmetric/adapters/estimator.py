"""`EmbeddingAdapter`: from stored vectors and pairs to a linear map, and what it gains."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Self

import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._typing import Dense, Items
from ..callbacks import SearchTask, with_callbacks
from ..estimators import TripletSDPMetric
from ..inputs import as_items, check_varied
from ..losses import Loss
from ..progress import Report
from ..resampling import check_resampling
from ..retrieval.scorers import check_score
from ..selection.chooser import Chooser
from ..settings import Settings, seed_of
from ..threads import working
from ..validation import check_integer, check_real
from .ground import QueryGround, hardness_of
from .negatives import comparisons
from .pairs import Pairs, read_pairs
from .report import AdapterReport, make_report
from .splits import kept_apart, query_folds
from .vectors import Vectors

__all__ = ["EmbeddingAdapter"]

_SKIPS = 0, 30, 100
_BOUNDED = 2.0, 5.0  # C: with hard negatives more hardly ever wins, and costs most of the time


class EmbeddingAdapter(Chooser):
    """A linear adapter for stored embeddings, from queries and what they should find.

    Negatives are mined from the corpus: for each query the rows nearest to it under the current
    metric that are neither known nor suspected to be relevant, anew in every round. How hard they
    are, C and the weight of the prior are chosen by where held-out queries find their known
    positives in the whole corpus. The vectors as they are, that is Euclidean distance, are always
    a candidate, and are left only for a clear gain; for rows of unit length they rank as cosine
    similarity does. A share of the queries is kept out of all this for ``report_``.

    Parameters
    ----------
    Cs : int or list, default=2
        Values of C, or how many between 2 and 5 (or as in `SDPMetricCV`, for unbounded losses).
    n_components, loss, h, prior, search, one_standard_error, solver, solver_options, tol, \
max_iter, time_limit, random_state, n_jobs, progress
        As in `SDPMetricCV`. For fewer columns give a prior of that rank as well, the projection to
        principal directions say.
    prior_weight : a value, or a list of them, default=(0.8, 0.5, 0.0)
        How much of the metric is the vectors as they are.
    n_negatives : a value, or a list of them, default=20
        Mined for each query, beside those that are given. 0: only these.
    skip : a value, or a list of them, default=None
        How many of the nearest candidates are passed over: the more relevant rows of a query go
        unmarked, the more. None: 0, 30 and 100, as far as they are less than a twentieth of X.
    guard : a value, or a list of them, default=1.0
        A row is no candidate where its distance to one of the query's known positives is less than
        this share of that positive's distance to the query: it may well be relevant too. A query
        whose positive is far off may be left without any.
    n_rounds : a value, or a list of them, default=(1, 2)
        Fits in all; each after the first mines negatives under the metric of the last.
    cv : None, int or splitter, default=None
        Folds of queries (None: 5). Queries of equal vectors, and rows that are each other's
        positives, are held out together.
    scoring : str, default="ndcg"
        What is chosen by: "ndcg" to the end of the ranking, "mrr", "map", or "ndcg@k", "recall@k",
        "hit@k" with a number. Scores that look at the head alone are noisier, the more so where
        positives stand far down the list.
    test_size : float, default=0.2
        Share of the queries kept for ``report_``; 0 for none.
    doubt : float, default=2.0
        Standard errors, over the folds, of the gain that is worth leaving the prior for.
    confidence, n_resamples : float, default=0.95, and int, default=10_000
        Of the report's intervals, a bootstrap over queries.
    search_tol : float, default=1e-2
        Relative gap of the fits on the way; the last one is made to ``tol``.

    Attributes
    ----------
    components_ : (k, D) array, ``M = components_' components_`` of trace one
    report_ : `AdapterReport` on queries that nothing was learned from or chosen by; None without
    best_params_, best_score_, best_index_, cv_results_, n_splits_ : as in `SDPMetricCV`
    best_estimator_ : the last fit, a `TripletSDPMetric`, with its certificate
    gap_, converged_, n_iter_ : of the last fit
    n_triplets_ : comparisons of the last fit

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import EmbeddingAdapter
    >>> rng = np.random.default_rng(0)
    >>> topic = np.arange(400) % 50  # of 400 texts; eight columns tell of it, eight of the style
    >>> told, style = 2 * rng.normal(size=(50, 8))[topic], 5 * rng.normal(size=(400, 8))
    >>> X = np.hstack([told + 0.5 * rng.normal(size=(400, 8)), style]).astype(np.float32)
    >>> pairs = {"query": np.arange(200), "positive": np.arange(200, 400)}  # one each is known
    >>> adapter = EmbeddingAdapter(Cs=[5.0], n_rounds=1, cv=3).fit(X, pairs)
    >>> change = adapter.report_["recall@10"]  # of 40 queries kept apart
    >>> change.before.mean < 0.4, change.after.mean > 0.8, change.difference.low > 0.3
    (True, True, True)
    """

    def __init__(
        self,
        Cs: Any = 2,
        *,
        n_components: int | None = None,
        loss: str | Loss = "huber",
        h: Any = 0.02,
        prior: Any = "identity",
        prior_weight: Any = (0.8, 0.5, 0.0),
        n_negatives: Any = 20,
        skip: Any = None,
        guard: Any = 1.0,
        n_rounds: Any = (1, 2),
        cv: Any = None,
        scoring: str = "ndcg",
        test_size: float = 0.2,
        search: str = "stages",
        doubt: float = 2.0,
        one_standard_error: bool = False,
        confidence: float = 0.95,
        n_resamples: int = 10_000,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        search_tol: float = 1e-2,
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
        self.h = h
        self.prior = prior
        self.prior_weight = prior_weight
        self.n_negatives = n_negatives
        self.skip = skip
        self.guard = guard
        self.n_rounds = n_rounds
        self.cv = cv
        self.scoring = scoring
        self.test_size = test_size
        self.search = search
        self.doubt = doubt
        self.one_standard_error = one_standard_error
        self.confidence = confidence
        self.n_resamples = n_resamples
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
    def fit(
        self, X: Any, pairs: Any, queries: Any = None, *, ids: Any = None, query_ids: Any = None
    ) -> Self:
        """Choose the settings, learn the metric, and report on queries kept apart.

        Parameters
        ----------
        X : (n, D) vectors of the corpus, float32 or float64. A memory map is read block by block
            and never copied whole
        pairs : table with the columns ``query`` (or ``anchor``), ``positive`` and, if there are
            any, ``negative`` or ``negative_1``, ``negative_2``, ..., where some may be missing: a
            dict of columns, a data frame, a list of dicts, or rows in this order. A query may
            stand in several rows; all its positives and negatives count
        queries : (m, D) vectors of the queries. None: queries are rows of X
        ids, query_ids : the id of each row of X and of ``queries``, strings or whole numbers. None:
            the table holds row numbers
        """
        task = SearchTask(self, X, pairs)
        X = self._dense(X, reset=True)
        vectors = Vectors(X, self._queries(queries))
        grids, settings = self._checked_grids(X)
        level, resamples = check_resampling(self.confidence, self.n_resamples)
        known = read_pairs(pairs, vectors, ids, query_ids)
        grids = self._mined(grids, known)
        check_varied(X)
        seed = seed_of(self.random_state)
        share = check_real("test_size", self.test_size, 0.0, 0.99, closed=True)
        learned, kept = kept_apart(known, vectors, share, seed)
        grounds = [
            QueryGround(settings, vectors, train, held, self.scoring)
            for train, held in query_folds(self.cv, learned, vectors, seed)
        ]
        path = self._path(settings)
        with working(self.n_jobs):
            self._choose(grids, lambda lane: path, grounds, task)
            self._learn(vectors, learned, task)
            self.report_ = None
            if kept is not None:
                self.report_ = make_report(vectors, kept, self.components_, level, resamples, seed)
        task.end()
        return self

    def evaluate(
        self, X: Any, pairs: Any, queries: Any = None, *, ids: Any = None, query_ids: Any = None
    ) -> AdapterReport:
        """The same report on other pairs, or on another corpus; arguments are those of `fit`."""
        check_is_fitted(self)
        level, resamples = check_resampling(self.confidence, self.n_resamples)
        vectors = Vectors(self._dense(X), self._queries(queries))
        known = read_pairs(pairs, vectors, ids, query_ids)
        if len(known) < 2:
            raise ValueError("pairs has 1 query, expected at least two to resample.")
        seed = seed_of(self.random_state)
        with working(self.n_jobs):
            return make_report(vectors, known, self.components_, level, resamples, seed)

    def _learn(self, vectors: Vectors, pairs: Pairs, task: SearchTask) -> None:
        """The last fit, round by round."""
        best = self.best_params_
        names = ("n_negatives", "skip", "guard", "n_rounds")
        settings = {n: v for n, v in self._best_settings().items() if n not in names}
        metric = TripletSDPMetric(**settings, warm_start=True)
        components = None
        rounds = best["n_rounds"] if best["prior_weight"] < 1.0 else 1
        for left in reversed(range(rounds)):
            items, triplets, weights = comparisons(vectors, pairs, hardness_of(best), components)
            with nullcontext() if left else task.last_fit(metric):
                metric.fit(items, triplets, weights)
            components = metric.components_
        metric.warm_start = False
        self.best_estimator_ = metric
        self.components_, self.n_triplets_ = metric.components_, metric.n_triplets_
        self.gap_, self.converged_, self.n_iter_ = metric.gap_, metric.converged_, metric.n_iter_

    def _grids(self, X: Items) -> dict[str, Any]:
        names = ("guard", "n_negatives", "prior_weight", "n_rounds", "h")
        limit = len(X) / 20
        skip = [s for s in _SKIPS if s < limit] or [0] if self.skip is None else self.skip
        return {"coordinates": "raw", "skip": skip} | {n: getattr(self, n) for n in names}

    def _path(self, settings: Settings) -> list[float]:
        return self._between(*_BOUNDED) if settings.bounded() else super()._path(settings)

    def _mined(self, grids: dict[str, list[Any]], known: Pairs) -> dict[str, list[Any]]:
        """The grids of mining, checked; they are idle where nothing is mined."""
        for name, least in (("n_negatives", 0), ("skip", 0), ("n_rounds", 1)):
            grids[name] = [check_integer(name, value, least) for value in grids[name]]
        grids["guard"] = [check_real("guard", g, 0.0, closed=True) for g in grids["guard"]]
        check_score("scoring", self.scoring, ("ndcg",))
        if 0 in grids["n_negatives"] and len(known.negative) == 0:
            raise ValueError(
                "n_negatives has 0 but pairs has no column of negatives, expected some to learn "
                "from."
            )
        if grids["n_negatives"] == [0]:
            grids |= {name: grids[name][:1] for name in ("skip", "guard")} | {"n_rounds": [1]}
        return grids

    def _dense(self, X: Any, *, reset: bool = False) -> Dense:
        if sp.issparse(X):
            raise ValueError("X is sparse, expected a dense array of embeddings.")
        checked: Dense = self._validated(X, reset=reset)
        return checked

    def _queries(self, queries: Any) -> Dense | None:
        if queries is None:
            return None
        if sp.issparse(queries):
            raise ValueError("queries is sparse, expected a dense array of embeddings.")
        checked: Dense = as_items(queries, "queries")
        if checked.shape[1] != self.n_features_in_:
            raise ValueError(
                f"queries has {checked.shape[1]} columns, expected those of X, "
                f"{self.n_features_in_}."
            )
        return checked

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
