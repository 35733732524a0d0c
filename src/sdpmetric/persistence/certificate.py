"""Find the fit whose certificate a metric carries: its own, or the last fit of a search."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def last_fit(metric: Any) -> tuple[Any, Any]:
    """The coordinates and the estimator of the last fit of a metric.

    A classifier keeps its metric as ``metric_``. A search keeps its last fit, to all data, as
    ``best_estimator_``. In model files of version 1
    this may be a pipeline of the coordinates and the estimator.

    Returns
    -------
    coordinates : a fitted `Coordinates`; None for raw rows
    estimator : the metric itself, unless it is a search
    """
    metric = getattr(metric, "metric_", metric)
    last = getattr(metric, "best_estimator_", metric)
    if isinstance(last, Pipeline):
        return last[0], last[-1]
    return getattr(last, "coordinates_", None), last
