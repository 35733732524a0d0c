"""How sure an accuracy on people's answers is: a bootstrap over participants.

What is resampled is a *unit*: a participant with all answers, or an answer with all its
triplets. Triplets of one unit are not independent of each other; units are taken to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..resampling import check_resampling, intervals
from ..settings import seed_of
from .answers import Responses
from .judging import right_answers

__all__ = ["AccuracyInterval", "accuracy_interval"]


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

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} [{self.low:.3f}, {self.high:.3f}]"


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

    Notes
    -----
    In 2,000 simulated studies each, of people who differ in skill (Beta(7, 3)) and in the number of
    their answers (5 to 40), intervals of confidence 0.95 held the truth in 0.88 with 4 people, 0.93
    with 8 and 0.94 with 25. Where every answer is right, or none, the interval is a point.

    Examples
    --------
    >>> from sdpmetric import Responses, accuracy_interval
    >>> r = Responses([[0, 1, 2], [1, 0, 2], [2, 0, 1]], participants=["Ada", "Bo", "Cy"])
    >>> accuracy_interval([[0.0], [1.0], [3.0]], r).accuracy
    0.6666666666666666
    """
    level, B = check_resampling(confidence, n_resamples)
    right = right_answers(X, responses, metric)
    unit, w = responses.units(by), responses.weights
    sums, totals = (np.bincount(unit, x).astype(np.float64) for x in (w * right, w))
    sums, totals = sums[totals > 0.0, None], totals[totals > 0.0]
    P = len(totals)
    if P < 2:
        raise ValueError(f"responses: found {P} unit to resample, expected at least two.")
    [[low, high]] = intervals(sums, totals, level, B, seed_of(random_state))
    accuracy = float(sums.sum() / totals.sum())
    return AccuracyInterval(accuracy, float(low), float(high), level, P)
