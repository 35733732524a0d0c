"""Ctrl-C at random moments of every kind of fit: ``python -m tests.campaigns.interrupts``.

After each, BLAS must have the threads that it had, the estimator must be a certified metric or not
fitted at all, no thread of a fit may be left, and the next fit must succeed. Interrupts come from a
timer, as real signals, so they fall between any two instructions.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from random import Random
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from sdpmetric import SDPMetric, Status, TripletSDPMetric
from tests.support.problems import labelled, random_triplets
from tests.support.searches import searches

__all__ = ["campaign", "kinds"]

Kind = tuple[Any, tuple[Any, ...]]


def kinds() -> dict[str, Kind]:
    """Estimators and their data, by name."""
    rng = np.random.default_rng(0)
    X, y = labelled(rng, 300, 12, 4)
    T = random_triplets(rng, 300, 900)
    found: dict[str, Kind] = {
        "fit": (SDPMetric(n_rounds=1, n_jobs=2, tol=1e-7), (X, y)),
        "frank-wolfe": (SDPMetric(n_rounds=1, solver="frank-wolfe", n_jobs=2, tol=0.01), (X, y)),
        "hinge": (SDPMetric(n_rounds=1, loss="hinge", n_jobs=2, tol=1e-3), (X, y)),
        "rounds": (SDPMetric(n_rounds=3, n_jobs=2), (X, y)),
        "all triplets": (SDPMetric(n_rounds=1, triplets="all", n_jobs=2), (X, y)),
        "comparisons": (TripletSDPMetric(n_jobs=2), (X, T)),
    }
    names = ("search by labels", "search by triplets", "adapter")
    return found | dict(zip(names, searches(), strict=True))


def blas_threads() -> list[int]:
    """The threads of every BLAS in this process."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def interrupted(estimator: Any, data: tuple[Any, ...], after: float, components: Any) -> str:
    """Interrupt a fit after so many seconds; return what came of it.

    ``components`` are those of a fit that was not interrupted.
    """
    metric = clone(estimator)
    before, threads = blas_threads(), threading.active_count()
    outcome = "completed"
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        try:
            metric.fit(*data)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        outcome = "certified" if hasattr(metric, "components_") else "not fitted"
    assert blas_threads() == before, "BLAS has other threads than before"
    give_up = time.monotonic() + 20.0
    while threading.active_count() > threads and time.monotonic() < give_up:
        time.sleep(0.001)  # parts that were running when the interrupt came
    assert threading.active_count() <= threads, "threads are left"
    if outcome == "not fitted":
        assert vars(metric).keys() == vars(clone(metric)).keys(), "half of a fit is left"
    else:
        _check(metric, data[0])
    assert np.array_equal(clone(metric).fit(*data).components_, components), "next fit differs"
    return outcome


def _check(metric: Any, X: Any) -> None:
    """Check that a metric is usable and has a certificate."""
    M = metric.get_mahalanobis_matrix()
    assert abs(np.trace(M) - 1.0) < 1e-9, "trace is not one"
    assert np.linalg.eigvalsh(M)[0] > -1e-9, "not positive semidefinite"
    assert np.isfinite(metric.transform(X)).all(), "transform is not finite"
    last = getattr(metric, "best_estimator_", metric)
    assert last.objective_ <= last.upper_bound_, "the bound is below the objective"
    assert np.isfinite(last.gap_), "the gap is not finite"
    assert isinstance(last.status_, Status), "no status"


def campaign(count: int, seed: int, names: list[str] | None = None) -> Counter[str]:
    """Interrupt ``count`` fits; returns how often each outcome came, by kind of fit.

    The alarm of a timer calls Python's handler of Ctrl-C, as if a person had pressed it.
    """
    rng, found = Random(seed), Counter[str]()
    chosen = {name: kind for name, kind in kinds().items() if names is None or name in names}
    lengths, complete = {}, {}
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with warnings.catch_warnings(), threadpool_limits(2, "blas"):
            warnings.simplefilter("ignore")
            for name, (estimator, data) in chosen.items():
                clone(estimator).fit(*data)  # compiled loops
                began = time.perf_counter()
                complete[name] = clone(estimator).fit(*data).components_
                lengths[name] = time.perf_counter() - began
            for number in range(count):
                name = list(chosen)[number % len(chosen)]
                after = max(1e-6, rng.uniform(0.0, 1.1) * lengths[name])
                outcome = interrupted(*chosen[name], after, complete[name])
                found[f"{name}: {outcome}"] += 1
    finally:
        signal.signal(signal.SIGALRM, previous)
    return found


def main() -> None:
    """Run the campaign and print its counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="interrupts")
    parser.add_argument("--seed", type=int, default=0, help="another seed has other moments")
    given = parser.parse_args()
    for outcome, times in sorted(campaign(given.count, given.seed).items()):
        sys.stdout.write(f"{times:6} {outcome}\n")
    sys.stdout.write(f"{given.count:6} interrupts, and none of them left anything behind\n")


if __name__ == "__main__":
    main()
