"""
From labels
===========

Wines of three growers, thirteen measurements each. Which measurements tell the growers apart, and
does a vote of nearest neighbours gain by that?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import SDPMetric
from sdpmetric.displays import FeaturesDisplay, MapDisplay

X, y = load_wine(return_X_y=True, as_frame=True)

# %%
# ``SDPMetric`` is one more step of a pipeline. The columns are in different units, so they are
# standardised first: the trace of M is one, which is not the same in grams as in kilograms.

before = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
after = make_pipeline(StandardScaler(), SDPMetric(), KNeighborsClassifier(3))
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
for name, model in {"Euclidean": before, "learned": after}.items():
    print(
        f"{name:10} {1 - cross_val_score(model, X, y, cv=folds).mean():.1%} of held-out rows wrong"
    )

# %%
# The fit says how good it is. ``gap_`` is the certificate: no other metric reaches an objective
# that is better by more than this, relative to the weighted far distance.

metric = after.fit(X, y)[1]
print(metric.status_, f"{metric.gap_:.1e}")
print(f"{metric.objective_:.4f} <= optimum <= {metric.upper_bound_:.4f}")
print("directions:", len(metric.components_), "of", X.shape[1])

# %%
# What counts, by name.

_, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
FeaturesDisplay.from_estimator(after[:-1], X).plot(ax, top=8)

# %%
# All wines in the two directions of largest variance, before and after. These are the wines that
# the metric was learned from; the errors above are on wines that it had not seen.

MapDisplay.from_estimator(after[:-1], X, y).plot()
