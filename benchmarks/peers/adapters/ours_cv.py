"""sdpmetric with settings chosen on folds of the training rows; the time is that of the search."""

from typing import Any

from sdpmetric import SDPMetricCV


def fit(X: Any, y: Any, threads: int) -> Any:
    few: dict[str, Any] = {"Cs": 2, "cv": 2} if len(X) < 100 else {}  # the first tiny call
    return SDPMetricCV(n_jobs=threads, **few).fit(X, y).components_
