"""
Clustering, before and after
============================

k-means finds groups by Euclidean distance, whatever the question was. A few labelled rows tell it
which differences matter; the groups of the others then follow.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import StratifiedShuffleSplit

from sdpmetric import SDPMetric

X, y = load_digits(return_X_y=True)

# %%
# Some rows are labelled; k-means sees the rows without labels only, and is scored on them. The
# adjusted Rand index is 1 for the true groups and 0 on average for random ones. Three draws of the
# labelled rows each.

sizes = (100, 200, 400, 800)
scores = {"Euclidean": [], "learned": []}
for size in sizes:
    splits = StratifiedShuffleSplit(3, train_size=size, test_size=900, random_state=0)
    row = {"Euclidean": [], "learned": []}
    for labelled, rest in splits.split(X, y):
        metric = SDPMetric(prior="identity", prior_weight=0.2).fit(X[labelled], y[labelled])
        for name, rows in {"Euclidean": X[rest], "learned": metric.transform(X[rest])}.items():
            groups = KMeans(10, n_init=4, random_state=0).fit_predict(rows)
            row[name].append(adjusted_rand_score(y[rest], groups))
    for name, found in row.items():
        scores[name].append(found)
    print(
        f"{size:4} labels:", {name: round(float(np.mean(found)), 3) for name, found in row.items()}
    )

# %%

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, colour in {"Euclidean": "0.45", "learned": "#0072B2"}.items():
    values = np.array(scores[name])
    ax.plot(sizes, values.mean(axis=1), "o-", color=colour, label=name)
    ax.fill_between(sizes, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.2)
ax.set(xlabel="labelled rows", ylabel="adjusted Rand index, other rows", xscale="log")
ax.set_xticks(sizes, map(str, sizes))
ax.minorticks_off()
ax.legend(title="band: worst to best draw")
