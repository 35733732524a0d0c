"""The optimum by another solver: the paper's problem as CVXPY writes it, solved by Clarabel."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import orth

from tests.support.problems import Case, Floats

if TYPE_CHECKING:
    import cvxpy as cp

ACCURACY = 1e-6  # of Clarabel, in units of 1 + |optimum|


def total_loss(case: Case, t: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """``sum c_r loss(t_r)`` with the constraints of its slack variables."""
    import cvxpy as cp  # late: it takes seconds

    c = case.C * case.share
    if case.loss == "squared_hinge":
        return c @ cp.square(cp.pos(-t)), []
    if case.loss == "hinge":
        return c @ cp.pos(-t), []
    if case.loss == "logistic":
        return case.h * (c @ cp.logistic(-t / case.h)), []
    # Huber is an infimal convolution of a parabola and a line.
    u, v = cp.Variable(len(c), nonneg=True), cp.Variable(len(c), nonneg=True)
    return c @ (cp.square(u) / (4 * case.h) + v), [u + v >= case.h - t, u <= 2 * case.h]


def reference(case: Case) -> tuple[float, float, Floats]:
    """The optimum, rho* and M* by Clarabel, from the items themselves.

    M' lives in the span of the compared differences (design.md, "Null directions").
    """
    import cvxpy as cp

    basis = orth(np.vstack([case.near, case.far]).T)
    N = cp.Variable((basis.shape[1], basis.shape[1]), PSD=True)
    rho = cp.Variable(nonneg=True)

    def form(d: Floats) -> cp.Expression:
        inside = d @ basis
        products = np.einsum("ri,rj->rij", inside, inside).reshape(len(d), -1)
        learned = products @ cp.vec(N, order="C")
        return case.scale * (1 - case.t) * learned + case.t * case.form(d, case.M0)

    loss_sum, constraints = total_loss(case, form(case.far) - form(case.near) - rho)
    problem = cp.Problem(cp.Maximize(rho - loss_sum), [cp.trace(N) == 1, *constraints])
    with warnings.catch_warnings():
        # Clarabel says so where it reaches 1e-7 or so, but not its 1e-8.
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL)
    M = (1 - case.t) * basis @ N.value @ basis.T + case.t * case.M0
    return float(problem.value), float(rho.value), np.asarray(M)
