"""Real Dask clusters of a few processes, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def local_cluster(n_workers: int = 2, **options: Any) -> Iterator[Any]:
    """A client of a new cluster of processes with one thread each; both are closed at the end."""
    pytest.importorskip("distributed")
    from distributed import Client, LocalCluster

    settings: dict[str, Any] = {
        **{"threads_per_worker": 1, "processes": True, "dashboard_address": None},
        **{"memory_limit": "2GB", "silence_logs": 50},
        **options,
    }
    with LocalCluster(n_workers=n_workers, **settings) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers, timeout=60)
        yield client
