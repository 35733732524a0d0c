"""
Classes that no line separates
==============================

The metric is linear: it stretches and turns the space. Where classes are separated by curves, map
the rows first, by scikit-learn's ``Nystroem`` or ``KernelPCA``, and learn the metric in that space.
This is the kernel trick: distances there are distances between functions of the rows.

Twin peaks: two hills and two valleys over a square; classes are levels of the height, all
valleys being class 0. We hide the
height and keep the two coordinates of the plane. (With the height as a column there is nothing to
bend: the linear metric only has to find that column.)
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from sdpmetric import SDPMetric
from sdpmetric.datasets import make_twin_peaks

X, y = make_twin_peaks(1000, random_state=0)
X = X[:, :2]
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
drawn = ax.scatter(*X.T, c=y, s=8, cmap="viridis")
ax.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")
figure.colorbar(drawn, label="class: rounded height")

# %%
# The width of the kernel is a choice like C, made here by cross-validation on the training rows.
# The metric has many columns for few rows, so a wide loss and a loose tolerance will do; the gap is
# certified all the same. Three random halves:

vote = KNeighborsClassifier(3)
metric = SDPMetric(h=0.1, tol=1e-2)
mapped = Pipeline(
    [("map", Nystroem(n_components=30, random_state=0)), ("metric", metric), ("vote", vote)]
)
errors = {}
for seed in range(3):
    A, B, a, b = train_test_split(X, y, test_size=0.5, random_state=seed)
    search = GridSearchCV(mapped, {"map__gamma": [0.5, 2.0, 8.0]}, cv=2).fit(A, a)
    gamma = search.best_params_["map__gamma"]
    models = {
        "Euclidean": vote,
        "linear metric": make_pipeline(SDPMetric(), vote),
        "Nystroem alone": make_pipeline(
            Nystroem(gamma=gamma, n_components=30, random_state=0), vote
        ),
        "Nystroem, metric": search.best_estimator_,
        "KernelPCA, metric": make_pipeline(KernelPCA(30, kernel="rbf", gamma=gamma), metric, vote),
    }
    for name, model in models.items():
        errors.setdefault(name, []).append(1 - model.fit(A, a).score(B, b))
for name, found in errors.items():
    print(f"{name:18} {np.mean(found):.1%} wrong,", ", ".join(f"{e:.1%}" for e in found))

# %%
# The map alone changes hardly anything: near rows stay near. It is the metric that finds, among the
# functions of the map, those that follow the height.

figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
names = list(errors)[::-1]
ax.barh(names, [100 * np.mean(errors[name]) for name in names], color="#0072B2")
for place, name in enumerate(names):
    ax.plot(100 * np.array(errors[name]), [place] * 3, "o", color="#E69F00", markeredgecolor="k")
ax.set_xlabel("3-NN errors on the other half, in percent (points: the three halves)")

# %%
# Rows in the two leading directions of the learned metric, before and after, coloured by class.

after = search.best_estimator_[:-1].transform(B)
places = after - after.mean(axis=0)
places = places @ np.linalg.svd(places, full_matrices=False)[2][:2].T
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ax, points, name in zip(axes, (B, places), ("the plane", "under the metric"), strict=True):
    ax.scatter(*points.T, c=b, s=10, cmap="viridis")
    ax.set(title=name, xticks=[], yticks=[])

# %%
# **The supported way** is this pipeline: a map of scikit-learn's, then ``SDPMetric`` (or
# ``TripletSDPMetric``, or a search). Both have ``transform``, so new rows, saving by skops and
# search in an index work as ever. ``Nystroem`` costs by the number of its columns, ``KernelPCA`` a
# matrix of all pairs of rows.
