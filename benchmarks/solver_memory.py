"""Peak memory of a whole fit, X included, against X plus comparisons; a process of its own.

``python -m benchmarks.solver_memory mnist`` prints a line of JSON.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from benchmarks.peers.worker import memory, reset_peak
from benchmarks.solver import rows_of
from sdpmetric import SDPMetric, knn_triplets
from sdpmetric.problem.comparisons import Comparisons

MB = 2**20


def main(name: str) -> None:
    X, y = rows_of(name)
    SDPMetric(tol=1e-2).fit(X[:200], y[:200])
    np.ones((1000, 1000)) @ np.ones((1000, 1000))  # BLAS keeps work areas of its own
    reset_peak()
    before = memory("VmRSS")
    SDPMetric(loss="squared_hinge", C=20.0).fit(X, y)
    peak = X.nbytes + MB * (memory("VmHWM") - before)
    c = Comparisons.from_indices(knn_triplets(X, y))
    inputs = X.nbytes + sum(a.nbytes for a in (c.edges, c.near, c.far, c.weights))
    print(json.dumps({"X": X.nbytes, "inputs": inputs, "peak": peak, "ratio": peak / inputs}))


if __name__ == "__main__":
    main(*sys.argv[1:])
