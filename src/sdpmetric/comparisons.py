"""Comparisons: "this pair is closer than that pair", stored on unique edges.

Many comparisons share a pair of items, so each pair (an *edge*) is kept once and a comparison is
two edge numbers. Margins are a gather of edge distances; slopes go back by a scatter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._typing import Floats, Ints

__all__ = ["Comparisons"]


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
        near, far = ((0, 1), (0, 2)) if width == 3 else ((0, 1), (2, 3))
        a = np.concatenate([indices[:, near[0]], indices[:, far[0]]])
        b = np.concatenate([indices[:, near[1]], indices[:, far[1]]])
        low, high = np.minimum(a, b), np.maximum(a, b)
        # One int64 code per pair: safe for any number of items below 3e9.
        n_items = int(high.max(initial=0)) + 1
        codes, inverse = np.unique(low * np.int64(n_items) + high, return_inverse=True)
        edges = np.stack(np.divmod(codes, n_items), axis=1)
        if weights is None:
            weights = np.ones(m)
        return cls(edges, inverse[:m], inverse[m:], weights)

    def __len__(self) -> int:
        return len(self.near)

    def margins(self, distances: Floats) -> Floats:
        """``z_r = d(far_r) - d(near_r)`` from the distances of the edges."""
        return distances[self.far] - distances[self.near]

    def edge_weights(self, w: Floats) -> Floats:
        """The transpose of `margins`: spread a number per comparison over the edges."""
        n = len(self.edges)
        far: Floats = np.bincount(self.far, w, n).astype(np.float64, copy=False)
        return far - np.bincount(self.near, w, n)

    def items(self) -> Ints:
        """The items that take part, ascending."""
        return np.unique(self.edges)

    def relabel(self, items: Ints) -> Comparisons:
        """The same comparisons with item ``items[i]`` renamed ``i``."""
        return Comparisons(np.searchsorted(items, self.edges), self.near, self.far, self.weights)
