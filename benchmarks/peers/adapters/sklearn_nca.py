"""NeighborhoodComponentsAnalysis: the metric learner that scikit-learn itself ships."""

from typing import Any

from sklearn.neighbors import NeighborhoodComponentsAnalysis


def fit(X: Any, y: Any, threads: int, neighbors: int = 3) -> Any:
    return NeighborhoodComponentsAnalysis(random_state=0).fit(X, y).components_
