"""The rule by which a classifier labels rows, chosen on rows that its fits have not seen.

Training rows cannot tell: the metric was learned from them, and by any rule nearly all are right.
"""

from __future__ import annotations

import warnings
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from ..._support.typing import Floats, Ints
from ...linalg.items import Items
from .energies import RULES

__all__ = ["best_rule", "quick"]

_FOLDS = 3
_TOL = 1e-2  # the gap of these fits, as in the searches


class Rules(Protocol):
    """A classifier that has all rules after one fit."""

    def fit(self, X: Any, y: Any) -> Self: ...
    def energies(self, X: Any, rule: str | None = None) -> Floats:
        """What each class costs by a rule, the best class least."""


def quick(metric: Any) -> Any:
    """The settings of a fitted metric, or those that a search has chosen, for a fast fit."""
    chosen = clone(getattr(metric, "best_estimator_", metric))
    chosen.set_params(tol=max(_TOL, chosen.tol), checkpoint=None, progress=False)
    return chosen


def best_rule(classifier: Rules, X: Items, codes: Ints, seed: int) -> str:
    """The first of the `RULES`, unless another is right for clearly more of the held-out rows."""
    right: dict[str, list[Floats]] = {rule: [] for rule in RULES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # small classes: the whole fit has warned
        folds = min(_FOLDS, int(np.bincount(codes).max()))
        splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, codes)
        for train, held in splits:
            classes, numbered = np.unique(codes[train], return_inverse=True)
            if len(classes) < 2 or np.bincount(numbered).max() < 2:
                continue  # no triplet can be made of these rows
            fitted = classifier.fit(X.take(train).raw, numbered)
            for rule in RULES:
                found = classes[fitted.energies(X.take(held).raw, rule).argmin(axis=1)]
                right[rule].append((found == codes[held]).astype(np.float64))
    if not right[RULES[0]]:
        return RULES[0]
    answers = {rule: np.concatenate(found) for rule, found in right.items()}
    best = max(RULES, key=lambda rule: answers[rule].sum())  # the first of equals
    gain = answers[best] - answers[RULES[0]]
    # Paired by row. The best of several was also the luckiest, so a standard error is asked for.
    return best if gain.sum() > np.sqrt(np.count_nonzero(gain)) else RULES[0]
