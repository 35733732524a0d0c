"""`CrossFitted`: how well the metric answers random questions that it has not learned from.

Every question belongs to one of five folds, whoever answers it. A metric for each fold is fitted to
all answers but those to the random questions of its fold, and is judged by these. It starts from
its own last fit, so that it never learns from its fold, not even by its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Floats, Ints
from ..responses.ceiling import NoiseCeiling, noise_ceiling
from ..responses.intervals import AccuracyInterval, interval_of
from ..responses.judging import predicted
from ..responses.responses import Responses
from .collected import Collected
from .fitting import fit, new_metric

FOLDS = 5
LEAST = 10  # random answers below which no accuracy is shown: its interval would say nothing
_RESAMPLES = 2_000  # enough for two digits, and fast enough to be computed every few seconds


@dataclass(frozen=True)
class Accuracy:
    """Accuracies on answers to random questions, as shares of triplets.

    Attributes
    ----------
    learned, euclidean : of the metric and of Euclidean distance
    ceiling : how well people predict each other; None if no question has two answers
    by : "participant" or "answer": what the intervals resample
    n_answers : number of answers to random questions
    """

    learned: AccuracyInterval
    euclidean: AccuracyInterval
    ceiling: NoiseCeiling | None
    by: str
    n_answers: int


class CrossFitted:
    """Metrics that were each fitted without a fold of the random questions.

    Parameters
    ----------
    X : (N, D) items
    """

    def __init__(self, X: Floats) -> None:
        self.X = X
        self._metrics = [new_metric() for _ in range(FOLDS)]

    def accuracy(self, collected: Collected) -> Accuracy | None:
        """Judge metrics by the answers so far; None while these are too few."""
        responses, random = collected.responses, collected.random
        if responses is None:
            return None
        n_answers = len(np.unique(responses.answers[random]))
        if n_answers < LEAST:
            return None
        question = responses.units("question")
        fold = folds_of(responses.triplets)
        learned = np.zeros(len(responses), dtype=bool)
        for number, metric in enumerate(self._metrics):
            held = random & (fold == number)
            # A random question may have been asked as an active one too.
            train = ~np.isin(question, question[held])
            if not held.any():
                continue
            fitted = fit(metric, self.X, responses[train]) if train.any() else None
            learned[held] = predicted(self.X, responses[held], fitted)
        judged = responses[random]
        by = "participant" if len(np.unique(judged.units("participant"))) > 1 else "answer"
        how: dict[str, Any] = {"by": by, "n_resamples": _RESAMPLES}
        return Accuracy(
            interval_of(learned[random], judged, **how),
            interval_of(predicted(self.X, judged, None), judged, **how),
            _ceiling(judged, by),
            by,
            n_answers,
        )


def folds_of(triplets: Ints) -> npt.NDArray[np.int64]:
    """The fold of each triplet: the same for all triplets about the same three items."""
    i, j, k = np.sort(triplets, axis=1).T
    # A product with large odd numbers spreads neighbouring rows over the folds.
    mixed = (i * 73_856_093) ^ (j * 19_349_663) ^ (k * 83_492_791)
    return np.asarray((mixed >> 7) % FOLDS, dtype=np.int64)


def _ceiling(responses: Responses, by: str) -> NoiseCeiling | None:
    try:
        return noise_ceiling(responses, by=by, n_splits=20)
    except ValueError:
        return None  # no question was answered twice
