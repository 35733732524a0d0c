"""`EmbeddingAdapter`: a linear map from stored vectors and pairs, with a report on its gain."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..._support.checks import check_integer, check_real, seed_of
from ..._support.deadline import Deadline
from ..._support.progress import Report
from ..._support.registry import METRICS, stored_in
from ...engines.threads import thread_pool
from ...evaluation.bootstrap import check_resampling
from ...evaluation.scorers import check_score
from ...linalg.items import Items, as_items, check_varied
from ...problem.losses import Loss
from ..estimators.callbacks import SearchTask, with_callbacks
from ..estimators.triplet_sdp_metric import TripletSDPMetric
from ..estimators.validate import rows_to_fit
from ..fit.parameters import FitParameters
from ..selection.base import SearchEstimator
from ..selection.choice import Choice
from .corpus import Vectors
from .folds import kept_apart, query_folds
from .pairs import Pairs, read_pairs
from .report import AdapterReport, make_report
from .rounds import fit_rounds
from .split import QueryCandidate, QuerySplit

__all__ = ["EmbeddingAdapter"]

# Like the other defaults of the adapter, tuned on draws of Banking77 that the tables of
# benchmarks/README.md do not use.
_SKIPS = 0, 30, 100
_BOUNDED = 2.0, 5.0  # C: with hard negatives more hardly ever wins, and costs most of the time
_SKIP_SHARE = 1 / 20  # of X: skipping more would leave negatives that are no longer hard


@stored_in(METRICS)
class EmbeddingAdapter(SearchEstimator):
    """A linear adapter for stored embeddings, learned from queries and their positives.

    Every round mines negatives from the corpus: for each query, the rows nearest to it under the
    current metric that are neither known nor suspected to be relevant. The hardness of the
    negatives, C and the weight of the prior are chosen by the ranks of held-out queries' known
    positives in the whole corpus. Euclidean distance between the given vectors is always a
    candidate, and is replaced only for a clear gain. (For rows of unit length it ranks as cosine
    similarity does.) A share of the queries takes no part in this and is kept for ``report_``.

    Parameters
    ----------
    Cs : int or list, default=2
        Values of C, or how many between 2 and 5 (or as in `SDPMetricCV`, for unbounded losses).
    n_components, loss, h, prior, search, one_standard_error, solver, solver_options, tol, \
max_iter, time_limit, random_state, n_jobs, progress
        As in `SDPMetricCV`. For fewer columns give a prior of that rank as well, for example the
        projection to principal directions.
    prior_weight : a value, or a list of them, default=(0.8, 0.5, 0.0)
        Weight of the prior in the metric; 1 would be the prior alone.
    n_negatives : a value, or a list of them, default=20
        Negatives mined for each query, beside the given ones. 0: only the given ones.
    skip : a value, or a list of them, default=None
        Number of the nearest rows that are left out. It should grow with the number of relevant
        rows that are not marked. None: 0, 30 and 100, if less than a twentieth of the rows of X.
    guard : a value, or a list of them, default=1.0
        A row is left out if its distance to a known positive of the query is less than this share
        of the positive's distance to the query: the row may be relevant too. A query whose positive
        is far away may get no negatives.
    preserve : a value, or a list of them, default=0.0
        Share of the weight of all comparisons that keeps each query's three nearest rows by
        Euclidean distance nearer than those of rank 21 to 30, in the same convex problem. It
        protects the head of the ranking; choose it by a ``scoring`` of the head, such as "hit@1".
    n_rounds : a value, or a list of them, default=(1, 2)
        Number of fits; each after the first mines negatives under the previous metric.
    cv : None, int or splitter, default=None
        Folds of queries (None: 5). Queries of equal vectors, and rows that are each other's
        positives, are held out together.
    scoring : str, default="ndcg"
        Score that the choice maximises: "ndcg" to the end of the ranking, "mrr", "map", or
        "ndcg@k", "recall@k", "hit@k" with a number. Scores of the head alone are noisier, above all
        if positives stand far down the list.
    test_size : float, default=0.2
        Share of the queries that is kept for ``report_``; 0 for no report.
    doubt : float, default=2.0
        The prior alone is replaced only for a gain of more than this many standard errors over the
        folds.
    confidence, n_resamples : float, default=0.95, and int, default=10_000
        Confidence of the report's intervals, and resamples of the bootstrap over queries.
    search_tol : float, default=1e-2
        Relative gap at which fits of the search stop; the last fit stops at ``tol``.

    Attributes
    ----------
    components_ : (k, D) array, ``M = components_' components_`` of trace one
    report_ : `AdapterReport` on the queries kept for it; None if there are none
    best_params_, best_score_, best_index_, cv_results_, n_splits_ : as in `SDPMetricCV`
    best_estimator_ : the last fit, a `TripletSDPMetric`
    coordinates_, rho_, objective_, upper_bound_, gap_, scale_, status_, converged_, n_iter_, \
n_triplets_, eigenvalues_, retained_, history_
        The certificate of the last fit, as in `SDPMetric`.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import EmbeddingAdapter
    >>> rng = np.random.default_rng(0)
    >>> topic = np.arange(400) % 50  # 400 texts; 8 columns carry the topic, 8 carry the style
    >>> content, style = 2 * rng.normal(size=(50, 8))[topic], 5 * rng.normal(size=(400, 8))
    >>> X = np.hstack([content + 0.5 * rng.normal(size=(400, 8)), style]).astype(np.float32)
    >>> pairs = {"query": np.arange(200), "positive": np.arange(200, 400)}  # one known each
    >>> adapter = EmbeddingAdapter(Cs=[5.0], n_rounds=1, cv=3).fit(X, pairs)
    >>> change = adapter.report_["recall@10"]  # on 40 queries kept apart
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
        preserve: Any = 0.0,
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
        self.preserve = preserve
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
        deadline, task = Deadline(), SearchTask(self, X, pairs)
        X, _, task.columns = rows_to_fit(self, X)
        vectors = _vectors(X, queries)
        checked = self._checked_space(X, deadline)
        level, resamples = check_resampling(self.confidence, self.n_resamples)
        known = read_pairs(pairs, vectors, ids, query_ids)
        checked.grids.update(self._mining_grids(checked.grids, known, len(X)))
        check_varied(X)
        seed = seed_of(self.random_state)
        share = check_real("test_size", self.test_size, 0.0, 0.99, closed=True)
        learned, kept = kept_apart(known, vectors, share, seed)
        splits = [
            QuerySplit(
                fit=checked.fit,
                losses=checked.losses,
                vectors=vectors,
                train=train,
                held=held,
                scoring=self.scoring,
            )
            for train, held in query_folds(self.cv, learned, vectors, seed)
        ]
        with thread_pool(self.n_jobs):
            space = checked.space(QueryCandidate, self.search == "product")
            choice = self._choose(space, splits, checked, task)
            metric, interrupted = self._learn(vectors, learned, choice, checked.deadline, task)
            report = None
            # After Ctrl-C the user waits: a report would read the whole corpus twice more.
            if kept is not None and not interrupted:
                report = make_report(
                    vectors, kept, metric.components_, level, resamples, seed, self.scoring
                )
        self._end(
            choice,
            task,
            interrupted,
            best_estimator_=metric,
            components_=metric.components_,
            report_=report,
        )
        return self

    def evaluate(
        self, X: Any, pairs: Any, queries: Any = None, *, ids: Any = None, query_ids: Any = None
    ) -> AdapterReport:
        """Make the same report on other pairs or another corpus; arguments are those of `fit`."""
        check_is_fitted(self)
        level, resamples = check_resampling(self.confidence, self.n_resamples)
        vectors = _vectors(self._validated(X), queries)
        known = read_pairs(pairs, vectors, ids, query_ids)
        if len(known) < 2:
            raise ValueError("pairs has 1 query, expected at least two to resample.")
        seed = seed_of(self.random_state)
        with thread_pool(self.n_jobs):
            return make_report(
                vectors, known, self.components_, level, resamples, seed, self.scoring
            )

    def _learn(
        self,
        vectors: Vectors,
        pairs: Pairs,
        choice: Choice,
        deadline: Deadline,
        task: SearchTask,
    ) -> tuple[TripletSDPMetric, bool]:
        """Fit the chosen settings to all pairs. Returns the fit and whether Ctrl-C ended it."""
        chosen = QueryCandidate(**{n: v for n, v in choice.params.items() if n != "C"})
        # Settings of mining (skip, guard, ...) are no parameters of the estimator.
        names = [f.name for f in fields(FitParameters)]
        parameters = {n: v for n, v in self._best_parameters(choice).items() if n in names}
        metric = TripletSDPMetric(**parameters, coordinates="raw")
        last_fit = partial(self._last_fit, metric, task, deadline)
        return metric, fit_rounds(metric, vectors, pairs, chosen, deadline, last_fit)

    def _grids(self, X: Items) -> dict[str, Any]:
        names = ("guard", "n_negatives", "preserve", "prior_weight", "n_rounds", "h")
        limit = _SKIP_SHARE * len(X)
        skip = [s for s in _SKIPS if s < limit] or [0] if self.skip is None else self.skip
        return {"coordinates": "raw", "skip": skip} | {n: getattr(self, n) for n in names}

    def _path(self, loss: Loss) -> list[float]:
        # Unbounded losses have no such experience: the range is that of the other searches.
        return self._between(*_BOUNDED) if np.isfinite(loss.max_slope) else super()._path(loss)

    def _mining_grids(
        self, grids: dict[str, list[Any]], known: Pairs, n_rows: int
    ) -> dict[str, list[Any]]:
        """Check the grids of mining; cut them to one value if only given negatives are used."""
        for name, least in (("n_negatives", 0), ("skip", 0), ("n_rounds", 1)):
            grids[name] = [check_integer(name, value, least) for value in grids[name]]
        grids["guard"] = [check_real("guard", g, 0.0, 1e6, closed=True) for g in grids["guard"]]
        # At 1 nothing would be learned from the pairs.
        grids["preserve"] = [
            check_real("preserve", p, 0.0, 0.99, closed=True) for p in grids["preserve"]
        ]
        if (check_score("scoring", self.scoring, ("ndcg",)) or 1) > n_rows:
            raise ValueError(
                f"scoring must look at a rank of at most {n_rows}, the number of rows of X, got "
                f"{self.scoring!r}."
            )
        if 0 in grids["n_negatives"] and len(known.negative) == 0:
            raise ValueError(
                "n_negatives has 0 but pairs has no column of negatives, expected some to learn "
                "from."
            )
        if grids["n_negatives"] == [0]:
            # Given negatives are the same for every skip and guard, and in every round.
            grids |= {name: grids[name][:1] for name in ("skip", "guard")} | {"n_rounds": [1]}
        return grids

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _vectors(X: Items, queries: Any) -> Vectors:
    """The corpus, and queries of the same number of columns if there are any."""
    if X.sparse:
        raise ValueError("X is sparse, expected a dense array of embeddings.")
    if queries is None:
        return Vectors(X)
    checked = as_items(queries, "queries", sparse=False)
    if checked.shape[1] != X.shape[1]:
        raise ValueError(
            f"queries has {checked.shape[1]} columns, expected those of X, {X.shape[1]}."
        )
    return Vectors(X, checked)
