"""Confidence intervals of an accuracy on people's answers: a bootstrap over participants.

The bootstrap resamples *units*: a unit is a participant with all answers, or an answer with all its
triplets. Triplets of one unit depend on each other; units are assumed to be independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.checks import seed_of
from ..evaluation.bootstrap import check_resampling, intervals
from .judging import predicted
from .responses import Responses, in_range


@dataclass(frozen=True)
class AccuracyInterval:
    """A triplet accuracy with its confidence interval, from `accuracy_interval`.

    Attributes
    ----------
    accuracy : the weighted share of triplets answered correctly
    low, high : the interval
    confidence : how often such intervals contain the accuracy among all participants
    n_units : number of participants (or answers) that were resampled
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

    Each resample draws as many units as there are, with replacement, and computes their accuracy.
    The interval lies between two quantiles of these accuracies. The quantiles are moved outwards as
    Student's t lies outside the normal distribution (Hesterberg 2015), since plain quantiles are
    too narrow for ten participants. Use answers that the metric was not fitted on.

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
    their answers (5 to 40), intervals of confidence 0.95 contained the true accuracy in 0.88 of the
    studies with 4 people, 0.93 with 8 and 0.94 with 25. Where all answers are predicted, or none,
    the interval is a point.

    Examples
    --------
    >>> from sdpmetric import Responses, accuracy_interval
    >>> r = Responses([[0, 1, 2], [1, 0, 2], [2, 0, 1]], participants=["Ada", "Bo", "Cy"])
    >>> accuracy_interval([[0.0], [1.0], [3.0]], r).accuracy
    0.6666666666666666
    """
    check_resampling(confidence, n_resamples)
    right = predicted(X, responses, metric)
    return interval_of(
        right,
        responses,
        by=by,
        confidence=confidence,
        n_resamples=n_resamples,
        random_state=random_state,
    )


def interval_of(
    right: npt.NDArray[np.bool_],
    responses: Responses,
    *,
    by: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> AccuracyInterval:
    """`accuracy_interval` where it is known which triplets were answered correctly.

    The page knows it from several metrics, each of which was fitted on other answers.
    """
    level, B = check_resampling(confidence, n_resamples)
    unit, w = responses.units(by), in_range(responses.weights)[0]
    sums, totals = (np.bincount(unit, x).astype(np.float64) for x in (w * right, w))
    sums, totals = sums[totals > 0.0, None], totals[totals > 0.0]
    P = len(totals)
    if P < 2:
        raise ValueError(f"responses: found {P} unit to resample, expected at least two.")
    [[low, high]] = intervals(sums, totals, level, B, seed_of(random_state))
    accuracy = float(sums.sum() / totals.sum())
    return AccuracyInterval(accuracy, float(low), float(high), level, P)
