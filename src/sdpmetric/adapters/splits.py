"""Which queries are kept for the report, and which are held out in turn, so that nothing leaks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, check_cv

from .._typing import Ints
from .pairs import Pairs
from .vectors import Vectors

__all__ = ["kept_apart", "query_folds"]

_FOLDS = 5


def kept_apart(
    pairs: Pairs, vectors: Vectors, test_size: float, seed: int
) -> tuple[Pairs, Pairs | None]:
    """Queries to learn from, and queries for the report; kin stay together."""
    if test_size == 0.0:
        return pairs, None
    kin = pairs.kin(vectors)
    order = np.random.default_rng(seed).permutation(int(kin.max()) + 1)
    sizes = np.bincount(kin)[order]
    wanted = max(2, round(test_size * len(pairs)))
    before = np.cumsum(sizes) - sizes
    test = np.isin(kin, order[before < wanted])
    if test.all():
        raise ValueError(
            f"pairs has {len(pairs)} queries, expected more: with test_size={test_size:g} none is "
            "left to learn from."
        )
    return pairs.some(np.flatnonzero(~test)), pairs.some(np.flatnonzero(test))


def query_folds(cv: Any, pairs: Pairs, vectors: Vectors, seed: int) -> list[tuple[Pairs, Pairs]]:
    """Training and held-out queries of each split."""
    kin = pairs.kin(vectors)
    groups = int(kin.max()) + 1
    if cv is None or isinstance(cv, (int, np.integer)):
        folds = _FOLDS if cv is None else int(cv)
        if groups < folds or folds < 2:
            raise ValueError(
                f"cv is {folds} and {groups} different queries are there to learn from, expected "
                "at least one per fold, and two folds."
            )
        cv = GroupKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        given = list(check_cv(cv).split(pairs.asked, None, kin))
    splits = []
    for number, (train, held) in enumerate(given):
        if len(train) == 0 or len(held) == 0:
            raise ValueError(
                f"cv: split {number} has {len(train)} training and {len(held)} held-out queries, "
                "expected some of both."
            )
        splits.append((pairs.some(_sorted(train)), pairs.some(_sorted(held))))
    return splits


def _sorted(places: Any) -> Ints:
    return np.sort(np.asarray(places, dtype=np.int64))
