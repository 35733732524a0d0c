"""pylmnn imports GPyOpt for a hyperparameter search that is not used here; a stub serves."""

import sys
from types import ModuleType
from typing import Any

stub = ModuleType("GPyOpt.methods")
stub.BayesianOptimization = None  # type: ignore[attr-defined]
sys.modules.update({"GPyOpt": ModuleType("GPyOpt"), "GPyOpt.methods": stub})

from pylmnn import LargeMarginNearestNeighbor  # noqa: E402


def fit(X: Any, y: Any, threads: int, neighbors: int = 3) -> Any:
    lmnn = LargeMarginNearestNeighbor(n_neighbors=neighbors, random_state=0, n_jobs=threads)
    return lmnn.fit(X, y).components_
