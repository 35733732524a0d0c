"""What is held out: complete, disjoint, and without leaks."""

from __future__ import annotations

import numpy as np
import pytest

from problems import random_triplets
from sdpmetric.selection.folds import comparison_splits, row_splits


@pytest.mark.parametrize(
    ("n", "expected"), [(100, 15), (1_500, 10), (2_500, 5), (6_000, 5), (50_000, 1)]
)
def test_rows_without_a_word(n: int, expected: int) -> None:
    codes = np.arange(n) % 3
    splits, scouts = row_splits(None, np.zeros((n, 1)), codes, None, 0)
    assert scouts == (1 if n > 5_000 else expected)
    assert len(splits) == expected
    for train, held in splits:
        assert len(np.intersect1d(train, held)) == 0
        assert len(train) + len(held) == n
        assert np.ptp(np.bincount(codes[held])) <= 1  # stratified
    if expected > 1:
        counts = np.bincount(np.concatenate([held for _, held in splits]))
        assert set(counts) == {expected // 5}


def test_rows_of_tiny_classes() -> None:
    splits, _ = row_splits(None, np.zeros((7, 1)), np.array([0, 0, 0, 1, 1, 1, 1]), None, 0)
    assert len(splits) == 12  # four members at most, three times over


@pytest.mark.parametrize("width", [3, 4])
@pytest.mark.parametrize("by", ["anchor", "comparison", "item", "group"])
def test_comparisons(by: str, width: int) -> None:
    rng = np.random.default_rng(0)
    T = random_triplets(rng, 40, 300)
    if width == 4:
        T = np.column_stack([T[:, 0], T[:, 1], T[:, 0], T[:, 2]])
    groups = rng.integers(0, 9, 300)
    splits = comparison_splits(4, T, by, groups if by == "group" else None, 0)
    assert len(splits) == 4
    for train, held in splits:
        assert len(np.intersect1d(train, held)) == 0
        if by == "anchor":
            assert not set(T[train, 0]) & set(T[held, 0])
        if by == "group":
            assert not set(groups[train]) & set(groups[held])
        if by == "item":
            new = np.setdiff1d(T, T[train])
            assert np.isin(T[held], new).any(axis=1).all()
            assert len(new) >= 10
        else:
            assert len(train) + len(held) == 300
    everything = np.concatenate([held for _, held in splits])
    assert set(everything) == set(range(300))


def test_no_comparison_left() -> None:
    T = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    with pytest.raises(ValueError, match="split 0 has 0 training"):
        comparison_splits(2, T, "item", None, 0)
    with pytest.raises(ValueError, match="anchors of triplets: found 1"):
        comparison_splits(None, T[:1], "anchor", None, 0)
