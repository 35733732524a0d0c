"""
How it works: rank-one steps
============================

In two dimensions all matrices M (positive semidefinite, trace one) form a disc, so the whole search
can be drawn. The centre is Euclidean distance, I/2. On the rim are the matrices ``v v'`` of rank
one, which look in a single direction v and are blind to the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from sdpmetric import Huber, solve

BLUE, ORANGE = "#0072B2", "#E69F00"

# %%
# 300 comparisons of 60 items, answered by a metric that weighs one direction 4 times the other; one
# answer in ten is wrong.

rng = np.random.default_rng(1)
X = rng.normal(size=(60, 2))
T = np.array([rng.choice(60, 3, replace=False) for _ in range(300)])
turned = X @ np.array([[0.8, 0.6], [-0.6, 0.8]]).T * [2.0, 1.0]
near, far = (np.linalg.norm(turned[T[:, 0]] - turned[T[:, j]], axis=1) for j in (1, 2))
swap = (near > far) ^ (rng.random(300) < 0.1)
T[swap] = T[swap][:, [0, 2, 1]]

# %%
# Both solvers tell a callback where they are.

C, loss = 4.0, Huber(0.1)


def path(solver, **options):
    """The matrices that a solver passes on its way, and its result."""
    passed = []

    def note(now):
        P = now.factor()
        passed.append(P @ P.T / np.sum(P * P))

    start = np.array([[0.1], [1.0]])
    result = solve(X, T, C=C, loss=loss, solver=solver, start=start, callback=note, **options)
    return np.array(passed), result


options = {"J": 1}  # the best margin rho is found anew after every step
steps, paper = path("frank-wolfe", tol=1e-3, solver_options=options)
climb, ours = path("low-rank", tol=1e-6)
print(f"frank-wolfe: {paper.n_iter} steps, gap {paper.gap:.0e}")
print(f"low-rank:    {ours.n_iter} evaluations, gap {ours.gap:.0e}")

# %%
# The objective, ``F(M) = max over rho of rho - sum_r c_r loss(z_r - rho)``, at every place of the
# disc. z_r is the squared distance of the far pair less that of the near pair.

apart = [X[T[:, 0]] - X[T[:, j]] for j in (1, 2)]
near, far = (np.einsum("ri,rj->rij", d, d) * ours.scale for d in apart)
rhos = np.linspace(0.0, 2.0, 201)


def F(M):
    z = np.sum((far - near) * M, axis=(1, 2))
    return np.max(rhos - C * loss.value(z[:, None] - rhos).mean(axis=0))


def place(M):
    """Of a matrix, or many, on the disc of radius one."""
    return M[..., 0, 0] - M[..., 1, 1], 2.0 * M[..., 0, 1]


radius, angle = np.meshgrid(np.linspace(0, 1, 25), np.linspace(0, 2 * np.pi, 73))
a, b = radius * np.cos(angle) / 2, radius * np.sin(angle) / 2
height = [F(np.array([[0.5 + p, q], [q, 0.5 - p]])) for p, q in zip(a.flat, b.flat, strict=True)]
height = np.reshape(height, a.shape)

# %%
# A step of the paper's algorithm goes along a straight line towards the rim, to the ``v v'`` whose
# v is the leading eigenvector of the gradient. So trace one and eigenvalues that are not negative
# are kept by themselves. Near the optimum the steps turn to and fro and become tiny. The default
# solver moves all directions of a thin factor at once.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
ways = {
    f"frank-wolfe: gap {paper.gap:.0e} after {paper.n_iter} steps": steps,
    f"low-rank: gap {ours.gap:.0e} after {ours.n_iter} evaluations": climb,
}
for ax, (name, way) in zip(axes, ways.items(), strict=True):
    ax.contourf(2 * a, 2 * b, height, levels=24, cmap="Greys_r")
    ax.plot(np.cos(angle[:, 0]), np.sin(angle[:, 0]), color="k")
    ax.plot(*place(way), "o-", color=BLUE, markersize=4, linewidth=1.5)
    ax.plot(*place(way[0]), "o", color="w", markeredgecolor=BLUE, markersize=9)
    ax.plot(*place(way[-1]), "*", color=ORANGE, markeredgecolor="k", markersize=16)
    ax.set_title(name, fontsize=10)
    ax.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.2, 1.2))
    ax.axis("off")
    for text, x, y in (("first column", 1.02, 0.0), ("second\ncolumn", -1.02, 0.0)):
        ax.text(x, y, text, ha="left" if x > 0 else "right", va="center", fontsize=8, rotation=90)

# %%
# Five steps from near, with the lines that they go along, all the way to the rim.

figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
ax.contourf(2 * a, 2 * b, height, levels=120, cmap="Greys_r")
x, y = place(steps)
for i in range(5):
    at, way = np.array([x[i], y[i]]), np.array([x[i + 1] - x[i], y[i + 1] - y[i]])
    u = way / np.hypot(*way)
    ahead = -at @ u + np.sqrt((at @ u) ** 2 + 1 - at @ at)  # where the line meets the rim
    ax.plot(*np.array([at, at + ahead * u]).T, ":", color=ORANGE, linewidth=2)
ax.plot(x[:6], y[:6], "o-", color=BLUE, linewidth=2)
for i in range(1, 6):
    off = (6, 6) if i < 5 else (-14, 5)  # clear of the star
    ax.annotate(f"{i}", (x[i], y[i]), xytext=off, textcoords="offset points", fontsize=12)
ax.plot(*place(climb[-1]), "*", color=ORANGE, markeredgecolor="k", markersize=16)
ax.set(aspect="equal", xlim=(-0.2, 0.5), ylim=(0.0, 0.46), xticks=[], yticks=[])
