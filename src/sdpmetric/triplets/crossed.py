"""The comparisons of each row with all of its neighbours, without a list of triplets."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.typing import Floats, Ints
from ..problem.comparisons import Comparisons

__all__ = ["cross_comparisons"]


def cross_comparisons(near: Ints, far: Ints, weights: Floats | None = None) -> Comparisons:
    """Return the comparisons of `cross_triplets` on edges, in the same order.

    A pair of rows is sorted once for each row that found it. As triplets, 5 near and 10 far rows
    make 100 pairs instead of 20.

    Parameters
    ----------
    near, far : (n, k) and (n, j) neighbours of rows 0 .. n - 1; -1 for none
    weights : (n,) weight of the comparisons of each row; a row of weight 0 has none
    """
    # 1. Rows that have any comparison, and their neighbours.
    a_near, a_far = near.max(axis=1), far.max(axis=1)
    counted = np.minimum(a_near, a_far) >= 0
    if weights is not None:
        counted &= weights > 0.0
    rows = np.flatnonzero(counted)
    near, far = near[rows], far[rows]
    # 2. Triplets that mention every pair at least once. A neighbour that is there stands in for
    #    those that are not, and for the shorter list.
    (n, k), j = near.shape, far.shape[1]
    some = np.empty((n, max(k, j), 3), dtype=np.int64)
    some[..., 0] = rows[:, None]
    for column, found, one in ((1, near, a_near[rows]), (2, far, a_far[rows])):
        some[..., column] = one[:, None]
        np.copyto(some[:, : found.shape[1], column], found, where=found >= 0)
    c = Comparisons.from_indices(some.reshape(-1, 3))
    shorter, longer = c.near.reshape(some.shape[:2]), c.far.reshape(some.shape[:2])
    # 3. Each row's near edges with all of its far edges.
    complete = min(near.min(initial=0), far.min(initial=0)) >= 0
    known = None if complete else (near >= 0)[:, :, None] & (far >= 0)[:, None, :]

    def crossed(values: Any) -> Any:
        each = np.broadcast_to(values, (n, k, j))
        return each.ravel() if known is None else each[known]

    near, far = crossed(shorter[:, :k, None]), crossed(longer[:, None, :j])
    if weights is None:  # one number behind a view, as in `from_indices`
        return Comparisons(c.edges, near, far, np.broadcast_to(1.0, len(near)))
    return Comparisons(c.edges, near, far, crossed(weights[rows, None, None]))
