"""``X' L X`` as an array, L the signed Laplacian of weighted edges, and a bound of its rounding.

L X is made for a block of rows at a time. A sum of k products in floating point is off by at most
``gamma_k = k u / (1 - k u)`` times the sum of their sizes, u the rounding unit, in whatever order
it is computed (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.1). Let
``X_b`` and ``S_b`` be the rows of ``X - 1 c'`` and of L X in block b. No c changes the result,
since L maps constants to zero, and one near the mean keeps the sizes small. The array is then off
by at most

    sum_b ||X_b|| (gamma_k ||S_b|| + gamma_e ||t_b||)

in the Frobenius norm, and so in the spectral norm. k is the number of rows of a block, and of
blocks, and 4; e is the largest number of edges of an item, and 3; ``t_i`` is a bound of the size of
the terms of row i of L X: the sum of ``|w_e| (r_i + r_j)`` over its edges, r_i being the length of
row i of ``X - 1 c'``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._support.typing import Dense, Floats, Ints
from ..engines.threads import map_parts
from .blocks import blocks, slices
from .interface import Items
from .laplacian import Laplacian

__all__ = ["gamma", "signed_gram"]

_UNIT = 0.5 * float(np.finfo(np.float64).eps)
_BLOCK_BYTES = 1 << 25  # of a block of rows: products of fewer rows waste the cache
_TILE = 512  # columns of a tile of the result
_PART = 64  # rows of a block that are worth a thread


def gamma(k: float) -> float:
    """Return Higham's bound of the relative rounding of a sum of k products."""
    return k * _UNIT / (1.0 - k * _UNIT)


def signed_gram(
    X: Items, edges: Ints, weights: Floats, check: Callable[[], None]
) -> tuple[Floats, float]:
    """Return ``sum_e weights_e (x_a - x_b)(x_a - x_b)'``, symmetric, and a bound of its rounding.

    The items must be one array in memory. ``check`` is called before each block of rows and may
    raise an exception.
    """
    array = X.array
    assert array is not None
    array = np.ascontiguousarray(array)  # the compiled loop goes along rows
    n, D = array.shape
    out, parts = np.zeros((D, D)), list(blocks(n, D, _BLOCK_BYTES))
    rows_of, mean = Laplacian(edges, weights, n).rows_of(array, np.float64), X.mean()
    lengths, sizes = np.empty(n), np.empty((2, len(parts)))
    for b, part in enumerate(parts):
        check()
        centred, S = np.empty((2, part.stop - part.start, D))
        _fill(array[part], mean, rows_of, part.start, centred, S)
        lengths[part] = np.linalg.norm(centred, axis=1)
        sizes[:, b] = np.linalg.norm(lengths[part]), np.linalg.norm(S)
        _add_upper(centred, S, out)
    for columns in slices(0, D, _TILE):
        out[columns.stop :, columns] = out[columns, columns.stop :].T
        square = out[columns, columns]
        square[:] = 0.5 * (square + square.T)
    terms, most = _terms(edges, weights, lengths)
    rows = parts[0].stop
    sums = gamma(rows + len(parts) + 4) * sizes[1]
    sums += gamma(most + 3) * np.array([np.linalg.norm(terms[part]) for part in parts])
    # The root of two, since the lower triangle repeats the errors of the upper one, and a little
    # for the rounding of the sizes.
    return out, 1.43 * float(sizes[0] @ sums)


def _fill(
    rows: Dense,
    mean: Floats,
    rows_of: Callable[[slice], Dense],
    first: int,
    centred: Floats,
    S: Floats,
) -> None:
    """Fill blocks of ``X - 1 mean'`` and of L X."""

    def fill(some: slice) -> None:
        np.subtract(rows[some], mean, out=centred[some])
        S[some] = rows_of(slice(first + some.start, first + some.stop))

    map_parts(len(rows), fill, _PART)


def _add_upper(A: Floats, S: Floats, out: Floats) -> None:
    """Add ``A' S`` to the tiles of ``out`` on and above its diagonal."""
    columns = list(slices(0, len(out), _TILE))
    tiles = [(i, j) for number, i in enumerate(columns) for j in columns[number:]]

    def add(some: slice) -> None:
        for i, j in tiles[some]:
            out[i, j] += A[:, i].T @ S[:, j]

    map_parts(len(tiles), add)


def _terms(edges: Ints, weights: Floats, lengths: Floats) -> tuple[Floats, int]:
    """Return a bound of the terms of each row of L X, and the largest number of terms."""
    used = np.flatnonzero(weights)
    a, b = edges[used].T
    size = np.abs(weights[used]) * (lengths[a] + lengths[b])
    n = len(lengths)
    terms = np.zeros(n)
    for end in (a, b):
        terms += np.bincount(end, size, n)
    count = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
    return terms, int(count.max(initial=0))
