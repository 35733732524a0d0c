"""Problems that are hard on certificates."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import sdpmetric
from sdpmetric.problem import units, user_units
from tests.support.planted import planted
from tests.support.problems import SMOOTH, Floats, Ints, consistent, random_psd, random_triplets

__all__ = ["KINDS", "Adversary", "draw"]

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Adversary:
    """A problem, and how it is to be solved.

    The far pairs of ``units``, weighted, give the units of distances; None: those of all triplets.
    """

    kind: str
    seed: int
    X: Floats
    triplets: Ints
    weights: Floats | None = None
    loss: str = "huber"
    C: float = 10.0
    h: float = 0.1
    t: float = 0.0
    sparse: bool = False
    single: bool = False
    units: Ints | None = None
    unit_weights: Floats | None = None

    def solve(self, **settings: Any) -> sdpmetric.Result:
        """Fit without warnings; float32 rows stay float32."""
        X: Any = self.X.astype(np.float32) if self.single else self.X
        light = 0 if self.single else user_units.LIGHT
        with warnings.catch_warnings(), mock.patch.object(units, "LIGHT", light):
            warnings.simplefilter("ignore", ConvergenceWarning)
            return sdpmetric.solve(
                sp.csr_array(X) if self.sparse else X,
                self.triplets,
                sample_weight=self.weights,
                loss=self.loss,
                C=self.C,
                h=self.h,
                prior="identity" if self.t > 0.0 else None,
                prior_weight=self.t,
                random_state=self.seed,
                **({"n_jobs": 1} | settings),
            )


def draw(kind: str, seed: int) -> Adversary:
    """Return a problem of a kind; the seed decides everything else."""
    rng = np.random.default_rng([sum(map(ord, kind)), seed])
    X, triplets, changes = KINDS[kind](rng)
    problem = Adversary(
        kind,
        seed,
        X,
        triplets,
        weights=rng.uniform(0.1, 3.0, size=len(triplets)) if rng.random() < 0.3 else None,
        loss=str(rng.choice([*SMOOTH, *SMOOTH, *SMOOTH, "hinge"])),
        C=float(10.0 ** rng.uniform(0.2, 2.0)),
        h=float(10.0 ** rng.uniform(-2.5, 0.3)),
        t=float(rng.uniform(0.05, 0.6)) if rng.random() < 0.2 else 0.0,
        sparse=bool(rng.random() < 0.5),
    )
    return replace(problem, **changes)


Drawn = tuple[Floats, Ints, dict[str, Any]]


def _rows(rng: Random, n: int, D: int) -> Floats:
    """Random rows, a third of them with zeros, columns of different lengths."""
    X = rng.normal(size=(n, D)) * rng.uniform(0.2, 3.0, size=D)
    return X * (rng.random(X.shape) < 0.5) if rng.random() < 0.3 else X


def _size(rng: Random) -> tuple[int, int, int]:
    """Rows, columns and comparisons; columns on both sides of a Krylov block."""
    n, D = int(rng.integers(6, 50)), int(rng.choice([2, 5, 12, 30, 60, 110]))
    return n, D, int(rng.integers(5, min(150, n * (n - 1))))


def _indefinite(rng: Random) -> Drawn:
    """Answers that contradict each other."""
    n, D, m = _size(rng)
    return _rows(rng, n, D), random_triplets(rng, n, m), {}


def _consistent(rng: Random) -> Drawn:
    """Answers of a metric of low rank: at the optimum the top eigenvalues of G are equal."""
    n, D, m = _size(rng)
    X = _rows(rng, n, D)
    rank = int(rng.integers(1, min(D, 6) + 1))
    return X, consistent(random_triplets(rng, n, m), X, random_psd(rng, D, rank)), {}


def _equal(rng: Random) -> Drawn:
    """At the optimum all eigenvalues of G are equal, or nearly so."""
    loss, D = str(rng.choice(SMOOTH)), int(rng.choice([3, 12, 40, 70]))
    case = planted(int(rng.integers(1 << 30)), loss, D).case
    near = case.X + 10.0 ** rng.uniform(-14, -2) * rng.normal(size=case.X.shape)
    return near, case.triplets, {"weights": case.weights, "loss": loss, "C": case.C, "h": case.h}


def _deficient(rng: Random) -> Drawn:
    """Rows of low rank: collinear, constant and repeated columns."""
    n, D, m = _size(rng)
    rank = int(rng.integers(1, D + 1))
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, D))
    X[:, rng.random(D) < 0.2] = 1.0
    X[0, 0] += 1.0
    if rng.random() < 0.5:
        X = X[rng.integers(0, n, size=n)]
        X[0, 0] += 1.0
    triplets = random_triplets(rng, n, m)
    triplets[0, [0, 2]] = 0, 1  # a far pair that differs
    return X, _distinct(triplets, n), {}


def _distinct(triplets: Ints, n: int) -> Ints:
    """Replace the near item of the first triplet if it is one of the others."""
    a, _, c = triplets[0]
    triplets[0, 1] = next(i for i in range(n) if i not in (a, c))
    return triplets


def _distant_units(rng: Random) -> Drawn:
    """Two groups of items on disjoint columns in distant units, with tiny weights on one."""
    n, k = int(rng.integers(8, 40)), int(rng.choice([2, 10, 30]))
    D = k + int(rng.choice([2, 10, 30]))
    half = n // 2
    X = np.zeros((n, D))
    X[:half, :k] = _rows(rng, half, k)
    X[half:, k:] = 10.0 ** rng.uniform(-8, 8) * _rows(rng, n - half, D - k)
    X[0, 0], X[half, k] = X[0, 0] + 1.0, X[half, k] * 1.5 + X[half:, k:].max()
    m = int(rng.integers(5, 60))
    first = random_triplets(rng, half, min(m, half * (half - 1)))
    second = random_triplets(rng, n - half, min(m, half * (half - 1))) + half
    triplets = np.vstack([first, second, [[0, 1, 2]]])
    weights = np.ones(len(triplets))
    group = triplets[:, 0] >= half
    weights[group if rng.random() < 0.5 else ~group] = 10.0 ** rng.uniform(-18, 0)
    return X, triplets, {"weights": weights}


def _offsets(rng: Random) -> Drawn:
    """Columns far from zero, such as time stamps."""
    X, triplets, _ = _consistent(rng) if rng.random() < 0.5 else _indefinite(rng)
    offset = 10.0 ** rng.uniform(2, 9) * (rng.random(X.shape[1]) < 0.4)
    offset[0] = 10.0 ** rng.uniform(2, 9)
    return X + offset, triplets, {}


def _stored_offsets(rng: Random) -> Drawn:
    """Sparse columns whose stored entries are far from zero and close to each other."""
    X, triplets, _ = _consistent(rng) if rng.random() < 0.5 else _indefinite(rng)
    X[:, 0] += 10.0 ** rng.uniform(2, 9)
    return X * (rng.random(X.shape) < 0.6), triplets, {"sparse": True}


def _far_clusters(rng: Random) -> Drawn:
    """Items in two far clusters that are never compared with each other."""
    n, D, m = _size(rng)
    half = max(4, n // 2)
    X = _rows(rng, 2 * half, D)
    X[half:] += 10.0 ** rng.uniform(2, 8) * rng.normal(size=D)
    m = min(m, half * (half - 1))
    return X, np.vstack([random_triplets(rng, half, m), random_triplets(rng, half, m) + half]), {}


def _single(rng: Random) -> Drawn:
    """Rows that stay float32."""
    X, triplets, _ = _consistent(rng) if rng.random() < 0.5 else _offsets(rng)
    return X.astype(np.float32).astype(np.float64), triplets, {"single": True}


KINDS = {
    "indefinite": _indefinite,
    "consistent": _consistent,
    "equal eigenvalues": _equal,
    "rank deficient": _deficient,
    "distant units": _distant_units,
    "offsets": _offsets,
    "stored offsets": _stored_offsets,
    "far clusters": _far_clusters,
    "float32": _single,
}
