"""Fits to Dask arrays: on the cluster of the current client, or in this process without one.

Checks, coordinates and rounds are those of a fit in memory. The rows and their comparisons stay in
parts on the workers; this process has factors, statistics of columns, and samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..._support.checks import check_choice, check_integer, check_jobs
from ..._support.deadline import Deadline
from ..._support.progress import Report, shown
from ..._support.typing import Floats, Ints
from ...engines.threads import thread_pool
from ...linalg.items import Items, check_varied
from ...parted.chunked import ChunkedRows
from ...parted.given import GivenComparisons
from ...parted.labelled import ChunkedLabels, check_exact
from ...parted.parts import PartedProblem
from ...parted.rows import RowMap
from ...triplets.knn import check_pairs, neighbor_counts
from ..fit.labelled import TripletRule, class_weights
from ..fit.prepared import PartedComparisons
from ..fit.run import Fit
from .automatic import better, check_coordinates, differ
from .callbacks import FitTask
from .coordinates import Coordinates, inverses

__all__ = ["fit_comparisons", "fit_labels"]

_SAMPLE = 1 << 22  # entries of the rows that choose coordinates: 32 MB
_COMPARISONS = 20_000


def fit_comparisons(
    estimator: Any, X: Any, triplets: Any, weights: Any, deadline: Deadline, task: FitTask
) -> None:
    """Fit a `TripletSDPMetric` to items in a Dask array."""
    # Also for the first look at the rows: without a client, these threads are the workers.
    with shown(estimator.progress) as stages, thread_pool(check_jobs(estimator.n_jobs)):
        rows = ChunkedRows(X)
        n, D = rows.shape
        task.columns = {"n_features_in_": D}
        fit = estimator._parameters().resolve(D, deadline)
        check_coordinates(estimator.coordinates, rows)
        check_varied(rows)
        start = estimator._start(D)
        given = GivenComparisons(rows.engine, triplets, weights, n)

        def sample() -> tuple[Items, Ints]:
            some = given.sample(min(_COMPARISONS, max(1, _SAMPLE // (3 * D))), fit.limits.seed)
            items, numbered = np.unique(some, return_inverse=True)
            return rows.take(items), numbered.reshape(some.shape)

        coordinates = _learned(estimator.coordinates, rows, sample, fit.limits.seed)
        fit, start = estimator._inside(coordinates, fit, start, task)
        with estimator._checkpoint(fit, rows, triplets=given) as checkpoint:
            prepared = prepare(fit, rows, coordinates, given.pieces)
            run = partial(checkpoint.run_once, fit, prepared, start)
            result = task.shown_in(stages, "fit", fit.limits.tol, run)
    estimator._finish(result, coordinates, prepared.problem.objective.n_comparisons, task)


def fit_labels(estimator: Any, X: Any, y: Any, deadline: Deadline, task: FitTask) -> None:
    """Fit an `SDPMetric` to labelled rows in a Dask array."""
    check_choice("triplets", estimator.triplets, ("knn", "all"))
    if estimator.triplets == "all":
        raise ValueError(
            "triplets='all' needs all rows in one memory, and X is a Dask array; expected "
            "triplets='knn'."
        )
    for name in ("n_neighbors", "n_impostors", "n_rounds"):
        check_integer(name, getattr(estimator, name), 1)
    check_choice("neighbors", estimator.neighbors, ("exact", "approximate"))
    with shown(estimator.progress) as stages, thread_pool(check_jobs(estimator.n_jobs)):
        rows = ChunkedRows(X)
        n, D = rows.shape
        task.columns = {"n_features_in_": D}
        fit = estimator._parameters().resolve(D, deadline)
        if estimator.neighbors == "exact":
            check_exact(n)
        elif rows.sparse:
            raise ValueError("neighbors='approximate' needs dense X, got sparse chunks.")
        check_coordinates(estimator.coordinates, rows)
        check_varied(rows)
        labels = ChunkedLabels(rows, y)
        check_pairs(labels.sizes)
        weights = class_weights(estimator.class_weight, labels.classes, labels.sizes)
        start = estimator._start(D)

        def sample() -> tuple[Items, Ints]:
            rng = np.random.default_rng(fit.limits.seed)
            some = np.sort(rng.choice(n, min(n, max(2, _SAMPLE // D)), replace=False))
            return rows.take(some), labels.take(some)

        coordinates = _learned(estimator.coordinates, rows, sample, fit.limits.seed)
        fit, start = estimator._inside(coordinates, fit, start, task)
        searched = _ChunkedSearch(rows, labels, coordinates, weights, estimator.neighbors, fit)
        with estimator._checkpoint(fit, rows, y=labels) as checkpoint:
            result, n_triplets = estimator._fit_rounds(
                searched, fit, start, task, checkpoint, stages
            )
    estimator._finish(result, coordinates, n_triplets, task)


@dataclass(frozen=True, eq=False)
class _ChunkedSearch:
    """Labelled rows in chunks: a `Searched`."""

    rows: ChunkedRows
    labels: ChunkedLabels
    coordinates: Coordinates
    weights: Floats | None
    neighbors: str
    fit: Fit

    def search(
        self, rule: TripletRule, components: Floats | None = None, report: Report | None = None
    ) -> tuple[Any, ...]:
        # Blocks are searched on workers, which report nothing: the bar shows that it goes on.
        k = neighbor_counts(self.labels.sizes, rule.n_neighbors, rule.n_impostors)
        seed = self.fit.limits.seed
        row_map = _row_map(self.coordinates)
        return (self.labels.search(row_map, components, k, self.neighbors, self.weights, seed),)

    def prepare(self, fit: Fit, rule: TripletRule, *found: Any) -> tuple[PartedComparisons, int]:
        prepared = prepare(fit, self.rows, self.coordinates, *found)
        return prepared, prepared.problem.objective.n_comparisons


def prepare(
    fit: Fit, rows: ChunkedRows, coordinates: Coordinates, pieces: Any
) -> PartedComparisons:
    """The comparisons of pieces and the rows that they mention, in parts."""
    row_map = _row_map(coordinates)
    problem = PartedProblem.from_pieces(
        rows.engine,
        rows.chunks,
        pieces,
        rows.found if coordinates.kind == "raw" else rows.columns(row_map),
        row_map,
        loss=fit.loss,
        C=fit.C,
        prior=fit.prior,
    )
    return PartedComparisons(problem)


def _row_map(coordinates: Coordinates) -> RowMap:
    return RowMap(None if coordinates.kind == "raw" else coordinates.map_)


def _learned(
    kind: str, rows: ChunkedRows, sample: Callable[[], tuple[Items, Ints]], seed: int
) -> Coordinates:
    """Learn the coordinates: "standard" from all rows, "within" and the choice from a sample."""
    raw = Coordinates.known("raw", np.ones(rows.shape[1]))
    if kind == "raw":
        return raw
    if kind == "within":
        return Coordinates("within").learn(*sample())
    deviation, factors = rows.deviations
    standard = Coordinates.known("standard", inverses(deviation, factors, rows.found.dtype))
    if kind == "standard":
        return standard
    chosen = differ(standard, rows.extremes) and better(standard, *sample(), seed)
    return standard if chosen else raw
