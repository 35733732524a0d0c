"""The memory of workers in a fit: twice the rows of a part, and 100 bytes a comparison."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import TripletSDPMetric
from tests.support.clusters import local_cluster
from tests.support.problems import random_triplets

da: Any = pytest.importorskip("dask.array")

N, D, M, WORKERS = 120_000, 64, 240_000, 2
SETTINGS: dict[str, Any] = {"coordinates": "raw", "tol": 0.1, "max_iter": 3}
SLACK = 1.1  # messages, and what the allocator keeps


def make_rows(block: Any, block_info: Any = None) -> Any:
    number = block_info[0]["chunk-location"][0]
    return np.random.default_rng(number).normal(size=(len(block), D))


def rows(n: int, chunks: int) -> Any:
    """Rows that workers make: in the graph they would be in the memory of every worker."""
    empty = da.zeros((n, 1), chunks=(n // chunks, 1))
    return empty.map_blocks(make_rows, dtype=float, chunks=(empty.chunks[0], (D,)))


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(x.split()[1]) << 10 for x in status.splitlines() if x.startswith("VmHWM"))


def fit(X: Any, triplets: Any) -> None:
    """Some evaluations and a certificate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        TripletSDPMetric(**SETTINGS).fit(X, triplets)


@pytest.mark.hard
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are those of Linux")
def test_a_worker_needs_at_most_twice_its_rows() -> None:
    triplets = random_triplets(np.random.default_rng(0), N, M)
    with local_cluster(WORKERS) as client:
        # Everything is loaded and compiled before.
        small = random_triplets(np.random.default_rng(1), 2000, 20_000)
        fit(rows(2000, 4), small)
        client.run(forget_peak)
        before = client.run(peak)
        fit(rows(N, 8), triplets)
        after = client.run(peak)
    # Parts are made by anchors, so each mentions the far and near rows of half of them.
    parts = np.array_split(triplets[np.argsort(triplets[:, 0])], WORKERS)
    most = max(len(np.unique(part)) for part in parts)
    allowed = 2 * 8 * D * most + 100 * M // WORKERS
    taken = max(after[worker] - before[worker] for worker in before)
    assert 8 * D * most < taken <= SLACK * allowed
