"""Comparisons: "this pair is closer than that pair", stored on unique edges.

Many comparisons share a pair of items, so each pair (an *edge*) is kept once and a comparison is
two edge numbers. Margins are a gather of edge distances; slopes go back by a scatter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ._typing import Floats, Ints
from .kernels.edges import bucket_pairs, differences, number_pairs, scatter
from .threads import over, over_blocks

__all__ = ["Comparisons"]

_PART = 1 << 16  # comparisons that are worth a thread
_SPREAD = 8  # item numbers to each one mentioned up to which a table of all of them is made


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons between pairs of items.

    Attributes
    ----------
    edges : (E, 2) the distinct pairs, lower item first, in lexicographic order
    near, far : (m,) for each comparison, the edge that should be the shorter and the longer one
    weights : (m,) weight of each comparison

    >>> import numpy as np
    >>> c = Comparisons.from_indices(np.array([[0, 1, 2], [1, 0, 2]]))
    >>> c.edges.tolist(), c.near.tolist(), c.far.tolist()
    ([[0, 1], [0, 2], [1, 2]], [0, 0], [1, 2])
    """

    edges: Ints
    near: Ints
    far: Ints
    weights: Floats

    @classmethod
    def from_indices(cls, indices: Ints, weights: Floats | None = None) -> Comparisons:
        """Triplets [anchor, near, far] or quadruplets [near, near, far, far] of row indices."""
        m, width = indices.shape
        if weights is None:
            weights = np.broadcast_to(1.0, m)
        n_items = int(indices.max(initial=-1)) + 1
        if n_items > _SPREAD * indices.size:
            items, codes = np.unique(indices, return_inverse=True)
            c = cls.from_indices(codes.reshape(indices.shape), weights)
            return replace(c, edges=items.astype(_kind(n_items))[c.edges])
        near, far = ((0, 1), (0, 2)) if width == 3 else ((0, 1), (2, 3))
        item, place = _kind(n_items), _kind(2 * m)
        starts = np.zeros(n_items + 2, dtype=np.int64)
        highs, positions = np.empty(2 * m, item), np.empty(2 * m, place)
        n_edges = bucket_pairs(indices, near, far, starts, highs, positions)
        edges, numbers = np.empty((n_edges, 2), item), np.empty(2 * m, place)
        number_pairs(starts, highs, positions, edges, numbers)
        return cls(edges, numbers[:m], numbers[m:], weights)

    def __len__(self) -> int:
        return len(self.near)

    def margins(self, distances: Floats) -> Floats:
        """``z_r = d(far_r) - d(near_r)`` from the distances of the edges."""
        z = np.empty(len(self))
        over(
            len(self),
            lambda part: differences(distances, self.near, self.far, part.start, part.stop, z),
            _PART,
        )
        return z

    def far_sums(self, w: Floats, distances: Floats) -> tuple[float, float]:
        """``sum_r w_r d(far_r)`` and ``sum_r w_r``, whatever the number of threads."""
        sums = over_blocks(len(w), lambda r: (w[r] @ distances[self.far[r]], w[r].sum()))
        far, total = np.sum(sums, axis=0)
        return float(far), float(total)

    def edge_weights(self, w: Floats) -> Floats:
        """The transpose of `margins`: spread a number per comparison over the edges."""
        totals = np.zeros(len(self.edges))
        scatter(w, self.near, self.far, totals)
        return totals

    def items(self) -> Ints:
        """The items that take part, ascending."""
        n_items = int(self.edges.max(initial=-1)) + 1
        if n_items > _SPREAD * self.edges.size:
            return np.unique(self.edges).astype(np.int64)
        present = np.zeros(n_items, dtype=bool)
        present[self.edges] = True
        return np.flatnonzero(present)

    def relabel(self, items: Ints) -> Comparisons:
        """The same comparisons with item ``items[i]`` renamed ``i``."""
        kind, n_items = _kind(len(items)), int(items[-1]) + 1
        if n_items > _SPREAD * self.edges.size:
            return replace(self, edges=np.searchsorted(items, self.edges).astype(kind))
        names = np.zeros(n_items, dtype=kind)
        names[items] = np.arange(len(items))
        return replace(self, edges=names[self.edges])

    def joined(self, n_items: int) -> Comparisons:
        """The same comparisons with idle edges that make all items hang together."""
        a, b = self.edges.T
        graph = sp.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(n_items, n_items))
        count, labels = connected_components(graph, directed=False)
        if count == 1:
            return self
        heads = np.unique(labels, return_index=True)[1].astype(a.dtype)
        edges = np.vstack([self.edges, np.sort(np.stack([heads[:-1], heads[1:]], 1), axis=1)])
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        names = np.empty(len(order), dtype=self.near.dtype)
        names[order] = np.arange(len(order))
        return replace(self, edges=edges[order], near=names[self.near], far=names[self.far])

    def needed(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which edges some of the comparisons need."""
        needed = np.zeros(len(self.edges), dtype=bool)
        needed[self.near[kept]] = True
        needed[self.far[kept]] = True
        return needed

    def subset(self, kept: npt.NDArray[np.bool_]) -> Comparisons:
        """Some of the comparisons, with the edges that they need."""
        needed = self.needed(kept)
        names = np.cumsum(needed, dtype=self.near.dtype) - 1
        near, far = names[self.near[kept]], names[self.far[kept]]
        return Comparisons(self.edges[needed], near, far, self.weights[kept])


def _kind(n: int) -> npt.DTypeLike:
    """The smallest integers that number n things."""
    return np.int32 if n < np.iinfo(np.int32).max else np.int64
