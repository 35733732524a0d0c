"""A program: fits on a cluster whose client may not take more memory than a part of the data.

Run by test_client_memory.py, in a process of its own, since a limit cannot be lifted again.
"""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 120 << 20  # bytes beyond those that the client has before it fits


def rows(number: int, n: int, n_features: int) -> Any:
    return np.random.default_rng(number).normal(size=(n, n_features))


def array(n: int, n_features: int, chunks: int) -> Any:
    import dask
    import dask.array as da

    length = n // chunks
    made = [dask.delayed(rows)(i, length, n_features) for i in range(chunks)]
    return da.concatenate([da.from_delayed(m, (length, n_features), float) for m in made])


def limit() -> None:
    """Let this process have LIMIT more bytes of private memory, and no more."""
    held = next(x for x in Path("/proc/self/status").read_text().splitlines() if "VmData" in x)
    most = int(held.split()[1]) * 1024 + LIMIT
    resource.setrlimit(resource.RLIMIT_DATA, (most, resource.RLIM_INFINITY))


def main() -> None:
    from distributed import Client, LocalCluster

    from sdpmetric import SDPMetric, TripletSDPMetric

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="2GB"
    )
    with cluster, Client(cluster):
        # Everything is loaded and compiled before the limit.
        small, y = array(400, 4, 4), np.arange(400) % 3
        SDPMetric(n_rounds=1, tol=0.5, n_neighbors=1, n_impostors=1).fit(small, y)
        limit()
        # 1. Rows of 205 MB, of which comparisons mention some.
        T = np.arange(1500).reshape(500, 3)
        TripletSDPMetric(tol=0.5).fit(array(200_000, 128, 16), T)
        # 2. 24,000 x 10 x 40 comparisons: 230 MB as three numbers of 8 bytes.
        metric = SDPMetric(n_rounds=1, n_neighbors=10, n_impostors=40, tol=0.5)
        metric.fit(array(24_000, 6, 8), np.arange(24_000) % 4)
        assert metric.n_triplets_ == 24_000 * 400
        # 3. The limit is one.
        try:
            np.ones(200_000 * 128)
        except MemoryError:
            print("nothing held")


if __name__ == "__main__":
    main()
