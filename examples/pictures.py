"""Every display once, on digits and wine: writes output/pictures/*.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import SDPMetric, SDPMetricCV
from sdpmetric.displays import (
    ConvergenceDisplay,
    FeaturesDisplay,
    MapDisplay,
    MarginsDisplay,
    NeighborsDisplay,
    PathDisplay,
    SpectrumDisplay,
)


def main() -> None:
    X, y = load_digits(return_X_y=True)
    G, Q, y_g, y_q = train_test_split(X, y, random_state=0)
    digits = SDPMetric(tol=1e-6).fit(G, y_g)
    before = KNeighborsClassifier(1).fit(G, y_g).predict(Q)
    hard = np.flatnonzero(before != y_q)[:6]  # queries that Euclidean distance gets wrong
    V, v = load_wine(return_X_y=True, as_frame=True)
    wine = make_pipeline(StandardScaler(), SDPMetric()).fit(V, v)
    search = SDPMetricCV(6, n_rounds=1, cv=3).fit(V, v)
    displays = {
        "convergence": ConvergenceDisplay.from_estimator(digits),
        "spectrum": SpectrumDisplay.from_estimator(digits),
        "margins": MarginsDisplay.from_estimator(digits, Q, y_q),
        "features": FeaturesDisplay.from_estimator(wine, V),
        "map": MapDisplay.from_estimator(digits, Q, y_q),
        "path": PathDisplay.from_estimator(search),
        "neighbors": NeighborsDisplay.from_estimator(
            digits, Q, y_q, G, y_g, shape=(8, 8), queries=hard
        ),
    }
    folder = Path("output") / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, display in displays.items():
        path = folder / f"{name}.png"
        display.plot().figure_.savefig(path, dpi=120)
        print(path)


if __name__ == "__main__":
    main()
