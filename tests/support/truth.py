"""The truth about a fit: objective and gap from the rows themselves, in long double.

Nothing of the library is used. The largest eigenvalue of G is bounded from below by Rayleigh
quotients in long double, so that a gap below the one here is wrong however exact its vectors are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.sparse.csgraph import connected_components

from sdpmetric import Result
from tests.support.adversaries import Adversary
from tests.support.problems import Floats

__all__ = ["Long", "Truth", "loss_terms", "span_basis", "truth"]

Long = Any  # an array of numpy.longdouble, or one such number
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Truth:
    """Objective at M, the relative gap (or less), and how much float64 may be off in each.

    ``outside`` is the share of the trace of M' outside the span of the compared differences.
    """

    value: float
    value_rounding: float
    gap: float
    gap_rounding: float
    outside: float


def truth(problem: Adversary, result: Result) -> Truth:
    """Evaluate a result by the definitions of the problem, at its factor and its rho.

    For the hinge the gap is no function of M and rho; it is left out (minus infinity).
    """
    # 1. Distances, margins, slopes and objective.
    X, t = problem.X.astype(np.longdouble), problem.t
    near, far = (X[problem.triplets[:, 0]] - X[problem.triplets[:, i]] for i in (1, 2))
    if problem.triplets.shape[1] == 4:
        far = X[problem.triplets[:, 2]] - X[problem.triplets[:, 3]]
    s = np.ones(len(near)) if problem.weights is None else problem.weights
    s = s.astype(np.longdouble) / s.astype(np.longdouble).sum()
    mean = s @ np.sum(far**2, axis=1)
    if problem.units is not None:
        apart = np.sum((X[problem.units[:, 0]] - X[problem.units[:, 2]]) ** 2, axis=1)
        mean = np.average(apart, weights=problem.unit_weights)
    c, scale = problem.C * s, X.shape[1] / mean
    P = result.factor.astype(np.longdouble)
    P = P / np.sqrt(np.sum(P**2))
    learned = [scale * np.sum((d @ P) ** 2, axis=1) for d in (near, far)]
    d_near, d_far = (
        (1 - t) * d + t * scale * np.mean(e**2, axis=1)
        for d, e in zip(learned, (near, far), strict=True)
    )
    rho = np.longdouble(result.rho)
    paid, slope = loss_terms(problem.loss, np.longdouble(problem.h), d_far - d_near - rho)
    w = -c * slope
    # 2. The gap.
    roots = np.sqrt(scale * w)[:, None]
    top, outside, size = _largest(near, far, roots * near, roots * far, P)
    gap = (1 - t) * (top - w @ (learned[1] - learned[0])) + max(0, rho * (w.sum() - 1))
    weighted = w @ d_far or np.longdouble(1)
    # 3. Rounding. Distances of rows far from zero are differences of large numbers. Margins that
    #    are off change slopes, and so G, by much where the loss bends sharply; the bound that is
    #    made with such slopes is as good as the one here.
    terms = rho + c @ paid + weighted
    lengths = np.abs(X - X.mean(axis=0)) @ np.sqrt(np.sum(P**2, axis=1))
    lost = _EPS * np.sqrt(scale * max(map(np.max, learned))) * lengths.max()
    sharpness = 2 if problem.loss == "squared_hinge" else 1 / np.longdouble(problem.h)
    bend = lost * sharpness * scale * (c @ np.sum(near**2 + far**2, axis=1))
    room = (1e-12 * (terms + size) + bend + 1e-9 * abs(gap)) / weighted
    return Truth(
        value=float(rho - c @ paid),
        value_rounding=float(1e-12 * terms + 100 * lost * c.sum()),
        gap=float(gap / weighted) if problem.loss != "hinge" else -np.inf,
        gap_rounding=float(room),
        outside=outside,
    )


def loss_terms(loss: str, h: Long, t: Long) -> tuple[Long, Long]:
    """Values and slopes; slopes of the hinge at its kink are the solver's to choose."""
    below = np.maximum(-t, 0)
    if loss == "hinge":
        return below, np.zeros_like(t)
    if loss == "squared_hinge":
        return below**2, -2 * below
    if loss == "logistic":
        tail = np.exp(-np.abs(t) / h)
        return h * np.log1p(tail) + below, -np.where(t < 0, 1, tail) / (1 + tail)
    u = np.clip(h - t, 0, 2 * h)
    return u * (2 * (h - t) - u) / (4 * h), -u / (2 * h)


def _largest(
    near: Long, far: Long, pulled: Long, pushed: Long, P: Long
) -> tuple[Long, float, Long]:
    """Bound lambda_max of ``pushed' pushed - pulled' pulled`` in the span of the differences.

    Columns that no difference joins are decomposed apart, so that no units hide others. Returns
    also the share of P outside the span, and the size of the terms.
    """
    differences = np.vstack([near, far])
    joined = (differences != 0).astype(np.int64)
    count, labels = connected_components(joined.T @ joined, directed=False)
    top, inside, size = -np.inf, np.longdouble(0), np.longdouble(0)
    for group in range(count):
        columns = labels == group
        if not differences[:, columns].any():
            continue
        B = span_basis(differences[:, columns].astype(np.float64))
        pull, push = pulled[:, columns], pushed[:, columns]
        low, high = (A.astype(np.float64) @ B for A in (pull, push))
        Y = eigh(high.T @ high - low.T @ low)[1]
        V = B.astype(np.longdouble) @ Y
        quotients = np.sum((push @ V) ** 2, axis=0) - np.sum((pull @ V) ** 2, axis=0)
        top = max(top, np.max(quotients / np.sum(V**2, axis=0)))
        inside += np.sum((B.T @ P[columns]) ** 2)
        size = max(size, np.sum(push**2) + np.sum(pull**2))
    return top, float(1 - inside), size


def span_basis(differences: Floats) -> Floats:
    """Return an orthonormal basis of the rows; the rank does not depend on the columns' units."""
    lengths = np.linalg.norm(differences, axis=0)
    _, s, Vt = svd(differences / lengths, full_matrices=False)
    kept = s > max(differences.shape) * _EPS * s[0]
    basis: Floats = qr(lengths[:, None] * Vt[kept].T, mode="economic")[0]
    return basis
