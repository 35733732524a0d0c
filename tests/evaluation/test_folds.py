"""What is held out: complete, disjoint, and without leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric.evaluation.folds import comparison_splits, row_splits
from tests.support.problems import random_triplets


@pytest.mark.parametrize(
    ("n", "expected"),
    [(100, 10), (999, 10), (1_000, 5), (6_000, 5), (7_500, 4), (40_000, 3), (50_000, 1)],
)
def test_rows_without_a_word(n: int, expected: int) -> None:
    codes = np.arange(n) % 3
    splits, scouts = row_splits(None, np.zeros((n, 1)), codes, None, 0)
    assert scouts == (5 if n < 1_000 else min(2, expected))
    assert len(splits) == expected
    for train, held in splits:
        assert len(np.intersect1d(train, held)) == 0
        assert len(train) + len(held) == n
        assert np.ptp(np.bincount(codes[held])) <= 1  # stratified
    counts = np.bincount(np.concatenate([held for _, held in splits]), minlength=n)
    assert np.ptp(counts) == (0 if expected % 5 == 0 else 1)


def test_rows_of_tiny_classes() -> None:
    splits, _ = row_splits(None, np.zeros((7, 1)), np.array([0, 0, 0, 1, 1, 1, 1]), None, 0)
    assert len(splits) == 8  # four members at most, twice over


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


CODES = np.arange(12) % 3
BAD_SPLITS: dict[str, tuple[Any, str]] = {
    "beyond the end": ([([0, 1, 3, 4], [12])], "cv: split 0 must be two arrays of row numbers"),
    "halves": ([([0, 1, 3, 4], [1.5])], "cv: split 0 must be two arrays of row numbers"),
    "text": ([([0, 1, 3, 4], "ab")], "cv: split 0 must be two arrays"),
    "numbers": ([(1, 2)], "cv: split 0 must be two arrays"),
    "a short mask": ([([True] * 5, [6])], "cv: split 0 must be two arrays"),
    "a column": ([([[0], [1]], [6])], "cv: split 0 must be two arrays"),
    "no pair": ([3, 4], "cv cannot split 12"),
    "nothing": ([], "cv has no split"),
    "empty": ([([], [1])], "cv: split 0 has 0 training and 1 held-out"),
    "one fold": (1, "cv must be an integer of at least 2, got 1"),
    "yes": (True, "cv must be an integer of at least 2, got True"),
    "a word": ("five", "cv cannot split 12"),
}


@pytest.mark.parametrize(("cv", "match"), BAD_SPLITS.values(), ids=BAD_SPLITS)
def test_bad_splits_were_index_and_type_errors(cv: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        row_splits(cv, np.zeros((12, 1)), CODES, None, 0)
    T = random_triplets(np.random.default_rng(0), 9, 12)
    with pytest.raises(ValueError, match=match):
        comparison_splits(cv, T, "comparison", None, 0)


def test_masks_and_numbers_from_the_end_are_splits() -> None:
    mask = np.arange(12) < 9
    [(train, held)], _ = row_splits([(mask, [-1])], np.zeros((12, 1)), CODES, None, 0)
    np.testing.assert_array_equal(train, np.arange(9))
    np.testing.assert_array_equal(held, [11])


def test_a_fold_of_zero_class_weights_was_an_index_error() -> None:
    """Nothing to learn from: class 2, which has all the weight, is not in the training part."""
    weights = (CODES == 2).astype(float)
    cv = [(np.flatnonzero(CODES < 2), np.flatnonzero(CODES == 2))]
    with pytest.raises(ValueError, match="class_weight: split 0 of cv"):
        row_splits(cv, np.zeros((12, 1)), CODES, None, 0, weights)
    # One row of it is not enough: it has no near row.
    cv = [(np.flatnonzero((CODES < 2) | (np.arange(12) == 2)), np.array([5]))]
    with pytest.raises(ValueError, match="class_weight: split 0 of cv"):
        row_splits(cv, np.zeros((12, 1)), CODES, None, 0, weights)
    cv = [(np.arange(9), np.arange(9, 12))]
    assert len(row_splits(cv, np.zeros((12, 1)), CODES, None, 0, weights)[0]) == 1


def test_a_fold_without_weight_was_a_zero_division_error() -> None:
    """Weights of 1e-300 beside 1e300 are 1e-600 of the largest: zero."""
    T = random_triplets(np.random.default_rng(0), 9, 12)
    weights = np.where(np.arange(12) == 0, 1.0, 1e-300 / 1e300)
    with pytest.raises(ValueError, match="sample_weight: split 0 of cv has only weights of zero"):
        comparison_splits(3, T, "comparison", None, 0, weights)
