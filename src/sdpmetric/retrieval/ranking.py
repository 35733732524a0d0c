"""A gallery ranked by its distance to each query, exactly, a block of queries at a time.

Matrix products give every distance to within a known rounding error; where two are too close to
tell apart both are computed from the rows themselves. So the order, ties included, does not depend
on blocks, threads or BLAS.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from .._typing import Dense, Floats, Ints, Items
from ..products import blocks, extremes, squared_differences, squared_norms, tame

__all__ = ["Ranking"]

BLOCK_BYTES = 1 << 24  # of distances; the order of a block takes as much again


class Ranking:
    """The rows of G by their distance to each row of Q; ties to the lower row of G.

    Without G the rows of Q rank each other, and a row comes last in its own ranking.
    """

    def __init__(self, Q: Items, G: Items = None) -> None:
        self.alone = G is None
        self.Q, self.G = _tamed(Q, Q if G is None else G)
        self.transposed: Items = None
        if sp.issparse(self.G):  # not centred: what is zero must stay so
            self.transposed = self.G.astype(np.float64).T.tocsr()
            self.norms = squared_norms(self.G)
            return
        corners = _corners(self.Q, self.G)  # products of centred rows round less
        self.centre = 0.5 * corners.min(axis=0) + 0.5 * corners.max(axis=0)
        tiles = blocks(*self.G.shape)
        self.norms = np.concatenate([squared_norms(self._rows(self.G, tile)) for tile in tiles])

    def blocks(self, part: slice) -> Iterator[slice]:
        """Blocks of a part of the queries whose distances fit into memory."""
        for block in blocks(part.stop - part.start, len(self.norms), BLOCK_BYTES):
            yield slice(part.start + block.start, part.start + block.stop)

    def order(self, block: slice) -> Ints:
        """(queries, n) rows of G for each query, nearest first."""
        A = self._rows(self.Q, block)
        own = squared_norms(A)
        distances = self._products(A)
        distances *= -2.0
        distances += own[:, None]
        distances += self.norms
        # A product of D terms is off by at most D eps |a||b|, norms and centred entries by a few
        # eps; two distances that differ by more than twice that are in the right order.
        unit = 4.0 * (self.G.shape[1] + 16) * np.finfo(np.float64).eps
        slack = unit * (own + self.norms.max())
        self._put_self_last(distances, block)
        order: Ints = np.argsort(distances, axis=1)
        close = _close(np.take_along_axis(distances, order, axis=1), slack)
        rows = np.flatnonzero(close.any(axis=1))
        if len(rows):
            query, rank = np.nonzero(close)
            item = order[query, rank]
            exact = squared_differences(self.Q, block.start + query, item, Y=self.G)
            distances[query, item] = exact
            self._put_self_last(distances, block)
            order[rows] = np.argsort(distances[rows], axis=1, kind="stable")
        return order

    def _put_self_last(self, distances: Floats, block: slice) -> None:
        if self.alone:
            distances[np.arange(len(distances)), np.arange(block.start, block.stop)] = np.inf

    def _rows(self, X: Items, rows: slice) -> Items:
        return X[rows] if sp.issparse(X) else X[rows].astype(np.float64) - self.centre

    def _products(self, A: Items) -> Floats:
        if self.transposed is not None:
            dense: Floats = (A @ self.transposed).toarray()
            return dense
        n, D = self.G.shape
        products = np.empty((len(A), n))
        for tile in blocks(n, D):
            np.matmul(A, self._rows(self.G, tile).T, out=products[:, tile])
        return products


def _close(ascending: Floats, slack: Floats) -> Dense:
    """Which entries of each row are within its slack of a neighbour."""
    close = np.zeros(ascending.shape, dtype=bool)
    touching = np.diff(ascending, axis=1) <= slack[:, None]
    close[:, 1:] = touching
    close[:, :-1] |= touching
    return close


def _corners(Q: Items, G: Items) -> Dense:
    """The least and the largest entries of each column, in Q and in G."""
    return np.stack([*extremes(Q), *extremes(G)])


def _tamed(Q: Items, G: Items) -> tuple[Items, Items]:
    """Both in units in which squares neither over- nor underflow."""
    factor = tame(_corners(Q, G).astype(np.float64))[1]
    if factor == 1.0:
        return Q, G
    return Q.astype(np.float64) * factor, G.astype(np.float64) * factor
