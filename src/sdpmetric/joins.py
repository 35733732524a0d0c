"""Pairs of the members of two groupings, all at once."""

from __future__ import annotations

import numpy as np

from ._typing import Ints

__all__ = ["crossed", "places"]


def places(sizes: Ints) -> Ints:
    """0, 1, ... within each of several runs of these sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def crossed(of_left: Ints, of_right: Ints, n: int) -> tuple[Ints, Ints]:
    """Places of each left member with each right one of its group, of 0, ..., n - 1.

    Groups of the right ones ascend. Pairs come in the order of the left ones.

    >>> import numpy as np
    >>> crossed(np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    (array([0, 0, 1, 2]), array([0, 1, 2, 2]))
    """
    counts = np.bincount(of_right, minlength=n)
    starts = np.cumsum(counts) - counts
    each = counts[of_left]
    left = np.repeat(np.arange(len(of_left)), each)
    return left, starts[of_left[left]] + places(each)
