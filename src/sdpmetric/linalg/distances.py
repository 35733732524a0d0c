"""Squared distances of some rows to all rows of a table, by matrix products in float64.

Each comes with a bound on its rounding error, so that callers know which order is certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense, Floats
from .blocks import blocks
from .interface import Items
from .products import squared_norms
from .rounding import order_slack
from .scaling import distance_factors

__all__ = [
    "DistancesToAll",
    "MappedRows",
    "joint_extremes",
    "rescaled_together",
    "squared_distances",
]


_LEAST_WIDTH = 128  # columns that rows of a tile count for, at least: 4,096 rows


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Rows in float64, perhaps under a metric, and their squared norms."""

    rows: Floats
    squares: Floats

    @classmethod
    def of(cls, rows: Floats) -> MappedRows:
        return cls(rows, squared_norms(rows))

    def __getitem__(self, part: slice) -> MappedRows:
        return MappedRows(self.rows[part], self.squares[part])

    def __len__(self) -> int:
        return len(self.rows)


def squared_distances(A: MappedRows, B: MappedRows, out: Floats | None = None) -> Floats:
    """Return squared distances, (len(A), len(B)), written into ``out`` if given."""
    # In place: every temporary would be as large as the result.
    distances: Floats = np.matmul(A.rows, B.rows.T, out=out)
    distances *= -2.0
    distances += A.squares[:, None]
    distances += B.squares
    return distances


def joint_extremes(Q: Items, G: Items) -> tuple[Floats, Floats]:
    """Return the least and the largest entry of each column in both tables, in float64."""
    low, high = (
        join(a.astype(np.float64), b.astype(np.float64))
        for join, a, b in zip((np.minimum, np.maximum), Q.extremes, G.extremes, strict=True)
    )
    return low, high


def rescaled_together(
    Q: Items, G: Items, dtype: npt.DTypeLike = np.float64
) -> tuple[Items, Items, float]:
    """Do for distances between rows of Q and of G what `Items.rescaled` does.

    ``dtype`` is the precision in which the caller squares; rescaled rows are float64.
    """
    low, high = joint_extremes(Q, G)
    factors, factor = distance_factors(low, high, dtype)
    if factors is None:
        return Q, G, 1.0
    same = Q is G
    # In float64, since the factor need not fit into float32.
    G = G.astype(np.float64).multiplied(factors)
    return G if same else Q.astype(np.float64).multiplied(factors), G, factor


class DistancesToAll:
    """Squared distances of rows of Q to every row of G, both dense or both sparse.

    They are in units in which squares neither over- nor underflow. The attributes ``Q`` and ``G``
    are the rows in these units.
    """

    def __init__(self, Q: Items, G: Items) -> None:
        Q, G, _ = rescaled_together(Q, G)
        self.Q, self.G = Q, G
        if G.sparse:  # not centred: a shift would fill the zeros
            self.norms = G.squared_norms()
            self._by_column = G.astype(np.float64).raw.T.tocsr()
            return
        # Products of centred rows round less. The middle of each range, not the mean, which would
        # cost a pass; halves first, since low + high may overflow.
        low, high = joint_extremes(Q, G)
        self._centre: Dense = 0.5 * low + 0.5 * high
        parts = self._parts()
        self.norms = np.concatenate([squared_norms(self._centred(G, part)) for part in parts])

    @property
    def tile(self) -> int:
        """The number of rows of G that `tiles` takes at a time."""
        return len(self.G) if self.G.sparse else next(self._parts()).stop

    def _parts(self) -> Iterator[slice]:
        # A tile of few columns would be so long that only few queries fit beside it.
        return blocks(len(self.G), max(self.G.shape[1], _LEAST_WIDTH))

    def squared(self, block: slice) -> tuple[Floats, Floats]:
        """Return the distances of a block of Q, and the `order_slack` of each of its rows."""
        distances = np.empty((block.stop - block.start, len(self.G)))
        tiles, slack = self.tiles(block)
        for tile, part in tiles:
            distances[:, tile] = part
        return distances, slack

    def tiles(self, block: slice) -> tuple[Iterator[tuple[slice, Floats]], Floats]:
        """The same, a tile of rows of G at a time: each tile is centred once for all of Q's rows.

        The distances of a tile are overwritten by the next one.
        """
        if self.G.sparse:
            rows = self.Q.raw[block]
            own = np.asarray(rows.astype(np.float64).power(2).sum(axis=1)).ravel()
            tiles = self._all_at_once(rows, own)
        else:
            A = MappedRows.of(self._centred(self.Q, block))
            own, tiles = A.squares, self._dense_tiles(A)
        # The largest norm bounds every pair of a row: one number a row is enough for callers.
        return tiles, order_slack(self.G.shape[1], np.float64, own + self.norms.max())

    def _all_at_once(self, rows: Any, own: Floats) -> Iterator[tuple[slice, Floats]]:
        distances: Floats = (rows @ self._by_column).toarray()
        distances *= -2.0
        distances += own[:, None]
        distances += self.norms
        yield slice(0, len(self.G)), distances

    def _dense_tiles(self, A: MappedRows) -> Iterator[tuple[slice, Floats]]:
        room = np.empty(len(A) * self.tile)
        for tile in self._parts():
            B = MappedRows(self._centred(self.G, tile), self.norms[tile])
            out = room[: len(A) * len(B)].reshape(len(A), len(B))
            yield tile, squared_distances(A, B, out)

    def _centred(self, items: Items, rows: slice) -> Floats:
        return items.rows(rows).astype(np.float64) - self._centre
