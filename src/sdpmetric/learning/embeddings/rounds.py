"""The rounds of the adapter's last fit, which uses the chosen settings and all pairs.

Each round mines negatives under the metric of the round before. All rounds except the last are
plain fits. The last one is a fit of the estimator itself, so that scikit-learn's callbacks see it.
"""

from __future__ import annotations

from typing import Protocol

from ..._support.deadline import Deadline
from ..._support.typing import Dense, Floats, Ints
from ...problem.result import Result, Status
from ...solvers import Limits
from ..estimators.coordinates import Coordinates
from ..estimators.triplet_sdp_metric import TripletSDPMetric
from ..fit.rounds import run_rounds, warn_of_rounds
from ..selection.base import for_this_fit
from .corpus import Vectors
from .negatives import comparisons
from .pairs import Pairs
from .split import QueryCandidate

__all__ = ["LastFit", "fit_rounds"]


class LastFit(Protocol):
    """Fits the estimator to comparisons; returns whether Ctrl-C ended the fit."""

    def __call__(self, X: Dense, y: Ints, *, sample_weight: Floats | None) -> bool: ...


def fit_rounds(
    metric: TripletSDPMetric,
    vectors: Vectors,
    pairs: Pairs,
    chosen: QueryCandidate,
    deadline: Deadline,
    last_fit: LastFit,
) -> bool:
    """Fit ``metric`` to all pairs, round by round; returns whether Ctrl-C ended the rounds.

    After Ctrl-C, or if memory runs out, ``metric`` is the last certified one. Before there is any
    metric, the exception is raised. All rounds share ``max_iter`` and the deadline.
    """
    # The prior alone is the same in every round: one fit makes the estimator's attributes.
    n_early = 0 if chosen.is_prior_alone else chosen.n_rounds - 1
    if not n_early:
        items, triplets, weights = comparisons(vectors, pairs, chosen.hardness)
        return last_fit(items.raw, triplets, sample_weight=weights)
    limits = _fit_early_rounds(metric, vectors, pairs, chosen, n_early, deadline)
    if not metric.converged_:
        return metric.status_ is Status.INTERRUPTED
    used = metric.n_iter_
    reached = limits.reached(used)
    try:
        if reached is None:
            under = metric.components_
            items, triplets, weights = comparisons(vectors, pairs, chosen.hardness, under)
            with for_this_fit(metric, warm_start=True, max_iter=metric.max_iter - used):
                interrupted = last_fit(items.raw, triplets, sample_weight=weights)
            metric.n_iter_ += used
            return interrupted
    except KeyboardInterrupt:
        return True
    except MemoryError:
        reached = Status.OUT_OF_MEMORY
    warn_of_rounds(n_early, chosen.n_rounds, reached)
    return False


def _fit_early_rounds(
    metric: TripletSDPMetric,
    vectors: Vectors,
    pairs: Pairs,
    chosen: QueryCandidate,
    n_rounds: int,
    deadline: Deadline,
) -> Limits:
    """Run the rounds before the last, and store their result; returns the limits of all rounds."""
    fit = metric._parameters().resolve(vectors.X.shape[1], deadline)
    n_triplets = 0

    def fit_round(last: Result | None) -> Result:
        nonlocal n_triplets
        under = None if last is None else last.components
        items, triplets, weights = comparisons(vectors, pairs, chosen.hardness, under)
        n_triplets = len(triplets)
        prepared = fit.prepare(items, triplets, weights)
        if last is None:
            return fit.run(prepared)
        return fit.after(last.n_iter).run(prepared, last.factor)

    result = run_rounds(n_rounds, fit_round, fit.limits)
    # The estimator must look fitted: a warm start and Ctrl-C in the next round rely on it.
    raw = Coordinates("raw").learn(vectors.X)
    metric._take(result, raw, n_triplets, {"n_features_in_": vectors.X.shape[1]})
    return fit.limits
