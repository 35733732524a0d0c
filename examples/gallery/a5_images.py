"""
Search in pictures
==================

Small pictures of digits. A query should find pictures of the same digit.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from sdpmetric import SDPMetric, retrieval_scores
from sdpmetric.displays import NeighborsDisplay, SpectrumDisplay

X, y = load_digits(return_X_y=True)
G, Q, y_g, y_q = train_test_split(X, y, random_state=0)  # gallery and queries

# %%
# The metric is learned from the gallery. Queries are new to it.

metric = SDPMetric().fit(G, y_g)
for name, how in {"Euclidean": None, "learned": metric}.items():
    found = retrieval_scores(Q, y_q, G, y_g, k=(1, 10), metric=how)
    print(f"{name:10}", {score: round(found[score], 3) for score in ("hit@1", "ndcg@10", "map")})

# %%
# Queries whose nearest picture is of another digit by Euclidean distance: so they were chosen
# for its errors, and the picture flatters the metric. Wrong neighbours are framed.

wrong = np.flatnonzero(KNeighborsClassifier(1).fit(G, y_g).predict(Q) != y_q)[:5]
NeighborsDisplay.from_estimator(metric, Q, y_q, G, y_g, shape=(8, 8), queries=wrong).plot()

# %%
# How many directions are needed? The eigenvalues of M say how the trace is spread.

SpectrumDisplay.from_estimator(metric).plot()

# %%
# A shorter vector for each picture: the leading directions of the same metric.

for k in (4, 8, 16, 32):
    short = SDPMetric(n_components=k).fit(G, y_g)
    found = retrieval_scores(Q, y_q, G, y_g, k=10, metric=short)
    print(f"{k:3} numbers: mAP {found['map']:.3f}, {short.retained_:.1%} of the trace")
