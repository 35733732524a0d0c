"""Powers of two that keep squares within range; multiplying by one rounds nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense, Floats

__all__ = ["column_factors", "distance_factors", "extreme_factor", "lengths", "power_of_two"]

# Beyond these sizes, or below their inverses, squares of differences summed over columns leave the
# range of the type. The squares 1e200 and 1e24 leave room for sums (up to 1e308 and 3e38) and
# for small differences beside the largest one (down to 1e-308 and 1e-38). By the bytes of a number:
# NumPy takes longer to name a type than to scan a small table.
_LARGE = {8: 1e100, 4: 1e12}
# Exponents of about the largest power of two that the type holds. Smaller sizes are brought near 1,
# not to it.
_EXPONENT = {8: 1000, 4: 120}


def power_of_two(size: float, dtype: npt.DTypeLike = np.float64) -> float:
    """Return the power of two that brings a positive size between 1/2 and 1 (1 for size 0)."""
    if not size > 0.0:
        return 1.0
    return math.ldexp(1.0, min(_EXPONENT[np.dtype(dtype).itemsize], -math.frexp(size)[1]))


def extreme_factor(low: Dense, high: Dense, dtype: npt.DTypeLike) -> float:
    """Return the factor that rows with these column extremes need; 1 if their squares fit.

    Only differences within a column count: a constant column may be of any size.
    """
    return float(_factors(_half_ranges(low, high).max(), dtype))


def distance_factors(low: Dense, high: Dense, dtype: npt.DTypeLike) -> tuple[Dense | None, float]:
    """Return a factor for each column, None if no column needs one, and `extreme_factor`.

    Distances between rows with these column extremes are then in range, and all of them are
    multiplied by `extreme_factor`.
    """
    factor = extreme_factor(low, high, dtype)
    # A constant column adds nothing to any distance but may be larger than all others, so that its
    # squares, or the sum of its entries, would still overflow: it becomes zero.
    constant = low == high
    huge = np.abs(low) > _LARGE[np.dtype(dtype).itemsize]
    if factor == 1.0 and not (constant & huge).any():
        return None, 1.0
    return np.where(constant, 0.0, factor).astype(dtype), factor


def column_factors(low: Dense, high: Dense, dtype: npt.DTypeLike) -> Floats | None:
    """Return a factor for each column by its own extremes; None if all of them are 1."""
    factors: Floats = _factors(_half_ranges(low, high), dtype)
    return None if np.all(factors == 1.0) else factors


def lengths(a: Any, b: Any, components: Floats) -> Floats:
    """Return ``||components (a - b)||`` of points along the last axis; a and b are broadcast.

    Each pair has its own power of two, so that pairs of any size may stand beside each other. A
    length is infinite only if it is larger than any float64.
    """
    half = 0.5 * np.asarray(a, np.float64) - 0.5 * np.asarray(b, np.float64)  # a - b may overflow
    largest = np.abs(half).max(axis=-1, keepdims=True)
    exponent = np.clip(np.frexp(largest)[1], -_EXPONENT[8], None)
    half *= np.ldexp(1.0, -exponent)
    found = np.linalg.norm(half @ components.T, axis=-1)
    with np.errstate(over="ignore"):
        scaled: Floats = np.ldexp(found, exponent[..., 0] + 1)
    return scaled


def _half_ranges(low: Dense, high: Dense) -> Floats:
    return np.asarray(0.5 * high - 0.5 * low, np.float64)  # halves, since high - low may overflow


def _factors(sizes: Any, dtype: npt.DTypeLike) -> Any:
    """Powers of two for sizes whose squares leave the range of the type; 1 for all others."""
    bound = _LARGE[np.dtype(dtype).itemsize]
    fits = (sizes == 0.0) | ((1.0 / bound < sizes) & (sizes < bound))
    return (
        np.ones(np.shape(sizes))
        if fits.all()
        else np.where(fits, 1.0, _powers_of_two(sizes, dtype))
    )


def _powers_of_two(sizes: Any, dtype: npt.DTypeLike) -> Any:
    return np.ldexp(1.0, np.minimum(_EXPONENT[np.dtype(dtype).itemsize], -np.frexp(sizes)[1]))
