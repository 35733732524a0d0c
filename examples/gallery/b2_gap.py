"""
How it works: the gap
=====================

A fit ends with a proof. The objective is concave, so it lies below its tangent at any M. The
tangent is linear, and over all M of trace one a linear function is largest at ``v v'``, v being the
leading eigenvector of the gradient: nothing can be higher than the tangent is there.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from sdpmetric import Huber, knn_triplets, solve

BLUE, ORANGE = "#0072B2", "#E69F00"

# %%
# The objective in the plainest NumPy. G is its gradient, and ``lambda_max(G) - <G, M>`` the gap.

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
T = knn_triplets(X, y)
C, loss = 10.0, Huber(0.1)
best = solve(X, T, C=C, loss=loss, tol=1e-7)
apart = [X[T[:, 0]] - X[T[:, j]] for j in (1, 2)]
near, far = (np.einsum("ri,rj->rij", d, d) * best.scale for d in apart)


def F(M):
    """The objective, and the margin rho that reaches it."""
    z = np.sum((far - near) * M, axis=(1, 2))
    found = minimize_scalar(
        lambda rho: C * loss.value(z - rho).mean() - rho,
        bounds=(0.0, 5.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return -found.fun, found.x


def gradient(M, rho):
    z = np.sum((far - near) * M, axis=(1, 2))
    w = -C * loss.slope(z - rho) / len(z)
    return np.tensordot(w, far - near, axes=1)


# %%
# Euclidean distance, I/13 in thirteen dimensions, and the line from there to ``v v'``. Blue is the
# objective along that line, orange its tangent. Where the tangent ends is the upper bound.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
learned = best.get_mahalanobis_matrix()
for ax, M, name in zip(
    axes, (np.eye(13) / 13, learned), ("at I/13", "at the optimum"), strict=True
):
    value, rho = F(M)
    G = gradient(M, rho)
    values, vectors = np.linalg.eigh(G)
    gap = values[-1] - np.sum(G * M)
    end = np.outer(vectors[:, -1], vectors[:, -1])
    alphas = np.linspace(0.0, 1.0, 41)
    ax.plot(alphas, [F(M + alpha * (end - M))[0] for alpha in alphas], color=BLUE, linewidth=2)
    ax.plot(alphas, value + alphas * gap, "--", color=ORANGE, linewidth=2)
    ax.axhline(best.objective, color="0.45", linestyle=":")
    ax.plot(0, value, "o", color=BLUE)
    ax.plot(1, value + gap, "o", color=ORANGE)
    ax.set_title(f"{name}: gap {gap:.1g}")
    ax.set(xlabel="from M (0) to v v' (1)", ylabel="objective")
axes[0].legend(["objective", "its tangent", "the optimum"], loc="upper left", frameon=False)

# %%
# Step by step, the objective rises and the best bound falls. The optimum is between them, at any
# time: so a fit that is stopped early still says how good it is.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
for ax, solver in zip(axes, ("frank-wolfe", "low-rank"), strict=True):
    passed = []

    def note(now, passed=passed):
        P = now.factor()
        passed.append(P @ P.T / np.sum(P * P))
        return len(passed) > 60

    with warnings.catch_warnings():  # frank-wolfe is stopped long before its tolerance, and says so
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = solve(X, T, C=C, loss=loss, solver=solver, callback=note, tol=1e-4)
    reached, bounds = [], []
    for M in passed:
        value, rho = F(M)
        G = gradient(M, rho)
        reached.append(value)
        bounds.append(value + np.linalg.eigvalsh(G)[-1] - np.sum(G * M))
    ax.fill_between(range(len(passed)), reached, np.minimum.accumulate(bounds), color="0.9")
    ax.plot(np.minimum.accumulate(bounds), color=ORANGE, linewidth=2, label="best upper bound")
    ax.plot(reached, color=BLUE, linewidth=2, label="objective")
    ax.axhline(best.objective, color="0.45", linestyle=":", label="optimum")
    ax.set_title(f"{solver}: relative gap {result.gap:.0e}")
    ax.set_xlabel("step")
    print(f"{solver:12} {result.objective:.5f} <= optimum <= {result.upper_bound:.5f}")
axes[0].set_ylabel("objective")
axes[0].legend(frameon=False)
