"""sdpmetric with its defaults, or with the neighbours that a row of the paper asks for."""

from typing import Any

from sdpmetric import SDPMetric


def fit(X: Any, y: Any, threads: int, neighbors: int | None = None) -> Any:
    names = ("n_neighbors", "n_impostors")
    given: dict[str, Any] = {} if neighbors is None else dict.fromkeys(names, neighbors)
    return SDPMetric(**given).fit(X, y).components_
