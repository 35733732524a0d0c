"""Products and distances of plain dense arrays, shared among threads.

Solvers use them for small factors, sketches and mapped items ``X @ P``. The items X have their own
methods (see `interface.Items`), which call these functions for dense arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.typing import Dense, Floats, Ints
from ..engines.threads import map_parts
from .blocks import EDGE_NUMBERS, PRODUCT, SMALL_PRODUCT
from .kernels.rows import add_squared_distances

__all__ = ["add_distances", "edge_distances", "squared_norms", "times", "transposed_times"]


def times(A: Dense, P: Floats) -> Dense:
    """``A @ P`` in A's precision."""
    if A.size * P.shape[1] <= SMALL_PRODUCT:
        product: Dense = A @ P.astype(A.dtype, copy=False)
        return product
    P = np.ascontiguousarray(P, dtype=A.dtype)
    out = np.empty((len(A), P.shape[1]), dtype=A.dtype)
    map_parts(len(A), lambda rows: np.matmul(A[rows], P, out=out[rows]), PRODUCT // max(1, P.size))
    return out


def transposed_times(A: Dense, S: Dense) -> Floats:
    """``A.T @ S``, computed in A's precision, as float64."""
    S = S.astype(A.dtype, copy=False)
    if A.size * S.shape[1] <= SMALL_PRODUCT:
        return (A.T @ S).astype(np.float64, copy=False)
    least = PRODUCT // max(1, A.shape[1] * S.shape[1])
    parts = map_parts(
        len(A), lambda rows: (A[rows].T @ S[rows]).astype(np.float64, copy=False), least
    )
    return sum(parts[1:], start=parts[0])


def edge_distances(Y: Dense, edges: Ints, out: Floats | None = None) -> Floats:
    """Squared Euclidean distances of the rows of Y joined by edges, added to ``out`` if given."""
    return add_distances(Y, Y, edges[:, 0], edges[:, 1], Y.shape[1], out)


def add_distances(
    rows: Any, others: Any, a: Ints, b: Ints, width: int, out: Floats | None = None
) -> Floats:
    """``||rows_a - others_b||^2`` in float64, added to ``out`` if given.

    ``rows`` and ``others`` have the form that compiled loops take: both dense arrays of ``width``
    columns, or both the three arrays of a CSR matrix.
    """
    total = np.zeros(len(a)) if out is None else out
    map_parts(
        len(a),
        lambda part: add_squared_distances(rows, others, a, b, part.start, part.stop, total),
        EDGE_NUMBERS // width,
    )
    return total


def squared_norms(A: Dense) -> Floats:
    """``||a||^2`` of each row in float64."""
    # einsum converts in small buffers; ``A.astype(float64)`` would be a second array.
    squares: Floats = np.einsum("ij,ij->i", A, A, dtype=np.float64)
    return squares
