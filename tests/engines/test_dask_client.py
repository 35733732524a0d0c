"""The engine on a Dask client: versions, names of tasks, BLAS, errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sdpmetric.engines.dask_client import DaskClient, current_engine
from sdpmetric.engines.threads import Threads
from tests.support.clusters import local_cluster

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_cluster() as client:
        yield client


def squared(part: float) -> float:
    return part * part


def total(parts: list[float]) -> float:
    return sum(parts)


def fails(part: int) -> int:
    raise ValueError(f"part {part} is bad")


def follows(part: int) -> int:
    return part + 1


def blas_threads(_: Any) -> list[int]:
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def allow_blas_threads() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(2, "blas")


def forget_sdpmetric() -> None:
    sys.modules["_kept"] = sys.modules["sdpmetric"]
    sys.modules["sdpmetric"] = None  # type: ignore[assignment]


def remember_sdpmetric() -> None:
    sys.modules["sdpmetric"] = sys.modules.pop("_kept")


def set_version(version: str) -> str:
    import sdpmetric

    before, sdpmetric.__version__ = sdpmetric.__version__, version
    return before


def test_the_engine_is_that_of_the_current_client(client: Any) -> None:
    engine = current_engine()
    assert isinstance(engine, DaskClient)
    assert engine.client is client
    assert engine.n_workers == 2


def test_tasks_are_named_after_their_functions(client: Any) -> None:
    from dask.utils import key_split

    engine = DaskClient(client)
    handles = engine.map(squared, [1.0, 2.0])
    merged = engine.reduce(total, handles)
    assert [key_split(h.key) for h in (*handles, merged)] == [
        *["sdpmetric-squared"] * 2,
        "sdpmetric-total",
    ]
    assert engine.collect([merged]) == [5.0]


def test_an_argument_that_all_tasks_share_is_one_task(client: Any) -> None:
    """A copy of P in every task would go through the scheduler each time."""
    engine = DaskClient(client)
    P = np.arange(10.0)
    handles = engine.map(np.add, [1.0, 2.0, 3.0], P)
    np.testing.assert_array_equal(engine.collect(handles)[2], P + 3.0)
    dependencies = client.run_on_scheduler(depend_on, [h.key for h in handles])
    assert len(dependencies) == 1


def depend_on(keys: list[str], dask_scheduler: Any) -> list[str]:
    return sorted({d.key for key in keys for d in dask_scheduler.tasks[key].dependencies})


def test_blas_has_one_thread_in_a_task(client: Any) -> None:
    client.run(allow_blas_threads)
    counts = DaskClient(client).collect(DaskClient(client).map(blas_threads, [0, 1, 2]))
    assert counts
    assert {n for found in counts for n in found} == {1}


def test_the_error_of_a_task_is_raised_once_whoever_depends_on_it(client: Any) -> None:
    engine = DaskClient(client)
    handles = engine.map(follows, engine.map(fails, [7, 7]))
    with pytest.raises(ValueError, match="part 7 is bad"):
        engine.collect([engine.reduce(total, handles)])


def test_a_worker_without_sdpmetric_is_named_before_any_work(client: Any) -> None:
    worker = sorted(client.scheduler_info()["workers"])[1]
    client.run(forget_sdpmetric, workers=[worker])
    try:
        with pytest.raises(RuntimeError, match=f"worker {worker} cannot import sdpmetric"):
            current_engine()
    finally:
        client.run(remember_sdpmetric, workers=[worker])
    current_engine()


def test_a_worker_with_another_version_is_named_before_any_work(client: Any) -> None:
    worker = sorted(client.scheduler_info()["workers"])[0]
    before = client.run(set_version, "0.0.1", workers=[worker])[worker]
    try:
        with pytest.raises(RuntimeError, match=f"worker {worker} has sdpmetric 0.0.1"):
            current_engine()
    finally:
        client.run(set_version, before, workers=[worker])
    current_engine()


def test_without_a_client_threads_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert isinstance(current_engine(), Threads)
