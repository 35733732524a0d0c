"""Arithmetic on groups of consecutive rows, without a loop over the groups."""

from __future__ import annotations

import numpy as np

from .typing import Ints


def places(sizes: Ints) -> Ints:
    """The place 0, 1, ... of each member within its group, for groups of these sizes.

    >>> import numpy as np
    >>> places(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def crossed(of_left: Ints, of_right: Ints, n: int) -> tuple[Ints, Ints]:
    """Pair each left member with each right member of the same group.

    Parameters
    ----------
    of_left : (a,) group of each left member
    of_right : (b,) group of each right member, ascending
    n : number of groups

    Returns
    -------
    Two arrays of one length: the left and the right member of each pair, in the order of the left
    members.

    >>> import numpy as np
    >>> crossed(np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    (array([0, 0, 1, 2]), array([0, 1, 2, 2]))
    """
    counts = np.bincount(of_right, minlength=n)
    starts = np.cumsum(counts) - counts
    each = counts[of_left]
    left = np.repeat(np.arange(len(of_left)), each)
    return left, starts[of_left[left]] + places(each)
