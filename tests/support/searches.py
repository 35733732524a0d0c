"""One small search of each kind, and the data that it is fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpmetric import EmbeddingAdapter, SDPMetricCV, TripletSDPMetricCV
from tests.support.problems import labelled, random_triplets

__all__ = ["KINDS", "queries", "searches"]

KINDS = ["labels", "triplets", "queries"]


def queries() -> tuple[Any, Any]:
    """Vectors of 20 topics, half of them queries, with a positive each."""
    rng = np.random.default_rng(0)
    topic = np.arange(120) % 20
    X = np.hstack([2 * rng.normal(size=(20, 4))[topic], 5 * rng.normal(size=(120, 4))])
    X[:, :4] += 0.3 * rng.normal(size=(120, 4))
    return X, {"query": np.arange(60), "positive": np.arange(60, 120)}


def searches() -> list[tuple[Any, Any]]:
    """Unfitted searches and their data, in the order of `KINDS`."""
    X, y = labelled(np.random.default_rng(0), 60, 4)
    small: dict[str, Any] = {"Cs": [2.0, 5.0], "coordinates": ["raw", "standard"], "cv": 2}
    triplets = random_triplets(np.random.default_rng(1), 60, 80)
    mined: dict[str, Any] = {"Cs": [3.0], "prior_weight": 0.5, "cv": 2, "skip": [0, 2]}
    return [
        (SDPMetricCV(**small, n_neighbors=3, n_impostors=3, n_rounds=2), (X, y)),
        (TripletSDPMetricCV(**small), (X, triplets)),
        (EmbeddingAdapter(**mined, n_negatives=5, n_rounds=2), queries()),
    ]
