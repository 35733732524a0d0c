"""One split of labelled rows: fits on one part, scores on the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sklearn.base import clone

from ..._support.typing import Floats, Ints
from ...evaluation.answered import triplet_accuracy
from ...evaluation.vote import accuracy
from ...linalg.items import Items
from ...problem.comparisons import Comparisons
from ...problem.result import Result
from ...triplets.knn import cross_triplets
from ..estimators.coordinates import Coordinates
from ..fit.labelled import LabelledRows, TripletRule
from ..fit.prepared import Prepared
from ..fit.run import Fit
from .splits import HeldOutSplit, SplitInCoordinates
from .table import Candidate

__all__ = ["LabelCandidate", "LabelSplit"]


@dataclass(frozen=True)
class LabelCandidate(Candidate):
    """The settings that `SDPMetricCV` chooses, except C; searched in the order of the fields."""

    coordinates: str
    n_neighbors: int
    n_impostors: int
    triplets: str
    prior_weight: float
    h: float
    n_rounds: int

    # A prior goes with a smaller C. The others are expensive.
    WINDOW = MappingProxyType(
        {"n_neighbors": (0, 0), "n_impostors": (0, 0), "prior_weight": (1, 0), "n_rounds": (0, 0)}
    )

    @property
    def rule(self) -> TripletRule:
        """The settings that decide how labels become comparisons."""
        return TripletRule(self.triplets, self.n_neighbors, self.n_impostors)

    @property
    def rounds(self) -> int:
        return self.n_rounds

    @property
    def simplicity(self) -> tuple[Any, ...]:
        # Fewer comparisons are simpler; "all" is the most there can be.
        size = self.n_neighbors * self.n_impostors
        return *super().simplicity, self.n_rounds, self.triplets == "all", size


@dataclass(eq=False)
class LabelSplit(HeldOutSplit):
    """A split of labelled rows.

    ``scoring`` is "knn" for a vote of the training rows, a classifier to fit to them, or
    "triplets" for the share of triplets among the held-out rows that are answered correctly.
    ``widest`` is the rule with the most neighbours in the grids. Neighbours are searched once, for
    this rule. ``train.codes`` numbers the classes of the training part without gaps;
    ``train_codes`` has the numbers of all data, as ``held_codes`` has.
    """

    train: LabelledRows
    train_codes: Ints
    held: Items
    held_codes: Ints
    widest: TripletRule
    scoring: Any

    def make(self, coordinates: str) -> SplitInCoordinates:
        return _LabelSplitInCoordinates(self, Coordinates(coordinates))


class _LabelSplitInCoordinates(SplitInCoordinates):
    def __init__(self, split: LabelSplit, coordinates: Coordinates) -> None:
        super().__init__()
        self.split = split
        train = split.train
        coordinates.learn(train.X, train.codes)
        self.rows = replace(train, X=coordinates.forward(train.X))
        self.held = coordinates.forward(split.held)
        if split.scoring == "triplets":
            held = LabelledRows(self.held, split.held_codes)
            # One rule for all candidates: scores of different triplets could not be compared.
            triplets = cross_triplets(*held.search(TripletRule("knn", 3, 3)))
            self.questions = Comparisons.from_indices(triplets)

    @cached_property
    def neighbors(self) -> tuple[Ints, Ints]:
        """Near and far rows by Euclidean distance, for all rules; the prior alone needs none."""
        return self.rows.search(self.split.widest)

    def comparisons_key(self, candidate: LabelCandidate) -> TripletRule:
        return candidate.rule

    def prepare(self, candidate: LabelCandidate, fit: Fit, last: Result | None) -> Prepared:
        found = self.neighbors
        if last is not None:
            found = self.rows.search(candidate.rule, last.components)
        return self.rows.prepare(fit, candidate.rule, *found)[0]

    def score(self, components: Floats | None) -> float:
        split, held = self.split, self.held.mapped(components)
        if split.scoring == "triplets":
            return triplet_accuracy(held, self.questions)
        rows = self.rows.X.mapped(components)
        if split.scoring == "knn":
            return accuracy(rows, split.train_codes, held, split.held_codes)
        # A clone: the user's classifier stays unfitted, and no split learns from another.
        classifier = clone(split.scoring).fit(rows.raw, split.train_codes)
        return float(classifier.score(held.raw, split.held_codes))
