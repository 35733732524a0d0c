"""The rounding bounds, against distances in exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sdpmetric.linalg.items import items_of
from sdpmetric.linalg.mapped import WeightedTables
from sdpmetric.linalg.products import squared_norms
from sdpmetric.linalg.rounding import difference_error, lowered_norms, order_slack

KINDS = ("normal", "near", "far from zero", "mixed sizes", "tiny")


def rows(kind: str, D: int, dtype: Any, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, D))
    if kind == "near":
        X = X[:1] + 1e-6 * X
    elif kind == "far from zero":
        X += 1e3
    elif kind == "mixed sizes":
        X *= 10.0 ** rng.integers(-8, 1, size=D)
    elif kind == "tiny":
        X *= 1e-20  # squares of float32 are subnormal or zero
    return X.astype(dtype)


def exact(X: Any) -> list[list[Fraction]]:
    F = [[Fraction(float(x)) for x in row] for row in X]
    return [
        [sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), Fraction()) for b in F] for a in F
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("D", [1, 5, pytest.param(300, marks=pytest.mark.slow)])
def test_products_bound_distances_from_below(kind: str, D: int) -> None:
    X = rows(kind, D, np.float32)
    lower = lowered_norms(squared_norms(X), D).astype(np.float64)
    bounds = lower + lower[:, None] - 2.0 * (X @ X.T).astype(np.float64)
    true = exact(X)
    assert all(Fraction(float(bounds[i, j])) <= true[i][j] for i in range(12) for j in range(12))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tiny"])
@pytest.mark.parametrize("D", [1, 5, pytest.param(300, marks=pytest.mark.slow)])
def test_computed_distances_are_within_the_bound(kind: str, D: int) -> None:
    X = rows(kind, D, np.float64)
    squares = squared_norms(X)
    computed = squares + squares[:, None] - 2.0 * (X @ X.T)
    true = exact(X)
    e = 0.5 * difference_error(D, np.float64, squares + squares[:, None])
    for i in range(12):
        for j in range(12):
            off = abs(Fraction(float(computed[i, j])) - true[i][j])
            assert off <= Fraction(float(e[i, j]))


def test_margins_of_weighted_tables_are_within_their_rounding() -> None:
    X, Z = rows("normal", 40, np.float32), rows("far from zero", 3, np.float64, 1)
    tables = WeightedTables((0.7, items_of(X)), (0.3, items_of(Z)))
    a, b, c = np.random.default_rng(2).integers(0, 12, size=(3, 100))
    true = [
        [Fraction(0.7) * p + Fraction(0.3) * q for p, q in zip(*pair, strict=True)]
        for pair in zip(exact(X), exact(Z), strict=True)
    ]
    near = tables.distances(a, b)
    products = tables.products(np.arange(12), slice(0, 12))
    far = tables.norms[a] + tables.norms[c] - 2.0 * products[a, c]
    for r in range(100):
        z = true[a[r]][c[r]] - true[a[r]][b[r]]
        assert abs(Fraction(float(far[r] - near[r])) - z) <= Fraction(tables.rounding)


def test_the_slack_of_an_order_is_twice_what_two_distances_need() -> None:
    eps = np.finfo(np.float64).eps
    assert order_slack(10, np.float64, 3.0) == 2.0 * difference_error(10, np.float64, 3.0)
    assert order_slack(10, np.float64, 3.0) == pytest.approx(4 * 26 * eps * 3.0)
