"""Pairs of groups, against a double loop."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric._support.grouping import crossed, places


def test_places_within_runs() -> None:
    assert places(np.array([3, 0, 2])).tolist() == [0, 1, 2, 0, 1]
    assert places(np.array([0, 0])).tolist() == []


@pytest.mark.parametrize("seed", range(5))
def test_crossed_is_a_double_loop(seed: int) -> None:
    """Groups without a member on one side included."""
    rng = np.random.default_rng(seed)
    of_left, of_right = rng.integers(0, 6, 12), np.sort(rng.integers(0, 6, 9))
    expected = [(i, j) for i in range(12) for j in range(9) if of_left[i] == of_right[j]]
    left, right = crossed(of_left, of_right, 6)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected
