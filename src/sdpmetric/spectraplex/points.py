"""Points of the spectraplex: the nearest one to a matrix, and random ones."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from .._support.typing import Floats

__all__ = ["project", "random_point"]


def project(A: Floats) -> Floats:
    """Return the point of the spectraplex nearest to a symmetric matrix.

    >>> import numpy as np
    >>> project(np.diag([3.0, 1.0])).round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    values, V = eigh(A)
    descending = values[::-1]
    steps = (np.cumsum(descending) - 1.0) / np.arange(1, len(values) + 1)
    shift = steps[np.flatnonzero(descending > steps)[-1]]
    nearest: Floats = (V * np.maximum(values - shift, 0.0)) @ V.T
    return nearest


def random_point(dimension: int, rank: int, rng: np.random.Generator) -> Floats:
    """Return a random M of the given rank in the spectraplex."""
    P = rng.standard_normal((dimension, rank))
    return P @ P.T / np.vdot(P, P)
