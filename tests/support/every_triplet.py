"""Fits to all triplets of labelled rows that are hard on certificates."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import Result, SDPMetric, knn_triplets
from sdpmetric.problem import units, user_units
from sdpmetric.triplets import working_triplets
from sdpmetric.triplets.all_triplets import AllTriplets
from tests.support.adversaries import KINDS, Adversary, draw
from tests.support.problems import Floats, Ints

__all__ = ["WAYS", "Labelled", "draw_labelled"]

# How all triplets are certified: over a list of those inside the margin, or by tiles, the start or
# a later metric, whose list would have grown too long.
WAYS = ("listed", "the start by tiles", "a later metric by tiles")
_NEIGHBORS = 2
# Labels of our own would undo what makes the eigenvalues equal.
_ROWS = [kind for kind in KINDS if kind != "equal eigenvalues"]


class Labelled:
    """Labelled rows, and the problem of all their triplets.

    ``problem`` lists every triplet whose anchor has a weight, that of its class. C is divided by
    the weight of the k-nearest triplets, and these give the units of distances, so both are changed
    to mean the same for the list.
    """

    def __init__(self, rows: Adversary, y: Ints, class_weight: Floats) -> None:
        self.rows, self.y, self.class_weight = rows, y, class_weight
        X: Any = rows.X.astype(np.float32) if rows.single else rows.X
        self.X = sp.csr_array(X) if rows.sparse else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # small classes
            nearest = knn_triplets(self.X, y, _NEIGHBORS, _NEIGHBORS)
        nearest = nearest[class_weight[y[nearest[:, 0]]] > 0.0]
        pairs = np.unique(nearest[:, :2], axis=0)
        everything = np.array(
            [(i, j, k) for i, j in pairs for k in range(len(y)) if y[k] != y[i]], dtype=np.int64
        )
        weights, near_weights = (class_weight[y[t[:, 0]]] for t in (everything, nearest))
        self.problem = replace(
            rows,
            triplets=everything,
            weights=weights,
            units=nearest,
            unit_weights=near_weights,
            C=rows.C * weights.sum() / near_weights.sum(),
        )

    def fit(
        self, *, tol: float, max_iter: int, dense_limit: int, way: str, n_jobs: int = 1
    ) -> Result:
        """Fit, and certify all triplets in one of the ``WAYS``."""
        p = self.rows
        by_tiles, later = way != WAYS[0], way == WAYS[2]
        metric = SDPMetric(
            loss=p.loss,
            C=p.C,
            h=p.h,
            coordinates="raw",
            n_neighbors=_NEIGHBORS,
            n_impostors=_NEIGHBORS,
            triplets="all",
            n_rounds=1,
            class_weight=dict(enumerate(self.class_weight.tolist())),
            prior_weight=p.t,
            solver_options={"dense_limit": dense_limit},
            tol=tol,
            max_iter=max_iter,
            time_limit=(1e6 if later else 1e-9) if by_tiles else None,
            random_state=p.seed,
            n_jobs=n_jobs,
        )
        limit = AllTriplets.limit

        def too_many(*args: Any) -> tuple[float, float]:
            return limit(*args)[0], 1e18

        with (
            warnings.catch_warnings(),
            mock.patch.object(working_triplets, "_SHORT", 0.0 if by_tiles else 1.0),
            mock.patch.object(units, "LIGHT", 0 if p.single else user_units.LIGHT),
            mock.patch.object(AllTriplets, "limit", too_many if later else limit),
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            metric.fit(self.X, self.y)
        return Result(
            components=metric.components_,
            eigenvalues=metric.eigenvalues_,
            retained=metric.retained_,
            factor=metric._factor,
            rho=metric.rho_,
            objective=metric.objective_,
            upper_bound=metric.upper_bound_,
            gap=metric.gap_,
            status=metric.status_,
            n_iter=metric.n_iter_,
            n_products=0,
            history=metric.history_,
            scale=metric.scale_,
        )


def draw_labelled(seed: int) -> Labelled:
    """Rows of `adversaries`, with random labels or with labels that follow a column.

    A third of the sets have repeated rows, in the same class and in others, a third class weights.
    """
    rng = np.random.default_rng([3, seed])
    rows = draw(str(rng.choice(_ROWS)), seed)
    X, n = rows.X, len(rows.X)
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, size=n)]
        X[0, 0] += 1.0 + abs(X[0, 0])
        if rows.single:
            X = X.astype(np.float32).astype(np.float64)
    loss = str(rng.choice(["huber", "squared_hinge", "huber", "squared_hinge", "hinge"]))
    classes = int(rng.integers(2, min(5, n // 2) + 1))
    if rng.random() < 0.5:
        y = rng.permutation(np.arange(n) % classes)
    else:
        order = np.argsort(X[:, rng.integers(X.shape[1])], kind="stable")
        y = np.empty(n, dtype=np.int64)
        y[order] = np.arange(n) * classes // n
    weights = np.ones(classes)
    if rng.random() < 0.3:
        weights = 10.0 ** rng.uniform(-3.0, 0.0, size=classes)
        weights[rng.integers(classes)] = rng.choice([0.0, 1e-12, 1.0])
    return Labelled(replace(rows, X=X, weights=None, loss=loss), y, weights)
