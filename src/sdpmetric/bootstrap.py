"""How sure an accuracy on people's answers is: a bootstrap over participants.

What is resampled is a *unit*: a participant with all answers, or an answer with all its
triplets. Triplets of one unit are not independent of each other; units are taken to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, t

from .judging import right_answers
from .products import blocks
from .responses import Responses
from .settings import seed_of
from .validation import check_integer, check_real

__all__ = ["AccuracyInterval", "accuracy_interval"]

_BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class AccuracyInterval:
    """What `accuracy_interval` returns.

    Attributes
    ----------
    accuracy : the weighted share of triplets answered rightly
    low, high : the interval
    confidence : how often such intervals hold the accuracy among all participants
    n_units : how many participants (or answers) it rests on
    """

    accuracy: float
    low: float
    high: float
    confidence: float
    n_units: int


def accuracy_interval(
    X: Any,
    responses: Responses,
    metric: Any = None,
    *,
    by: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> AccuracyInterval:
    """Triplet accuracy with an interval from a bootstrap over participants.

    Units are drawn with replacement, as many as there are, and the accuracy is computed anew. The
    interval lies between quantiles of these accuracies, which are moved outwards as Student's t
    lies outside the normal distribution (Hesterberg 2015): for ten participants plain quantiles
    are too narrow. Judge answers that the metric was not fitted on.

    Parameters
    ----------
    X : (n, D) items
    responses : Responses
    metric : a fitted metric, transformer or Pipeline; None: Euclidean distance
    by : {"participant", "answer", "question"}; None: participants where known, else answers
    confidence : float in (0, 1), default=0.95
    n_resamples : int, default=10_000
    random_state : int, RandomState or None; None is always the same seed

    Returns
    -------
    AccuracyInterval

    Examples
    --------
    >>> from sdpmetric import Responses, accuracy_interval
    >>> r = Responses([[0, 1, 2], [1, 0, 2], [2, 0, 1]], participants=["Ada", "Bo", "Cy"])
    >>> accuracy_interval([[0.0], [1.0], [3.0]], r).accuracy
    0.6666666666666666
    """
    level = check_real("confidence", confidence, 0.0, 1.0)
    if level == 1.0:
        raise ValueError("confidence must be less than 1, got 1.")
    B = check_integer("n_resamples", n_resamples, 1)
    right = right_answers(X, responses, metric)
    unit, w = responses.units(by), responses.weights
    pairs = np.stack([np.bincount(unit, w * right), np.bincount(unit, w)], axis=1)
    pairs = pairs[pairs[:, 1] > 0.0]
    P = len(pairs)
    if P < 2:
        raise ValueError(f"responses: found {P} unit to resample, expected at least two.")
    kinds, counts = np.unique(pairs, axis=0, return_counts=True)  # equal units are drawn as one
    rng = np.random.default_rng(seed_of(random_state))
    drawn = np.empty(B)
    for block in blocks(B, len(kinds), _BLOCK_BYTES):
        totals = rng.multinomial(P, counts / P, size=block.stop - block.start) @ kinds
        drawn[block] = totals[:, 0] / totals[:, 1]
    tail = norm.cdf(math.sqrt(P / (P - 1)) * t.ppf(0.5 * (1.0 - level), P - 1))
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    accuracy = float(pairs[:, 0].sum() / pairs[:, 1].sum())
    return AccuracyInterval(accuracy, float(low), float(high), level, P)
