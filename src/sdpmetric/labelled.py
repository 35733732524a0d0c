"""Rows with labels: their neighbours, and the comparisons that these make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._typing import Floats, Ints, Items
from .all_triplets import AllTriplets
from .mining import listed, mine
from .products import forward
from .result import Result
from .settings import Ready, Settings

__all__ = ["Kind", "Labelled"]


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

    def again(self, settings: Settings, kind: Kind, last: Result) -> tuple[Result, int]:
        """A further round: neighbours under the last metric, and the fit to them."""
        ready, count = self.prepare(settings, kind, *self.search(kind, last.components))
        return settings.solve(ready, last.factor), count
