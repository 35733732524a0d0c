"""Which rows or comparisons are held out, so that nothing leaks."""

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

from .._typing import Ints, Items

__all__ = ["FOLDS_BY", "comparison_splits", "row_splits"]

FOLDS_BY = ("anchor", "comparison", "item", "group")
Splits: TypeAlias = list[tuple[Ints, Ints]]

_FOLDS = 5
_VOTES = 2_000  # held-out rows that a score should rest on, if repetition can provide them
_REPEATS = 3
_MANY = 5_000  # rows from which on a first choice on a single fifth is enough
_PLENTY = 50_000  # and from which on the last


def row_splits(cv: Any, X: Items, codes: Ints, groups: Any, seed: int) -> tuple[Splits, int]:
    """Training and held-out rows of each split, and on how many of them all settings are tried.

    None is our own rule: five stratified folds, up to three times over for fewer than 2,000 rows.
    From 5,000 rows on all are tried on the first fold and the best on the others; from 50,000 on
    there is a single fifth. Scores on a hundred rows are too noisy to choose by.
    """
    n = len(codes)
    if groups is not None and len(groups) != n:
        raise ValueError(f"groups must have one entry per row of X, {n}, got {len(groups)}.")
    scouts = None
    if cv is None:
        folds = int(min(_FOLDS, np.bincount(codes).max()))
        if groups is not None:
            cv = StratifiedGroupKFold(
                min(_FOLDS, _count(groups, "groups")), shuffle=True, random_state=seed
            )
        elif n >= _MANY and np.bincount(codes).min() >= _FOLDS and n < _PLENTY:
            cv = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
            scouts = 1
        elif n >= _MANY and np.bincount(codes).min() > 1:
            cv = StratifiedShuffleSplit(1, test_size=1.0 / _FOLDS, random_state=seed)
        else:
            repeats = int(np.clip(-(-_VOTES // n), 1, _REPEATS))
            cv = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    splitter = check_cv(cv, codes, classifier=True)
    splits = list(splitter.split(X, codes, groups))
    for number, (train, held) in enumerate(splits):
        if len(held) == 0 or np.bincount(codes[train]).max() < 2 or len(set(codes[train])) < 2:
            raise ValueError(
                f"cv: split {number} has {len(train)} training and {len(held)} held-out rows; "
                "expected two classes for training, one of them with two members, and a held-out "
                "row."
            )
    return splits, scouts or len(splits)


def comparison_splits(cv: Any, indices: Ints, by: str, groups: Any, seed: int) -> Splits:
    """Training and held-out comparisons of each split.

    By "comparison" each stands alone; by "anchor" (the first item) or "group" those that share one
    are held out together; by "item" a fold of items is held out, and every comparison that
    mentions one of them is, so that those items are new.
    """
    m = len(indices)
    if groups is not None and len(groups) != m:
        raise ValueError(f"groups must have one entry per comparison, {m}, got {len(groups)}.")
    if by == "group" and groups is None:
        raise ValueError("groups must be given where folds are made by 'group', got None.")
    if cv is not None and not isinstance(cv, (int, np.integer)):
        return _nonempty(check_cv(cv).split(indices, None, groups))
    folds = _FOLDS if cv is None else int(cv)
    if by == "item":
        return _nonempty(_by_item(folds, indices, seed))
    if by == "comparison":
        return _nonempty(KFold(folds, shuffle=True, random_state=seed).split(indices))
    together = groups if by == "group" else indices[:, 0]
    folds = min(folds, _count(together, "groups" if by == "group" else "anchors of triplets"))
    return _nonempty(
        GroupKFold(folds, shuffle=True, random_state=seed).split(indices, None, together)
    )


def _by_item(folds: int, indices: Ints, seed: int) -> Iterator[tuple[Ints, Ints]]:
    items = np.unique(indices)
    for _, held in KFold(folds, shuffle=True, random_state=seed).split(items):
        new = np.isin(indices, items[held]).any(axis=1)
        yield np.flatnonzero(~new), np.flatnonzero(new)


def _nonempty(splits: Any) -> Splits:
    kept = list(splits)
    for number, (train, held) in enumerate(kept):
        if len(train) == 0 or len(held) == 0:
            raise ValueError(
                f"cv: split {number} has {len(train)} training and {len(held)} held-out "
                "comparisons; expected some of both. Use fewer folds, or others."
            )
    return kept


def _count(groups: Any, name: str) -> int:
    count = len(np.unique(groups))
    if count < 2:
        raise ValueError(f"{name}: found {count}, expected at least two to hold one out.")
    return count
