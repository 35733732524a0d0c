"""Comparisons: "this pair is closer than that pair", stored on unique edges.

Many comparisons share a pair of items, so each pair (an *edge*) is kept once and a comparison is
two edge numbers. Margins are a gather of edge distances; slopes go back by a scatter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from .._support.typing import Floats, Ints
from ..engines.threads import map_blocks, map_parts
from ..linalg.kernels.edges import bucket_pairs, differences, number_pairs, scatter, scatter_sums

__all__ = ["Comparisons"]

_PART = 1 << 16  # comparisons that are worth a thread
# A table with an entry per item number is made up to this many numbers per index given. Beyond it
# (two comparisons among a billion rows) memory would grow with the rows: items are sorted instead.
_SPREAD = 8


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
        """Build comparisons from row indices: one row for each comparison.

        Parameters
        ----------
        indices : (m, 3) triplets [anchor, near, far] or (m, 4) quadruplets [near, near, far, far]
        weights : (m,) weights, all 1 by default
        """
        m, width = indices.shape
        if weights is None:
            weights = np.broadcast_to(1.0, m)  # one number behind a view, not m of them
        # 1. If few of very many items are mentioned, number these first.
        n_items = int(indices.max(initial=-1)) + 1
        if n_items > _SPREAD * indices.size:
            items, codes = np.unique(indices, return_inverse=True)
            c = cls.from_indices(codes.reshape(indices.shape), weights)
            return replace(c, edges=items.astype(_integer_type(n_items))[c.edges])
        # 2. The columns of the near and of the far pair.
        near, far = ((0, 1), (0, 2)) if width == 3 else ((0, 1), (2, 3))
        # 3. Sort all 2 m pairs by (lower, higher item), with 32-bit numbers wherever they suffice.
        item, place = _integer_type(n_items), _integer_type(2 * m)
        starts = np.zeros(n_items + 2, dtype=np.int64)
        highs, positions = np.empty(2 * m, item), np.empty(2 * m, place)
        n_edges = bucket_pairs(indices, near, far, starts, highs, positions)
        # 4. Equal pairs now stand together: number them, and give each comparison its two numbers.
        edges, numbers = np.empty((n_edges, 2), item), np.empty(2 * m, place)
        number_pairs(starts, highs, positions, edges, numbers)
        return cls(edges, numbers[:m], numbers[m:], weights)

    def __len__(self) -> int:
        return len(self.near)

    def margins(self, distances: Floats) -> Floats:
        """``z_r = d(far_r) - d(near_r)`` from the distances of the edges."""
        z = np.empty(len(self))
        map_parts(
            len(self),
            lambda part: differences(distances, self.near, self.far, part.start, part.stop, z),
            _PART,
        )
        return z

    def far_sums(self, w: Floats, distances: Floats) -> tuple[float, float]:
        """Return ``sum_r w_r d(far_r)`` and ``sum_r w_r``, the same for every number of threads."""
        sums = map_blocks(len(w), lambda r: (w[r] @ distances[self.far[r]], w[r].sum()))
        far_sum, total = np.sum(sums, axis=0)
        return float(far_sum), float(total)

    def edge_weights(self, w: Floats) -> Floats:
        """Add a number per comparison to its edges, far minus near: the transpose of `margins`."""
        totals = np.zeros(len(self.edges))
        scatter(w, self.near, self.far, totals)
        return totals

    def sums(self, w: Floats, distances: Floats) -> tuple[Floats, float, float]:
        """Return `edge_weights` and `far_sums`, in one pass where comparisons are few."""
        if len(w) > _PART:
            return self.edge_weights(w), *self.far_sums(w, distances)
        totals = np.zeros(len(self.edges))
        return totals, *scatter_sums(w, self.near, self.far, distances, totals)

    def items(self) -> Ints:
        """Return the items that some comparison mentions, ascending."""
        n_items = int(self.edges.max(initial=-1)) + 1
        if n_items > _SPREAD * self.edges.size:
            return np.unique(self.edges).astype(np.int64)
        present = np.zeros(n_items, dtype=bool)
        present[self.edges] = True
        return np.flatnonzero(present)

    def relabel(self, items: Ints) -> Comparisons:
        """Return the same comparisons with item ``items[i]`` renamed ``i``."""
        dtype, n_items = _integer_type(len(items)), int(items[-1]) + 1
        if n_items > _SPREAD * self.edges.size:
            return replace(self, edges=np.searchsorted(items, self.edges).astype(dtype))
        names = np.zeros(n_items, dtype=dtype)
        names[items] = np.arange(len(items))
        return replace(self, edges=names[self.edges])

    def parts(self, n_items: int) -> Ints:
        """Return the part, from 0 on, that each item belongs to; edges join items of one part."""
        labels: Ints = connected_components(self._graph(n_items), directed=False)[1]
        return labels

    def forest(self, n_items: int) -> Ints:
        """Return edges without a cycle whose differences span those of all edges."""
        if len(self.edges) < n_items:
            return self.edges
        tree = minimum_spanning_tree(self._graph(n_items)).tocoo()
        return np.stack([tree.row, tree.col], axis=1).astype(self.edges.dtype)

    def _graph(self, n_items: int) -> sp.csr_array:
        a, b = self.edges.T
        return sp.csr_array((np.ones(len(a), np.int8), (a, b)), shape=(n_items, n_items))

    def joined(self, n_items: int) -> Comparisons:
        """Return the same comparisons with extra, unused edges, so that the graph is connected.

        The differences along a connected graph span the differences of all pairs of items.
        """
        labels = self.parts(n_items)
        if not labels.any():
            return self
        # A chain through one item of each part is the least that connects them.
        heads = np.unique(labels, return_index=True)[1].astype(self.edges.dtype)
        edges = np.vstack([self.edges, np.sort(np.stack([heads[:-1], heads[1:]], 1), axis=1)])
        # The new edges are sorted in: the Laplacian relies on the order.
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        names = np.empty(len(order), dtype=self.near.dtype)
        names[order] = np.arange(len(order))
        return replace(self, edges=edges[order], near=names[self.near], far=names[self.far])

    def needed(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Mark the edges that the kept comparisons use."""
        needed = np.zeros(len(self.edges), dtype=bool)
        needed[self.near[kept]] = True
        needed[self.far[kept]] = True
        return needed

    def subset(self, kept: npt.NDArray[np.bool_]) -> Comparisons:
        """Return the kept comparisons, with only the edges that they use."""
        needed = self.needed(kept)
        names = np.cumsum(needed, dtype=self.near.dtype) - 1
        near, far = names[self.near[kept]], names[self.far[kept]]
        return Comparisons(self.edges[needed], near, far, self.weights[kept])


def _integer_type(n: int) -> npt.DTypeLike:
    """Return the smaller integer type that can number n things."""
    # Gathers along edges take most of the time of large fits (docs/performance.md): half the bytes.
    return np.int32 if n < np.iinfo(np.int32).max else np.int64
