"""Settings and row numbers that are no int64 or float64: each is named, or becomes one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sdpmetric import (
    EmbeddingAdapter,
    Huber,
    Logistic,
    Responses,
    SDPMetric,
    SDPMetricCV,
    TripletSDPMetricCV,
    knn_triplets,
)

X = np.random.default_rng(0).normal(size=(8, 3))
Y = np.array([0, 1] * 4)

HUGE: dict[str, tuple[Any, type]] = {
    "a number": (10**400, int),
    "a negative number": (-(10**400), int),
    "a fraction": (Fraction(10**400), Fraction),
    "too long to be written": (10**5000, int),
    "a whole number that no array holds": (2**63, int),
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize(
    "argument",
    [
        "n_components",
        "C",
        "h",
        "n_neighbors",
        "n_impostors",
        "n_rounds",
        "prior_weight",
        "tol",
        "max_iter",
        "time_limit",
        "random_state",
        "n_jobs",
    ],
)
def test_huge_integers_as_settings_were_overflow_errors(argument: str, name: str) -> None:
    value, kind = HUGE[name]
    real = argument in ("C", "h", "prior_weight", "tol", "time_limit")
    if real and abs(value) < 1e300:
        return  # a number like any other, whose own limits are tested above
    with pytest.raises(
        ValueError, match=rf"^{argument} must be .*, got (-?\d+|{kind.__name__}|a n)"
    ):
        SDPMetric(**{argument: value}).fit(X, Y)


def test_huge_integers_elsewhere() -> None:
    for call in (
        lambda: knn_triplets(X, Y, 10**400, 2),
        lambda: knn_triplets(X, Y, 2, 10**400),
        lambda: SDPMetricCV(10**400).fit(X, Y),
        lambda: SDPMetricCV([10**400]).fit(X, Y),
        lambda: Huber(10**5000),
        lambda: SDPMetric(solver="frank-wolfe", solver_options={"epsilon": 10**400}).fit(X, Y),
    ):
        with pytest.raises(
            ValueError, match=r"^(n_neighbors|n_impostors|Cs|h|solver_options.*) must"
        ):
            call()


PAIRS = np.array([[i, (i + 2) % 8] for i in range(8)])


@pytest.mark.parametrize("kind", [np.float16, np.longdouble], ids=lambda kind: kind.__name__)
def test_numbers_that_compiled_loops_do_not_know(kind: Any) -> None:
    """A prior_weight of float16 was a NotImplementedError of Numba."""
    quick: dict[str, Any] = {"tol": 0.5, "n_jobs": 1}
    for loss in (Huber(kind(0.1)), Logistic(kind(0.1))):
        SDPMetric(loss=loss, n_neighbors=2, n_impostors=2, **quick).fit(X, Y)
    given = quick | {"Cs": [kind(2.0)], "h": kind(0.1), "prior_weight": kind(0.1), "cv": 2}
    T = np.column_stack([PAIRS, (PAIRS[:, :1] + 1) % 8])
    for search in (
        SDPMetricCV(n_neighbors=2, n_impostors=2, n_rounds=1, **given).fit(X, Y),
        TripletSDPMetricCV(**given).fit(X, T),
        EmbeddingAdapter(n_rounds=1, n_negatives=2, n_resamples=10, **given).fit(X, PAIRS),
    ):
        assert search.upper_bound_ >= search.objective_


def test_unsigned_row_numbers_beyond_int64_were_rows_from_the_end() -> None:
    wrapped = PAIRS.astype(np.uint64) - np.uint64(8)  # -8 to -1, if they become int64
    with pytest.raises(ValueError, match=r"^query: row 0 is 18446744073709551608, expected a row"):
        EmbeddingAdapter().fit(X, wrapped)
    with pytest.raises(ValueError, match=r"row 0 is 18446744073709551608, expected a row"):
        Responses.from_triplets(wrapped[:, [0, 1, 0]])


@pytest.mark.parametrize("pairs", [np.array(3), np.array([1, 2]), 3, np.zeros((2, 2, 2), int)])
def test_pairs_that_are_no_table(pairs: Any) -> None:
    with pytest.raises(ValueError, match=r"^pairs "):
        EmbeddingAdapter().fit(X, pairs)
