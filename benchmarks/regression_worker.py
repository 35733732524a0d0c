"""Fit data sets several times with the version of sdpmetric that PYTHONPATH names.

``python -m benchmarks.regression_worker RUNS SOURCE SET...`` prints a line of JSON. It uses public
names alone, so that it runs with old versions too.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from sklearn.preprocessing import StandardScaler

import sdpmetric
from benchmarks.common import load
from sdpmetric import SDPMetric


def timed(X: Any, y: Any) -> dict[str, Any]:
    """One fit on one thread, with settings that every version has."""
    metric = SDPMetric(
        C=10.0, h=0.02, n_neighbors=3, n_impostors=3, n_rounds=1, tol=1e-4, n_jobs=1, random_state=0
    )
    if "coordinates" in metric.get_params():
        metric.set_params(coordinates="raw")
    began = time.process_time()
    metric.fit(X, y)
    return {
        "cpu": time.process_time() - began,
        "objective": metric.objective_,
        "upper_bound": metric.upper_bound_,
        "gap": metric.gap_,
        "evaluations": metric.n_iter_,
    }


def main(runs: str, source: str, *names: str) -> None:
    # An installed copy that comes first on the path would be compared with itself.
    assert Path(sdpmetric.__file__).is_relative_to(Path(source).resolve()), sdpmetric.__file__
    records = {}
    for name in names:
        X, y = load(name)
        if name != "digits":
            X = StandardScaler().fit_transform(X)
        timed(X, y)  # loads compiled loops, or compiles them
        records[name] = min((timed(X, y) for _ in range(int(runs))), key=lambda r: r["cpu"])
    print(json.dumps(records))


if __name__ == "__main__":
    main(*sys.argv[1:])
