"""Fits to all triplets of labelled rows that are hard on certificates."""

from __future__ import annotations

import warnings
from dataclasses import replace
from unittest import mock

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import Result, SDPMetric, knn_triplets
from sdpmetric.triplets import working_triplets
from tests.support.adversaries import Adversary, draw
from tests.support.problems import Ints

__all__ = ["Labelled", "draw_labelled"]

_ROWS = ("indefinite", "rank deficient", "distant units", "offsets", "far clusters")
_NEIGHBORS = 2


class Labelled:
    """Labelled rows, and the problem of all their triplets.

    ``problem`` lists every triplet. C is divided by the number of k-nearest triplets, and these
    give the units of distances, so both are changed to mean the same for the list.
    """

    def __init__(self, rows: Adversary, y: Ints) -> None:
        self.rows, self.y = rows, y
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # small classes
            nearest = knn_triplets(rows.X, y, _NEIGHBORS, _NEIGHBORS)
        pairs = np.unique(nearest[:, :2], axis=0)
        everything = np.array(
            [(i, j, k) for i, j in pairs for k in range(len(y)) if y[k] != y[i]], dtype=np.int64
        )
        self.problem = replace(
            rows,
            triplets=everything,
            units=nearest,
            C=rows.C * len(everything) / len(nearest),
        )

    def fit(self, *, tol: float, max_iter: int, dense_limit: int, streamed: bool) -> Result:
        """Fit to lists of triplets, or certify the start by tiles, without any list."""
        p = self.rows
        metric = SDPMetric(
            loss=p.loss,
            C=p.C,
            h=p.h,
            coordinates="raw",
            n_neighbors=_NEIGHBORS,
            n_impostors=_NEIGHBORS,
            triplets="all",
            n_rounds=1,
            prior_weight=p.t,
            solver_options={"dense_limit": dense_limit},
            tol=tol,
            max_iter=max_iter,
            time_limit=1e-9 if streamed else None,
            random_state=p.seed,
            n_jobs=1,
        )
        with (
            warnings.catch_warnings(),
            mock.patch.object(working_triplets, "_SHORT", 0.0 if streamed else 1.0),
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            metric.fit(p.X, self.y)
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
    """Rows of `adversaries`, with random labels or with labels that follow a column."""
    rng = np.random.default_rng([3, seed])
    rows = draw(str(rng.choice(_ROWS)), seed)
    n = len(rows.X)
    loss = str(rng.choice(["huber", "squared_hinge", "huber", "squared_hinge", "hinge"]))
    classes = int(rng.integers(2, min(5, n // 2) + 1))
    if rng.random() < 0.5:
        y = rng.permutation(np.arange(n) % classes)
    else:
        order = np.argsort(rows.X[:, rng.integers(rows.X.shape[1])], kind="stable")
        y = np.empty(n, dtype=np.int64)
        y[order] = np.arange(n) * classes // n
    return Labelled(replace(rows, weights=None, loss=loss), y)
