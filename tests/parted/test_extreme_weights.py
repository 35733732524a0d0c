"""Weights of comparisons in a Dask array: only their ratios matter, as in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric import TripletSDPMetric
from tests.support.problems import random_triplets

da: Any = pytest.importorskip("dask.array")

X = np.random.default_rng(0).normal(size=(90, 4))
T = random_triplets(np.random.default_rng(1), 90, 300)
ONES = np.ones(300)
DRAWN = np.random.default_rng(2).uniform(0.5, 1.0, size=300)

WEIGHTS: dict[str, Any] = {
    "their sum is infinite": 1.7e308 * DRAWN,
    "their squares are zero": 1e-300 * DRAWN,
    "they are not normal numbers": 1e-310 * DRAWN,
    "huge beside tiny": np.where(np.arange(300) % 3 == 0, 1e300, 1e-300) * DRAWN,
    # The first chunk alone has no weight that counts beside those of the others.
    "a tiny chunk": np.where(np.arange(300) < 100, 1e-300, 1e300) * DRAWN,
}


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdpmetric.engines.threads.allowed_threads", lambda: 2)


def fitted(weights: Any) -> tuple[Any, Any]:
    """The fit to chunks, and the fit in memory."""
    settings: dict[str, Any] = {"coordinates": "raw", "tol": 1e-4}
    rows, triplets, w = (da.from_array(a, chunks=(n, *a.shape[1:])) for a, n in _chunked(weights))
    found = TripletSDPMetric(**settings).fit(rows, triplets, w)
    return found, TripletSDPMetric(**settings).fit(X, T, weights)


def _chunked(weights: Any) -> list[tuple[Any, int]]:
    return [(X, 25), (T, 100), (weights, 100)]


@pytest.mark.parametrize("name", WEIGHTS)
def test_extreme_weights_have_the_optimum_of_the_fit_in_memory(name: str) -> None:
    found, expected = fitted(WEIGHTS[name])
    assert found.converged_
    assert found.scale_ == pytest.approx(expected.scale_, rel=1e-12)
    assert max(found.objective_, expected.objective_) <= min(
        found.upper_bound_, expected.upper_bound_
    )


def test_comparisons_whose_weight_is_nothing_beside_others_are_left_out() -> None:
    found, expected = fitted(WEIGHTS["a tiny chunk"])
    assert expected.n_triplets_ == 200
    assert found.n_triplets_ == 200
