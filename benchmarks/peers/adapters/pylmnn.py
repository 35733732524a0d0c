"""pylmnn imports GPyOpt for a hyperparameter search that is not used here; a stub serves."""

import sys
from types import ModuleType

stub = ModuleType("GPyOpt.methods")
stub.BayesianOptimization = None
sys.modules.update({"GPyOpt": ModuleType("GPyOpt"), "GPyOpt.methods": stub})

from pylmnn import LargeMarginNearestNeighbor  # noqa: E402


def fit(X, y, threads, neighbors=3):
    lmnn = LargeMarginNearestNeighbor(n_neighbors=neighbors, random_state=0, n_jobs=threads)
    return lmnn.fit(X, y).components_
