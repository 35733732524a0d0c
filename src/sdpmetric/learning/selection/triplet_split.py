"""One split of comparisons: fits on one part, scores on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._support.typing import Floats, Ints
from ...evaluation.answered import triplet_accuracy
from ...linalg.items import Items
from ...problem.comparisons import Comparisons
from ...problem.result import Result
from ..estimators.coordinates import Coordinates
from ..fit.prepared import Prepared
from ..fit.run import Fit
from .splits import HeldOutSplit, SplitInCoordinates
from .table import Candidate

__all__ = ["TripletCandidate", "TripletSplit"]


@dataclass(frozen=True)
class TripletCandidate(Candidate):
    """The settings that `TripletSDPMetricCV` chooses, except C; searched in this order."""

    coordinates: str
    prior_weight: float
    h: float


@dataclass(eq=False)
class TripletSplit(HeldOutSplit):
    """A split of comparisons; the score is the share of held-out ones answered correctly."""

    X: Items
    train: Ints
    train_weights: Floats | None
    held: Ints
    held_weights: Floats | None

    def make(self, coordinates: str) -> SplitInCoordinates:
        return _TripletSplitInCoordinates(self, Coordinates(coordinates))


class _TripletSplitInCoordinates(SplitInCoordinates):
    def __init__(self, split: TripletSplit, coordinates: Coordinates) -> None:
        super().__init__()
        self.split = split
        # From items of training comparisons alone: others may be held out as new items, and must
        # not decide the units.
        items, codes = np.unique(split.train, return_inverse=True)
        coordinates.learn(split.X.take(items), codes.reshape(split.train.shape))
        self.X = coordinates.forward(split.X)
        self.questions = Comparisons.from_indices(split.held, split.held_weights)

    def comparisons_key(self, candidate: TripletCandidate) -> None:
        return None  # the comparisons are given: no setting changes them

    def prepare(self, candidate: TripletCandidate, fit: Fit, last: Result | None) -> Prepared:
        return fit.prepare(self.X, self.split.train, self.split.train_weights)

    def score(self, components: Floats | None) -> float:
        return triplet_accuracy(self.X.mapped(components), self.questions)
