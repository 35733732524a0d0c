"""Symmetric matrices whose largest eigenvalue is hard to find, and easy to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.support.problems import Floats

__all__ = ["Hidden", "hidden"]


@dataclass(frozen=True, eq=False)
class Hidden:
    """A diagonal G, and a scatter that damps the directions of a start by ``seen``.

    Both as the oracle sees an objective and a point of it. A rotation would change nothing: the
    vectors of a proof are Gaussian.
    """

    e: Floats
    seen: Floats
    cache: dict[Any, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        return len(self.e)

    @property
    def n_edges(self) -> int:
        return len(self.e)

    def scatter(self, V: Floats) -> Floats:
        return self.seen[:, None] * V

    def scatter_roots(self) -> list[Floats]:
        return [np.eye(len(self.e))]

    def times(self, V: Floats) -> Floats:
        return self.e[:, None] * V


def hidden(seed: int) -> Hidden:
    """Return a matrix by its seed: clusters, tiny gaps, graded or huge negative eigenvalues.

    Half of the scatters damp the leading directions, to nothing at all in some.
    """
    rng = np.random.default_rng([seed, 41])
    D = int(rng.choice([30, 60, 150, 300]))
    kind = seed % 6
    e = rng.normal(size=D)
    if kind == 0:  # a top cluster
        k = int(rng.integers(2, D // 2))
        e[:k] = e.max() + 10.0 ** rng.uniform(-14, -1) * rng.uniform(size=k)
    elif kind == 1:  # two nearly equal ones
        e[:2] = e.max() * (1.0 + 10.0 ** rng.uniform(-14, -1) * np.array([1.0, 2.0]))
    elif kind == 2:  # all of them nearly equal
        e = 1.0 - 10.0 ** rng.uniform(-14, -1) * rng.uniform(size=D)
    elif kind == 3:  # graded over many units
        e = rng.choice([-1.0, 1.0], size=D) * 10.0 ** rng.uniform(-14, 4, size=D)
    elif kind == 4:  # beside huge negative ones
        e[: D // 3] = -(10.0 ** rng.uniform(2, 8, size=D // 3))
    else:  # none is positive
        e = -np.abs(e) - rng.choice([0.0, 0.1])
    seen = np.ones(D)
    if rng.random() < 0.5:
        top = np.argsort(e)[-int(rng.integers(1, 10)) :]
        seen[top] = 10.0 ** rng.uniform(-30, -1) if rng.random() < 0.7 else 0.0
    return Hidden(e, seen)
