"""The rule by which a classifier labels rows, chosen on rows that its fits have not seen.

Training rows cannot tell: the metric was learned from them, and by any rule nearly all are right.
"""

from __future__ import annotations

import warnings
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..._support.typing import Dense, Floats
from ...linalg.items import Items
from ..fit.quiet import quiet
from .energies import RULES

__all__ = ["best_rule", "quick"]

_FOLDS = 3
_TOL = 1e-2  # the gap of these fits, as in the searches


class Rules(Protocol):
    """A classifier that has all rules after one fit."""

    classes_: Dense

    def fit(self, X: Any, y: Any) -> Self: ...
    def energies(self, X: Any, rule: str | None = None) -> Floats:
        """What each class costs by a rule, the best class least."""


def quick(metric: Any) -> Any:
    """The settings of a fitted metric, or those that a search has chosen, for a fast fit."""
    while hasattr(metric, "best_estimator_") or hasattr(metric, "metric_"):
        metric = getattr(metric, "best_estimator_", None) or metric.metric_
    chosen = clone(metric)
    chosen.set_params(tol=max(_TOL, chosen.tol), checkpoint=None, progress=False)
    # scikit-learn's callbacks follow the fit that the user asked for.
    vars(chosen).pop("_skl_callbacks", None)
    return chosen


def best_rule(classifier: Rules, X: Items, labels: Dense, seed: int) -> str:
    """The first of the `RULES`, unless another is right for clearly more of the held-out rows.

    Folds get the user's labels, since the metric's ``class_weight`` may name them.
    """
    right: dict[str, list[Floats]] = {rule: [] for rule in RULES}
    folds = min(_FOLDS, int(np.unique(labels, return_counts=True)[1].max()))
    with warnings.catch_warnings(), quiet():
        # StratifiedKFold warns of classes with fewer members than folds.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        for train, held in splitter.split(labels, labels):
            try:
                fitted = classifier.fit(X.take(train).raw, labels[train])
            except ValueError:
                continue  # these rows alone allow no fit; all rows did
            for rule in RULES:
                least = fitted.energies(X.take(held).raw, rule).argmin(axis=1)
                found = fitted.classes_[least] == labels[held]
                right[rule].append(found.astype(np.float64))
    if not right[RULES[0]]:
        return RULES[0]
    answers = {rule: np.concatenate(found) for rule, found in right.items()}
    best = max(RULES, key=lambda rule: answers[rule].sum())  # the first of equals
    gain = answers[best] - answers[RULES[0]]
    # Paired by row. The best of several was also the luckiest, so a standard error is asked for.
    return best if gain.sum() > np.sqrt(np.count_nonzero(gain)) else RULES[0]
