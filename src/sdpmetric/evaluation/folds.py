"""Folds of labelled rows and of comparisons, in which no held-out answer leaks into training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)

from .._support.checks import check_integer
from .._support.text import shorten
from .._support.typing import Floats, Ints, Rows

FOLDS_BY = ("anchor", "comparison", "item", "group")
Splits: TypeAlias = list[tuple[Ints, Ints]]

_FOLDS = 5
_VOTES = 2_000  # held-out rows aimed at: the standard error of an accuracy is then about 0.01
_REPEATS = 2  # of all folds at most: the same rows come again, so that more repeats add little
_MANY = 1_000  # rows from which two folds (400 votes) are enough to discard most candidates
_FIRST_OF_MANY = 2  # splits on which all candidates are tried then
_FIRST = 5  # splits on which all candidates are tried if there are fewer rows
_ENOUGH = 6_000  # held-out rows after which further folds hardly change the choice
_LEAST = 3  # folds then: fewer have no standard error to speak of
_PLENTY = 50_000  # rows from which one fold (10,000 votes) is enough to choose by


def row_splits(
    cv: Any, X: Rows, codes: Ints, groups: Any, seed: int, weights: Floats | None = None
) -> tuple[Splits, int]:
    """Split labelled rows into training and held-out rows.

    ``cv=None`` applies our own rule: five stratified folds, repeated once for fewer
    than 1,000 rows, since scores on a hundred rows are too noisy to choose by. All candidates are
    tried on the first five splits, from 1,000 rows on the first two, and the best of them on the
    others, until 6,000 rows were held out. From 50,000 rows there is a single split that holds out
    a fifth.

    Parameters
    ----------
    cv : None, int, splitter or iterable of splits, as in scikit-learn
    X : (n, D) rows
    codes : (n,) classes 0, 1, ...
    groups : (n,) rows of one group are held out together, or None
    seed : int
    weights : (n,) weight of each row as an anchor, or None

    Returns
    -------
    splits : list of (training rows, held-out rows)
    n_first_splits : on how many of the first splits all candidates are to be tried
    """
    n = len(codes)
    if groups is not None and len(groups) != n:
        raise ValueError(f"groups must have one entry per row of X, {n}, got {len(groups)}.")
    n_first_splits = None
    if cv is None:
        # scikit-learn raises if there are more folds than members of the largest class.
        folds = int(min(_FOLDS, np.bincount(codes).max()))
        if groups is not None:
            cv = StratifiedGroupKFold(
                min(_FOLDS, _count(groups, "groups")), shuffle=True, random_state=seed
            )
        elif n >= _MANY and np.bincount(codes).min() >= _FOLDS and n < _PLENTY:
            cv = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
            n_first_splits = _FIRST_OF_MANY
        elif n >= _MANY and np.bincount(codes).min() > 1:
            cv = StratifiedShuffleSplit(1, test_size=1.0 / _FOLDS, random_state=seed)
        else:
            # As many repeats as give _VOTES held-out rows; -(-a // b) rounds up.
            repeats = int(np.clip(-(-_VOTES // n), 1, _REPEATS))
            cv = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
            n_first_splits = _FIRST
    splits = checked_splits(cv, n, "rows", X, codes, groups, classifier=True)
    if n_first_splits == _FIRST_OF_MANY:
        splits = splits[: max(_LEAST, -(-_ENOUGH * _FOLDS // n))]
    for number, (train, held) in enumerate(splits):
        sizes = np.bincount(codes[train])
        # Without two classes, and a class of two, there is no triplet to learn from.
        if np.max(sizes) < 2 or np.count_nonzero(sizes) < 2:
            raise ValueError(
                f"cv: split {number} has {len(train)} training and {len(held)} held-out rows; "
                "expected two classes for training, one of them with two members."
            )
        if weights is not None and not np.any(weights[train] * (sizes[codes[train]] > 1)):
            raise ValueError(
                f"class_weight: split {number} of cv has no training row of positive weight that "
                "has another row of its class, expected some in every split."
            )
    return splits, min(n_first_splits or len(splits), len(splits))


def comparison_splits(
    cv: Any, indices: Ints, by: str, groups: Any, seed: int, weights: Floats | None = None
) -> Splits:
    """Split comparisons into training and held-out comparisons.

    Parameters
    ----------
    cv : None for five folds, int, splitter or iterable of splits, as in scikit-learn
    indices : (m, 3) or (m, 4) comparisons
    by : {"comparison", "anchor", "group", "item"}
        "comparison": each one stands alone. "anchor" (the first item) and "group": those that
        share one are held out together. "item": a fold of items is held out with every comparison
        that mentions one of them, so that these items are new to the metric.
    groups : (m,) for ``by="group"``, or None
    seed : int
    weights : (m,) weights of the comparisons, or None

    Returns
    -------
    list of (training comparisons, held-out comparisons)
    """
    m = len(indices)
    if groups is not None and len(groups) != m:
        raise ValueError(f"groups must have one entry per comparison, {m}, got {len(groups)}.")
    if by == "group" and groups is None:
        raise ValueError("groups must be given where folds are made by 'group', got None.")
    folds = _comparison_folds(cv, indices, by, groups, seed)
    splits = checked_splits(folds, m, "comparisons", indices, groups=groups)
    for number, rows in enumerate(splits):
        if weights is not None and not all(weights[part].any() for part in rows):
            raise ValueError(
                f"sample_weight: split {number} of cv has only weights of zero, or too small "
                "beside the largest, in training or held out; expected positive ones in both."
            )
    return splits


def _comparison_folds(cv: Any, indices: Ints, by: str, groups: Any, seed: int) -> Any:
    """The folds of comparisons, or what the user gave instead of a number of folds."""
    if cv is not None and not isinstance(cv, (int, np.integer)):
        return cv
    folds = _FOLDS if cv is None else check_integer("cv", cv, 2)
    if by == "item":
        return _by_item(folds, indices, seed)
    if by == "comparison":
        return KFold(folds, shuffle=True, random_state=seed).split(indices)
    together = groups if by == "group" else indices[:, 0]
    folds = min(folds, _count(together, "groups" if by == "group" else "anchors of triplets"))
    return GroupKFold(folds, shuffle=True, random_state=seed).split(indices, None, together)


def _by_item(folds: int, indices: Ints, seed: int) -> Iterator[tuple[Ints, Ints]]:
    items = np.unique(indices)
    for _, held in KFold(folds, shuffle=True, random_state=seed).split(items):
        # A comparison with one held-out item is held out: in training it would give that item away.
        new = np.isin(indices, items[held]).any(axis=1)
        yield np.flatnonzero(~new), np.flatnonzero(new)


def checked_splits(
    cv: Any, n: int, of: str, X: Any, y: Any = None, groups: Any = None, *, classifier: bool = False
) -> Splits:
    """The splits of a number of folds, a splitter or an iterable, as row numbers.

    Parameters
    ----------
    cv : None, int, splitter or iterable of splits, as in scikit-learn
    n, of : how many rows are split, and their name for errors
    X, y, groups : for the splitter
    classifier : whether y has classes, which folds are to stratify
    """
    if isinstance(cv, (int, np.integer)):
        cv = check_integer("cv", cv, 2)
    try:
        given = list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
    except (TypeError, ValueError) as error:
        raise ValueError(f"cv cannot split {n} {of}. {error}") from error
    if not given:
        raise ValueError("cv has no split, expected at least one.")
    splits = [_row_numbers(split, number, n) for number, split in enumerate(given)]
    for number, (train, held) in enumerate(splits):
        if len(train) == 0 or len(held) == 0:
            raise ValueError(
                f"cv: split {number} has {len(train)} training and {len(held)} held-out {of}; "
                "expected some of both. Use fewer folds, or others."
            )
    return splits


def _row_numbers(split: Any, number: int, n: int) -> tuple[Ints, Ints]:
    """The training and the held-out rows of a split, from row numbers or masks."""
    try:
        # An empty list is an array of floats for NumPy.
        train, held = (np.arange(n)[np.asarray(part) if len(part) else []] for part in split)
        if train.ndim == held.ndim == 1:
            return train, held
    except (IndexError, TypeError, ValueError):
        pass
    raise ValueError(
        f"cv: split {number} must be two arrays of row numbers below {n}, for training and held "
        f"out, got {shorten(repr(split), 200)}."
    )


def _count(groups: Any, name: str) -> int:
    count = len(np.unique(groups))
    if count < 2:
        raise ValueError(f"{name}: found {count}, expected at least two to hold one out.")
    return count
