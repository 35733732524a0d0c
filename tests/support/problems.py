"""Random problems, and the definitions of design.md written out densely.

Nothing here calls the library but `Case.solve`: scale, margins, losses, rho*, gradient and gap are
computed from the items themselves, one D x D matrix at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit

import sdpmetric

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LOSSES = ("squared_hinge", "huber", "logistic", "hinge")
SMOOTH = LOSSES[:3]
SOLVERS = ("low-rank", "frank-wolfe")
# The paper's setting: one fit of the k-nearest triplets of raw rows, those of `knn_triplets`.
PAPER: dict[str, Any] = {
    **{"n_neighbors": 3, "n_impostors": 3, "n_rounds": 1},
    **{"coordinates": "raw"},
}


def loss_value(loss: str, h: float, t: Floats) -> Floats:
    """The losses as the paper prints them, case by case."""
    if loss == "squared_hinge":
        return np.where(t < 0, t**2, 0.0)
    if loss == "hinge":
        return np.where(t < 0, -t, 0.0)
    if loss == "logistic":
        return h * np.log1p(np.exp(-np.abs(t) / h)) + np.maximum(-t, 0.0)
    return np.select([t >= h, t > -h], [np.zeros_like(t), (h - t) ** 2 / (4 * h)], -t)


def loss_slope(loss: str, h: float, t: Floats) -> Floats:
    if loss == "squared_hinge":
        return np.where(t < 0, 2 * t, 0.0)
    if loss == "logistic":
        return np.asarray(-expit(-t / h))
    return np.select([t >= h, t > -h], [np.zeros_like(t), (t - h) / (2 * h)], -1.0)


@dataclass(frozen=True, eq=False)
class Case:
    """A problem as a user would pose it."""

    X: Floats
    triplets: Ints
    weights: Floats | None = None
    loss: str = "huber"
    C: float = 10.0
    h: float = 0.5
    prior: str | Floats | None = None
    t: float = 0.0

    def solve(self, **settings: Any) -> sdpmetric.Result:
        return sdpmetric.solve(
            self.X, self.triplets, sample_weight=self.weights, **self.settings, **settings
        )

    @property
    def settings(self) -> dict[str, Any]:
        names = {"loss": self.loss, "C": self.C, "h": self.h}
        return names | {"prior": self.prior, "prior_weight": self.t}

    def but(self, **changes: Any) -> Case:
        return replace(self, **changes)

    @property
    def share(self) -> Floats:
        s = np.ones(len(self.triplets)) if self.weights is None else self.weights
        return np.asarray(s / s.sum())

    @property
    def near(self) -> Floats:
        return np.asarray(self.X[self.triplets[:, 0]] - self.X[self.triplets[:, 1]])

    @property
    def far(self) -> Floats:
        a, b = (0, 2) if self.triplets.shape[1] == 3 else (2, 3)
        return np.asarray(self.X[self.triplets[:, a]] - self.X[self.triplets[:, b]])

    @property
    def scale(self) -> float:
        return float(self.X.shape[1] / (self.share @ np.sum(self.far**2, axis=1)))

    @property
    def M0(self) -> Floats:
        D = self.X.shape[1]
        if self.prior is None or isinstance(self.prior, str):
            return np.asarray(np.eye(D) / D)
        return np.asarray(self.prior / float(np.trace(self.prior)))

    def form(self, d: Floats, M: Floats) -> Floats:
        """Scaled squared lengths of the rows of d."""
        return self.scale * np.asarray([row @ M @ row for row in d])

    def margins(self, M: Floats) -> Floats:
        return self.form(self.far, M) - self.form(self.near, M)

    def f(self, M: Floats, rho: float) -> float:
        losses = loss_value(self.loss, self.h, self.margins(M) - rho)
        return rho - self.C * float(self.share @ losses)

    def best(self, M: Floats) -> tuple[float, float]:
        """rho* and F(M), by scipy's bounded search."""
        return best_margin(self.margins(M), self.C * self.share, self.loss, self.h)

    def slopes(self, M: Floats, rho: float) -> Floats:
        return -self.C * self.share * loss_slope(self.loss, self.h, self.margins(M) - rho)

    def gradient(self, M: Floats, rho: float) -> Floats:
        """G, one outer product after another."""
        D = self.X.shape[1]
        G = np.zeros((D, D))
        for w, far, near in zip(self.slopes(M, rho), self.far, self.near, strict=True):
            G += w * (np.outer(far, far) - np.outer(near, near))
        return self.scale * G

    def relative_gap(self, M: Floats, rho: float) -> float:
        """The gap of design.md at ``M = (1 - t) M' + t M0``."""
        G = self.gradient(M, rho)
        learned = np.linalg.eigvalsh(G)[-1] * (1 - self.t) - np.sum(G * (M - self.t * self.M0))
        return float(learned / (self.slopes(M, rho) @ self.form(self.far, M)))


def best_margin(z: Floats, c: Floats, loss: str, h: float) -> tuple[float, float]:
    """``max_{rho >= 0} rho - sum c loss(z - rho)`` by scipy, refined around its first answer.

    For the hinge the function is linear between the margins, so the best of them is the answer.
    """

    def negative(rho: float) -> float:
        return float(c @ loss_value(loss, h, z - rho)) - rho

    if loss == "hinge":
        rho = min([0.0, *z[z > 0]], key=negative)
        return float(rho), -negative(rho)
    high = float(np.abs(z).max()) + h * 50 + 1 / c.sum() + 1
    low = 0.0
    for _ in range(4):
        found = minimize_scalar(negative, bounds=(low, high), options={"xatol": 1e-12})
        width = max(1e-9, 1e-3 * (high - low))
        low, high = max(0.0, found.x - width), found.x + width
    rho = 0.0 if negative(0.0) <= found.fun else float(found.x)
    return rho, -negative(rho)


def random_triplets(rng: np.random.Generator, n: int, m: int, width: int = 3) -> Ints:
    """m distinct random comparisons; quadruplets of four different items."""
    rows: dict[tuple[int, ...], None] = {}
    while len(rows) < m:
        rows[tuple(int(i) for i in rng.choice(n, width, replace=False))] = None
    return np.array(list(rows), dtype=np.int64)


def consistent(triplets: Ints, X: Floats, M: Floats) -> Ints:
    """Triplets turned so that a metric M answers all of them rightly."""
    a, b, c = (X[triplets[:, i]] for i in range(3))
    near = np.einsum("ri,ij,rj->r", a - b, M, a - b)
    far = np.einsum("ri,ij,rj->r", a - c, M, a - c)
    return np.where((near > far)[:, None], triplets[:, [0, 2, 1]], triplets)


def random_psd(rng: np.random.Generator, D: int, rank: int | None = None) -> Floats:
    A = rng.normal(size=(D, rank or D))
    return np.asarray(A @ A.T)


def random_case(seed: int, loss: str = "huber", **changes: Any) -> Case:
    """A small problem; the seed decides everything, structure, weights and prior included.

    Even seeds: answers of a planted metric, so that rho* > 0. Odd ones: contradictory answers and a
    large C, so that often rho* = 0.
    """
    rng = np.random.default_rng([seed, 20])
    D = int(rng.integers(1, 7))
    n = int(rng.integers(5, 13))
    X = rng.normal(size=(n, D)) * rng.uniform(0.3, 3.0, size=D) + rng.normal(size=D)
    m = int(rng.integers(5, 41))
    planted = seed % 2 == 0
    triplets = random_triplets(rng, n, m, 3 if planted or seed % 3 else 4)
    if planted:
        triplets = consistent(triplets, X, random_psd(rng, D, 1))
    C = float(rng.uniform(1.2, 6.0) if planted else rng.uniform(10.0, 60.0))
    priors = (None, "identity", random_psd(rng, D))
    prior = priors[seed // 2 % 3]
    case = Case(
        X,
        triplets,
        weights=rng.uniform(0.1, 3.0, size=m) if rng.random() < 0.5 else None,
        loss=loss,
        C=C,
        h=float(rng.choice([0.05, 0.2, 0.5, 1.0])),
        prior=prior,
        t=0.0 if prior is None else float(rng.uniform(0.05, 0.6)),
    )
    return case.but(**changes)


def labelled(rng: np.random.Generator, n: int, D: int, classes: int = 3) -> tuple[Floats, Ints]:
    """Blobs whose first features tell the classes apart and whose last one is loud noise."""
    y = np.arange(n) % classes
    X = rng.normal(size=(n, D))
    X[:, 0] += 1.5 * y
    X[:, -1] *= 3.0
    return X, y.astype(np.int64)


@dataclass(frozen=True)
class UserLoss:
    """A user's own loss: the squared hinge moved right and bounded by a linear tail.

    In closed form, with u = 1 - t: 0 for u <= 0, u^2 up to u = 1, then 2 u - 1.
    """

    support: float = 1.0
    max_slope: float = 2.0
    value_of: Callable[[Floats], Floats] | None = None
    slope_of: Callable[[Floats], Floats] | None = None
    curvature_of: Callable[[Floats], Floats] | None = None

    def value(self, t: Floats) -> Floats:
        if self.value_of is not None:
            return self.value_of(t)
        u = np.maximum(1.0 - t, 0.0)
        return np.where(u < 1.0, u**2, 2.0 * u - 1.0)

    def slope(self, t: Floats) -> Floats:
        if self.slope_of is not None:
            return self.slope_of(t)
        return -np.clip(2.0 * (1.0 - t), 0.0, 2.0)

    def curvature(self, t: Floats) -> Floats:
        if self.curvature_of is not None:
            return self.curvature_of(t)
        return np.where((t > 0.0) & (t < 1.0), 2.0, 0.0)
