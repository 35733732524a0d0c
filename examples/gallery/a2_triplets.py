"""
From comparisons
================

Sometimes there are no labels, only answers: "item i is closer to j than to k". Here we make up the
answers by a metric that we hide, and look how many of them it takes to find it again.
"""

import matplotlib.pyplot as plt
import numpy as np

from sdpmetric import TripletSDPMetric

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 8))  # items
mixing = rng.normal(size=(2, 8))  # two mixtures of the eight features are what people look at
hidden = mixing.T @ mixing / np.sum(mixing**2)


def ask(n, noise):
    """Triplets [anchor, near, far]; a share ``noise`` of the answers is wrong."""
    T = np.array([rng.choice(200, 3, replace=False) for _ in range(n)])
    near, far = (np.sum(((X[T[:, 0]] - X[T[:, j]]) @ mixing.T) ** 2, axis=1) for j in (1, 2))
    swap = (near > far) ^ (rng.random(n) < noise)
    T[swap] = T[swap][:, [0, 2, 1]]
    return T


# %%
# One answer in ten is wrong. New answers, all of them right, tell how good the metric is.

test = ask(2000, noise=0.0)
sizes = [25, 50, 100, 200, 400, 800, 1600]
train = ask(max(sizes), noise=0.1)
metrics = [TripletSDPMetric().fit(X, train[:n]) for n in sizes]
scores = [metric.score(X, test) for metric in metrics]
euclidean = np.mean(
    np.linalg.norm(X[test[:, 0]] - X[test[:, 1]], axis=1)
    < np.linalg.norm(X[test[:, 0]] - X[test[:, 2]], axis=1)
)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.semilogx(sizes, scores, "o-", label="learned")
ax.axhline(euclidean, color="0.45", linestyle="--", label="Euclidean")
ax.set_xticks(sizes, map(str, sizes))
ax.minorticks_off()
ax.set(xlabel="answers learned from", ylabel="new answers predicted")
ax.legend()

# %%
# The hidden matrix and the one learned from all 1,600 answers. There is no seed to be lucky with:
# the problem has no local optima, and the gap says how far the fit is from the best.

figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
learned = metrics[-1].get_mahalanobis_matrix()
largest = max(abs(hidden).max(), abs(learned).max())
for ax, M, name in zip(axes, (hidden, learned), ("hidden", "learned"), strict=True):
    drawn = ax.imshow(M, cmap="RdBu", vmin=-largest, vmax=largest)
    ax.set_title(name)
figure.colorbar(drawn, ax=axes)

# %%
# A comparison may weigh more than others, and it may compare two pairs that share no item:
# "i and j are closer than k and l" is a row of four numbers.

weights = np.ones(400)
weights[:50] = 3.0  # say, answers of an expert
print(TripletSDPMetric().fit(X, train[:400], sample_weight=weights).score(X, test))
quadruplets = train[:400][:, [0, 1, 0, 2]]
print(TripletSDPMetric().fit(X, quadruplets).score(X, test), scores[sizes.index(400)])
