"""Rows with labels: their neighbours, and the comparisons that these make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from ._typing import Floats, Ints, Items
from .all_triplets import AllTriplets
from .inputs import as_labels, as_weights
from .mining import listed, mine
from .products import forward
from .result import Result
from .settings import Ready, Settings
from .solvers.monitor import Callback

__all__ = ["Kind", "Labelled", "anchor_weights"]


@dataclass(frozen=True)
class Kind:
    """Which comparisons labels make: the parameters of the same names of `SDPMetric`."""

    triplets: str
    n_neighbors: int
    n_impostors: int


@dataclass(frozen=True, eq=False)
class Labelled:
    """Checked rows and their classes; ``weights`` are those of rows as anchors, None for equal."""

    X: Items
    codes: Ints
    weights: Floats | None = None
    neighbors: str = "exact"

    def search(self, kind: Kind, components: Floats | None = None) -> tuple[Ints, Ints]:
        """Near and far rows of each row, Euclidean or under a metric."""
        where = self.X if components is None else forward(self.X, components.T, exact=True)
        return mine(where, self.codes, kind.n_neighbors, kind.n_impostors, self.neighbors)

    def prepare(self, settings: Settings, kind: Kind, near: Ints, far: Ints) -> tuple[Ready, int]:
        """The comparisons of these neighbours, ready to be solved, and how many they are."""
        near, far = near[:, : kind.n_neighbors], far[:, : kind.n_impostors]
        if kind.triplets == "all":
            weights = np.ones(len(self.codes)) if self.weights is None else self.weights
            everything = AllTriplets(self.codes, near, weights)
            pool = settings.prepare_all(self.X, everything, everything.codes(far))
            return pool, everything.count()
        indices = listed(near, far)
        given = None if self.weights is None else self.weights[indices[:, 0]]
        count = len(indices) if given is None else int(np.count_nonzero(given))
        return settings.prepare(self.X, indices, given), count

    def again(
        self,
        settings: Settings,
        kind: Kind,
        last: Result,
        callback: Callback | None = None,
        *,
        one_of_many: bool = False,
    ) -> tuple[Result, int]:
        """A further round: neighbours under the last metric, and the fit to them."""
        ready, count = self.prepare(settings, kind, *self.search(kind, last.components))
        return settings.solve(ready, last.factor, callback, one_of_many=one_of_many), count


def anchor_weights(class_weight: Any, y: Any) -> Floats | None:
    """The weight of each row as an anchor, at most 1; None where all are equal."""
    if class_weight is None:
        return None
    named = isinstance(class_weight, str) and class_weight == "balanced"
    if not named and not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}.")
    classes, codes = as_labels(y)
    try:
        of_class = compute_class_weight(class_weight, classes=classes, y=y)
    except (TypeError, ValueError) as error:
        raise ValueError(f"class_weight must give a number for each class. {error}") from None
    anchors = np.bincount(codes)[codes] > 1
    return as_weights(np.where(anchors, of_class[codes], 0.0), len(codes), "class_weight")
