"""Labelled rows: the search for their neighbours, and the comparisons made from these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from ..._support.progress import Report
from ..._support.typing import Floats, Ints
from ...linalg.items import Items
from ...problem.checks import as_weights
from ...triplets.all_triplets import AllTriplets
from ...triplets.crossed import cross_comparisons
from ...triplets.knn import check_triplet_memory, mine
from .prepared import Prepared, Solvable
from .run import Fit

__all__ = ["LabelledRows", "Searched", "TripletRule", "anchor_weights", "class_weights"]


@dataclass(frozen=True)
class TripletRule:
    """How labels become comparisons: the parameters of the same names of `SDPMetric`."""

    triplets: str
    n_neighbors: int
    n_impostors: int


class Searched(Protocol):
    """Labelled rows, in memory or in chunks: the search for neighbours, and a fit to them."""

    def search(
        self, rule: TripletRule, components: Floats | None = None, report: Report | None = None
    ) -> tuple[Any, ...]:
        """Near and far rows of each row, by Euclidean distance or under a metric."""

    def prepare(self, fit: Fit, rule: TripletRule, *found: Any) -> tuple[Solvable, int]:
        """The comparisons of what `search` found, ready to be solved, and their number."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Checked rows and their classes; ``weights`` has the weight of each row as an anchor.

    With ``anchors`` only the first so many rows are anchors of k-nearest triplets; their near and
    far rows are found among all rows.
    """

    X: Items
    codes: Ints
    weights: Floats | None = None
    neighbors: str = "exact"
    anchors: int | None = None

    def check_memory(self, rule: TripletRule) -> None:
        """Raise MemoryError if the triplets of a rule cannot fit into memory."""
        # Two numbers of 4 bytes and a margin for a triplet; codes of 8 bytes, twice at the same
        # time, where the k-nearest triplets are only the first of all.
        check_triplet_memory(self.codes, rule.n_neighbors, rule.n_impostors, 16.0)
        # The triplets that mention each pair at least once are listed (`crossed`).
        check_triplet_memory(self.codes, rule.n_neighbors, 1, 48.0)
        check_triplet_memory(self.codes, 1, rule.n_impostors, 48.0)

    def search(
        self, rule: TripletRule, components: Floats | None = None, report: Report | None = None
    ) -> tuple[Ints, Ints]:
        """Near and far rows of each row, by Euclidean distance or under a metric."""
        # Exact: in float32 rounding could decide which of two near rows is the nearer one.
        where = self.X.mapped(components, exact=True)
        near, far = rule.n_neighbors, rule.n_impostors
        return mine(where, self.codes, near, far, self.neighbors, report, self.anchors)

    def prepare(self, fit: Fit, rule: TripletRule, *found: Any) -> tuple[Prepared, int]:
        """The comparisons of these neighbours, ready to be solved, and their number."""
        near, far = found
        # A search over settings finds the neighbours of its widest rule once, for all rules.
        near, far = near[:, : rule.n_neighbors], far[:, : rule.n_impostors]
        if rule.triplets == "all":
            weights = np.ones(len(self.codes)) if self.weights is None else self.weights
            everything = AllTriplets(self.codes, near, weights)
            return fit.prepare_all(self.X, everything, everything.codes(far)), everything.count()
        anchors = None if self.weights is None else self.weights[: len(near)]
        comparisons = cross_comparisons(near, far, anchors)
        return fit.prepare_comparisons(self.X, comparisons), len(comparisons)


def anchor_weights(class_weight: Any, classes: Any, codes: Ints) -> Floats | None:
    """The weight of each row as an anchor, at most 1; None where all are equal."""
    weights = class_weights(class_weight, classes, np.bincount(codes))
    return None if weights is None else weights[codes]


def class_weights(class_weight: Any, classes: Any, sizes: Ints) -> Floats | None:
    """The weight of an anchor of each class, at most 1; None where all are equal."""
    if class_weight is None:
        return None
    named = isinstance(class_weight, str) and class_weight == "balanced"
    if not named and not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}.")
    try:
        # scikit-learn counts the labels of all rows for "balanced": the sizes are known here.
        of_class = (
            sizes.sum() / (len(sizes) * sizes)
            if named
            else compute_class_weight(class_weight, classes=classes, y=classes)
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"class_weight must give a number for each class. {error}") from None
    # A row alone in its class has no near row.
    return as_weights(np.where(sizes > 1, of_class, 0.0), len(sizes), "class_weight")
