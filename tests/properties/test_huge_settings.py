"""Settings that are larger than any number of float64 or int64: each is named."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sdpmetric import Huber, SDPMetric, SDPMetricCV, knn_triplets

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
