"""Problems divided into parts by hand, beside the same problem in one piece."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sdpmetric import Comparisons, Huber, Logistic, Loss, SquaredHinge
from sdpmetric.engines.engine import Engine, Resident, same
from sdpmetric.linalg.items import items_of
from sdpmetric.parted.objective import PartedObjective, Sizes
from sdpmetric.parted.tasks import Part, Setting
from sdpmetric.problem.objective import EdgeObjective
from tests.support.problems import Case


def loss_of(case: Case) -> Loss:
    losses: dict[str, Loss] = {
        "squared_hinge": SquaredHinge(),
        "huber": Huber(case.h),
        "logistic": Logistic(case.h),
    }
    return losses[case.loss]


def objective_of(case: Case, X: Any = None, **options: Any) -> EdgeObjective:
    """An EdgeObjective built by hand: coefficients, scale and prior distances from the test."""
    part = part_of(case, slice(None), X)
    return EdgeObjective(
        part.X,
        part.comparisons,
        case.C * case.share,
        case.scale,
        loss_of(case),
        None if part.prior is None else case.scale * part.prior,
        case.t,
        **options,
    )


def part_of(case: Case, some: slice, X: Any = None) -> Part:
    """The part of some comparisons: only the rows that these mention."""
    weights = None if case.weights is None else case.weights[some]
    comparisons = Comparisons.from_indices(case.triplets[some], weights)
    items = comparisons.items()
    edges = case.X[comparisons.edges[:, 0]] - case.X[comparisons.edges[:, 1]]
    prior = np.einsum("ei,ij,ej->e", edges, case.M0, edges) if case.t > 0 else None
    rows = items_of(case.X if X is None else X).take(items)
    return Part(rows, comparisons.relabel(items), prior)


def parted(case: Case, engine: Engine, n_parts: int, X: Any = None) -> PartedObjective:
    """The objective of a case, its comparisons divided into parts of equal length."""
    bounds = np.linspace(0, len(case.triplets), n_parts + 1).astype(int)
    parts = [part_of(case, slice(a, b), X) for a, b in pairwise(bounds)]
    sizes = Sizes(
        case.X.shape[1],
        len(case.triplets),
        sum(len(part.comparisons.edges) for part in parts),
        parts[0].X.dtype,
    )
    weights = 1.0 if case.weights is None else case.weights
    total = float(np.sum(np.broadcast_to(weights, len(case.triplets))))
    setting = Setting(loss_of(case), case.C / total, case.scale, case.t)
    return PartedObjective(
        engine, Resident(engine, lambda: engine.map(same, parts)), sizes, setting
    )
