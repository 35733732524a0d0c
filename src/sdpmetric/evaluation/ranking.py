"""A gallery ranked by its distance to each query, exactly, a block of queries at a time.

Matrix products give every distance to within a known rounding error; where two are too close to
tell apart both are computed from the rows themselves. So the order, ties included, does not depend
on blocks, threads or BLAS.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._support.typing import Dense, Floats, Ints
from ..linalg.blocks import RESULT_BYTES, blocks
from ..linalg.distances import DistancesToAll
from ..linalg.items import Items

__all__ = ["Ranking"]

_SORTED = 8  # a gallery of fewer than k times as many rows is sorted whole: that is as fast


class Ranking:
    """The rows of G by their distance to each row of Q; ties to the lower row of G.

    Without G the rows of Q rank each other, and a row comes last in its own ranking.
    """

    def __init__(self, Q: Items, G: Items | None = None) -> None:
        self.alone = G is None
        self.distances = DistancesToAll(Q, Q if G is None else G)

    def blocks(self, part: slice, k: int | None = None) -> Iterator[slice]:
        """Blocks of a part of the queries whose distances fit into memory.

        With k those for `nearest`, which looks at a tile of G at a time: larger ones, since every
        block reads all of G.
        """
        # The order of a block takes as much again as its distances.
        n = len(self.distances.G)
        width = n if k is None or self._sorts(k) else self.distances.tile
        for block in blocks(part.stop - part.start, width, RESULT_BYTES):
            yield slice(part.start + block.start, part.start + block.stop)

    def nearest(self, block: slice, k: int) -> Ints:
        """(queries, k) rows of G for each query, nearest first: the start of `order`.

        Sorting a gallery takes much longer than finding the k smallest distances in it.
        """
        if self._sorts(k):
            return self.order(block)[:, :k]
        # 1. Twice as many candidates as needed, by computed distances.
        candidates, ascending, slack = self._candidates(block, 2 * k)
        # 2. Rounding cannot exchange a row of the k nearest with one that is not a candidate, if
        #    the last candidate is farther than the k-th by more than the slack.
        sure = ascending[:, -1] - ascending[:, k - 1] > slack
        found = np.empty((len(ascending), k), dtype=np.int64)
        query = block.start + np.flatnonzero(sure)
        exact = self.distances.Q.squared_differences(
            np.repeat(query, 2 * k), candidates[sure].ravel(), other=self.distances.G
        ).reshape(-1, 2 * k)
        if self.alone:
            exact[candidates[sure] == query[:, None]] = np.inf
        order = np.argsort(exact, axis=1, kind="stable")[:, :k]
        found[sure] = np.take_along_axis(candidates[sure], order, axis=1)
        # 3. The others, which have many rows at nearly one distance, sort the gallery.
        for row in np.flatnonzero(~sure):
            one = slice(block.start + int(row), block.start + int(row) + 1)
            found[row] = self.order(one)[0, :k]
        return found

    def _sorts(self, k: int) -> bool:
        return len(self.distances.G) <= _SORTED * k

    def _candidates(self, block: slice, count: int) -> tuple[Ints, Floats, Floats]:
        """Rows of least computed distance, by row; their distances, ascending; and the slack."""
        n = block.stop - block.start
        rows, least = np.empty((n, 0), dtype=np.int64), np.empty((n, 0))
        tiles, slack = self.distances.tiles(block)
        for tile, distances in tiles:
            self._put_self_last(distances, block, tile)
            numbers = np.broadcast_to(np.arange(tile.start, tile.stop), distances.shape)
            near = _smallest(distances, count)
            rows = np.hstack([rows, np.take_along_axis(numbers, near, axis=1)])
            least = np.hstack([least, np.take_along_axis(distances, near, axis=1)])
            near = _smallest(least, count)
            rows, least = (np.take_along_axis(a, near, axis=1) for a in (rows, least))
        # Ascending, so that a stable sort gives ties to the lower row.
        return np.sort(rows, axis=1), np.sort(least, axis=1), slack

    def order(self, block: slice) -> Ints:
        """(queries, n) rows of G for each query, nearest first."""
        # 1. By computed distances.
        Q, G = self.distances.Q, self.distances.G
        distances, slack = self.distances.squared(block)
        self._put_self_last(distances, block)
        order: Ints = np.argsort(distances, axis=1)
        # 2. Neighbours in that order that rounding may have exchanged.
        close = _close(np.take_along_axis(distances, order, axis=1), slack)
        rows = np.flatnonzero(close.any(axis=1))
        # 3. Their distances from the rows themselves, and the order of these rankings again.
        if len(rows):
            query, rank = np.nonzero(close)
            item = order[query, rank]
            exact = Q.squared_differences(block.start + query, item, other=G)
            distances[query, item] = exact
            self._put_self_last(distances, block)
            order[rows] = np.argsort(distances[rows], axis=1, kind="stable")
        return order

    def _put_self_last(self, distances: Floats, block: slice, tile: slice | None = None) -> None:
        """Set the distance of each query of a block to itself, if it stands in the tile of G."""
        if self.alone:
            first, stop = (0, len(self.distances.G)) if tile is None else (tile.start, tile.stop)
            own = np.arange(max(block.start, first), min(block.stop, stop))
            distances[own - block.start, own - first] = np.inf


def _smallest(values: Floats, count: int) -> Ints:
    """Places of the ``count`` smallest values of each row, in no order; all if there are fewer."""
    if values.shape[1] <= count:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    return np.argpartition(values, count - 1, axis=1)[:, :count]


def _close(ascending: Floats, slack: Floats) -> Dense:
    """Which entries of each row are within its slack of a neighbour."""
    close = np.zeros(ascending.shape, dtype=bool)
    touching = np.diff(ascending, axis=1) <= slack[:, None]
    close[:, 1:] = touching
    close[:, :-1] |= touching
    return close
