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
from sklearn.model_selection import train_test_split

from sdpmetric import SDPMetric

X, y = load_digits(return_X_y=True)

# %%
# Some rows are labelled; k-means sees 900 other rows only, and is scored on them. The adjusted Rand
# index is 1 for the true groups and 0 on average for random ones. Three draws of all this.


def rand_index(rows, classes):
    return adjusted_rand_score(classes, KMeans(10, n_init=4, random_state=0).fit_predict(rows))


sizes = (200, 400, 800)
before, after = [], []
for seed in range(3):
    A, B, a, b = train_test_split(X, y, test_size=900, stratify=y, random_state=seed)
    before.append([rand_index(B, b)] * len(sizes))
    after.append([])
    for n in sizes:
        metric = SDPMetric(prior="identity", prior_weight=0.2).fit(A[:n], a[:n])
        after[-1].append(rand_index(metric.transform(B), b))
print("labels   ", sizes)
print("Euclidean", np.mean(before, axis=0).round(3))
print("learned  ", np.mean(after, axis=0).round(3))

# %%

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for values, name, colour in ((before, "Euclidean", "0.45"), (after, "learned", "#0072B2")):
    ax.plot(sizes, np.mean(values, axis=0), "o-", color=colour, label=name)
    ax.fill_between(sizes, np.min(values, axis=0), np.max(values, axis=0), color=colour, alpha=0.2)
ax.set(xlabel="labelled rows", ylabel="adjusted Rand index, other rows", xscale="log")
ax.set_xticks(sizes, map(str, sizes))
ax.minorticks_off()
ax.legend(title="band: worst to best draw")
