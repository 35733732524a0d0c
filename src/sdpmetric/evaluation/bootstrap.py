"""Bootstrap intervals over units: participants, queries or answers."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm, t

from .._support.checks import check_integer, check_real
from .._support.typing import Floats
from ..linalg.blocks import RESULT_BYTES, blocks


def check_resampling(confidence: object, n_resamples: object) -> tuple[float, int]:
    """Return ``confidence`` in (0, 1) and ``n_resamples`` of at least 1, or raise."""
    level = check_real("confidence", confidence, 0.0, 1.0)
    if level == 1.0:
        raise ValueError("confidence must be less than 1, got 1.")
    return level, check_integer("n_resamples", n_resamples, 1)


def intervals(
    sums: Floats, weights: Floats, confidence: float, n_resamples: int, seed: int
) -> Floats:
    """Intervals of the weighted means ``sums.sum(axis=0) / weights.sum()``.

    Units are drawn with replacement, the same ones for every column, so that columns may be
    compared with each other.

    Parameters
    ----------
    sums : (P, S) one row per unit: the weighted sum of each of S scores over the unit's members
    weights : (P,) total weight of each unit
    confidence : float in (0, 1)
    n_resamples : int
    seed : int

    Returns
    -------
    (S, 2) lower and upper bounds
    """
    P = len(sums)
    table = np.column_stack([sums, weights])
    # Equal units are drawn as one with a multinomial count: many people answer one question each,
    # so that P units often have a handful of different rows.
    kinds, counts = np.unique(table, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    drawn = np.empty((n_resamples, sums.shape[1]))
    for block in blocks(n_resamples, len(kinds), RESULT_BYTES):
        totals = rng.multinomial(P, counts / P, size=block.stop - block.start) @ kinds
        drawn[block] = totals[:, :-1] / totals[:, -1:]
    # Plain quantiles are too narrow for few units: the bootstrap variance is (P - 1) / P of the
    # true one and has the normal's tails. Both are corrected as Hesterberg (2015) does, by the
    # quantile of Student's t.
    tail = norm.cdf(math.sqrt(P / (P - 1)) * t.ppf(0.5 * (1.0 - confidence), P - 1))
    bounds: Floats = np.quantile(drawn, [tail, 1.0 - tail], axis=0).T
    return bounds
