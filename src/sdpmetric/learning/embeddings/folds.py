"""Hold queries out, for the report and for folds, so that no answer leaks into training."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from ...evaluation.folds import checked_splits
from .corpus import Vectors
from .pairs import Pairs

__all__ = ["kept_apart", "query_folds"]

_FOLDS = 5  # as scikit-learn's cv=None


def kept_apart(
    pairs: Pairs, vectors: Vectors, test_size: float, seed: int
) -> tuple[Pairs, Pairs | None]:
    """Split queries into those to learn from and those for the report.

    Leak groups (`Pairs.leak_groups`) stay together. They are drawn at random until the report has
    its share, and at least two queries, which a bootstrap interval needs.
    """
    if test_size == 0.0:
        return pairs, None
    leak_groups = pairs.leak_groups(vectors)
    order = np.random.default_rng(seed).permutation(int(leak_groups.max()) + 1)
    sizes = np.bincount(leak_groups)[order]
    wanted = max(2, round(test_size * len(pairs)))
    # Groups are taken as long as those before them are too few, so that the share is reached.
    before = np.cumsum(sizes) - sizes
    test = np.isin(leak_groups, order[before < wanted])
    if test.all():
        raise ValueError(
            f"pairs has {len(pairs)} queries, expected more: with test_size={test_size:g} none is "
            "left to learn from."
        )
    return pairs.subset(np.flatnonzero(~test)), pairs.subset(np.flatnonzero(test))


def query_folds(cv: Any, pairs: Pairs, vectors: Vectors, seed: int) -> list[tuple[Pairs, Pairs]]:
    """The training and the held-out queries of each split; leak groups stay together.

    Parameters
    ----------
    cv : None for five folds, int, splitter or iterable of splits, as in scikit-learn
    pairs, vectors : all queries to learn from
    seed : int
    """
    leak_groups = pairs.leak_groups(vectors)
    n_groups = int(leak_groups.max()) + 1
    if cv is None or isinstance(cv, (int, np.integer)):
        folds = _FOLDS if cv is None else int(cv)
        if n_groups < folds or folds < 2:
            raise ValueError(
                f"cv is {folds} and {n_groups} different queries are there to learn from, expected "
                "at least one per fold, and two folds."
            )
        cv = GroupKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A user's own splitter need not use groups: that is the user's choice.
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        splits = checked_splits(cv, len(pairs), "queries", pairs.queries, groups=leak_groups)
    # `Pairs.subset` needs ascending places, and a splitter may return any order.
    return [(pairs.subset(np.sort(train)), pairs.subset(np.sort(held))) for train, held in splits]
