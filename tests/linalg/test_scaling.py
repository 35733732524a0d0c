"""Powers of two that keep squares in range: exact, and only where they are needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric.linalg.items import items_of
from sdpmetric.linalg.scaling import extreme_factor, power_of_two

X = np.array([[1.0, -2.0, 0.0], [0.0, 3.5, 0.0], [-4.0, 0.0, 0.0]])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_extremes_of_columns(make: Any) -> None:
    """Zeros that a sparse array does not store count."""
    low, high = items_of(make(X)).extremes
    np.testing.assert_array_equal(low, [-4.0, -2.0, 0.0])
    np.testing.assert_array_equal(high, [1.0, 3.5, 0.0])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("unit", [1.0, 1e-90, 1e90])
def test_ordinary_items_are_left_alone(make: Any, unit: float) -> None:
    given = items_of(make(X * unit))
    found, factor = given.rescaled()
    assert found is given
    assert factor == 1.0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("unit", [2.0**-900, 2.0**900])
def test_extreme_items_are_scaled_without_rounding(make: Any, unit: float) -> None:
    found, factor = items_of(make(X * unit)).rescaled()
    mantissa, _ = math.frexp(factor)
    assert mantissa == 0.5  # a power of two
    entries = found.rows(slice(None))
    np.testing.assert_array_equal(entries, X * (unit * factor))
    assert 0.1 < np.abs(entries).max() < 10.0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_large_constant_columns_become_zero(make: Any) -> None:
    tiny = X * 2.0**-600
    tiny[:, 2] = 1e200
    found, factor = items_of(make(tiny)).rescaled()
    entries = found.rows(slice(None))
    np.testing.assert_array_equal(entries[:, 2], 0.0)
    np.testing.assert_array_equal(entries[:, :2], X[:, :2] * 2.0**-600 * factor)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-9, 0.5, 1.0, 3.0, 1e308])
def test_a_power_of_two_brings_a_size_to_about_one(size: float) -> None:
    factor = power_of_two(size)
    assert math.frexp(factor)[0] == 0.5
    assert size * factor < 1.0
    assert size * factor >= 0.5 or factor == 2.0**1000  # as large as it may be
    assert power_of_two(0.0) == 1.0


def test_only_differences_within_a_column_count() -> None:
    low, high = np.array([1e200, 0.0]), np.array([1e200, 1.0])
    assert extreme_factor(low, high, np.float64) == 1.0
    assert extreme_factor(np.array([-1.7e308]), np.array([1.7e308]), np.float64) == 2.0**-1024
    single = np.array([0.0], dtype=np.float32), np.array([1e15], dtype=np.float32)
    assert extreme_factor(*single, np.float32) == 2.0**-49  # half of the range becomes 0.89
