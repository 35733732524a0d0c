"""metric-learn's SCML; k_genuine is what it calls the number of neighbours."""

from typing import Any

from metric_learn import SCML_Supervised


def fit(X: Any, y: Any, threads: int, neighbors: int = 3) -> Any:
    return SCML_Supervised(k_genuine=neighbors, random_state=0).fit(X, y).components_
