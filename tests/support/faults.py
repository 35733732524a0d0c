"""What goes wrong on clusters, done to a real one: workers killed, added, paused, lines cut."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Self

import numpy as np

from sdpmetric import TripletSDPMetric
from tests.support.problems import random_triplets

__all__ = ["FAULTS", "Disturbed", "Saboteur", "pids"]

SETTINGS: dict[str, Any] = {"coordinates": "raw", "tol": 1e-3}

# In a worker: what `hold` keeps.
_held: list[Any] = []


def pids(client: Any) -> list[int]:
    """The processes of all workers."""
    return sorted(client.run(os.getpid, on_error="ignore").values())


def kill_one(client: Any) -> None:
    """A worker is killed; its nanny starts another one."""
    os.kill(pids(client)[0], signal.SIGKILL)


def kill_all_but_one(client: Any) -> None:
    """All workers but one are killed and stay away."""
    cluster = client.cluster
    for name in list(cluster.workers)[1:]:
        nanny = cluster.workers[name]
        cluster.worker_spec.pop(name)  # else the cluster would start another one
        nanny.close_gracefully()  # else the nanny would
        os.kill(nanny.pid, signal.SIGKILL)


def add_one(client: Any) -> None:
    """A worker comes."""
    client.cluster.scale(len(client.cluster.workers) + 1)


def cut_the_line(client: Any) -> None:
    """The connection of the client to the scheduler is dropped; the client connects again."""
    client.loop.add_callback(client.scheduler_comm.comm.abort)


def pause_one(client: Any, seconds: float = 3.0) -> None:
    """A worker reaches its memory limit, is paused, and goes on when the memory is free again."""
    workers = sorted(client.scheduler_info()["workers"])[:1]
    client.run(hold, workers=workers)
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        status = client.scheduler_info()["workers"].get(workers[0], {}).get("status")
        if status == "paused":
            break
        time.sleep(0.05)
    else:
        raise TimeoutError("the worker was not paused")
    time.sleep(seconds)
    client.run(let_go, workers=workers)


def hold(dask_worker: Any) -> None:
    """Fill the memory of this worker up to above the limit at which it is paused."""
    import psutil

    memory = dask_worker.memory_manager
    target = (memory.memory_pause_fraction + 0.05) * memory.memory_limit
    missing = int(target - psutil.Process().memory_info().rss)
    _held.append(np.ones(max(missing, 0) // 8 + 1))


def let_go() -> None:
    _held.clear()


FAULTS: dict[str, Callable[[Any], None]] = {
    "a worker is killed": kill_one,
    "all workers but one are killed": kill_all_but_one,
    "a worker is added": add_one,
    "a worker is paused": pause_one,
    "the connection is dropped": cut_the_line,
}


class Saboteur:
    """Does something to a cluster once a fit has made some steps, plus a delay; a callback.

    ``happened`` says when: the number of steps then, or None if the fit was faster.
    """

    def __init__(self, client: Any, fault: Callable[[Any], None], at: int, delay: float = 0.0):
        self.client, self.fault, self.at, self.delay = client, fault, at, delay
        self.happened: int | None = None
        self.steps = 0
        self.error: BaseException | None = None
        self._begin, self._over = Event(), Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def __call__(self, now: Any) -> bool:
        self.steps = now.n_iter
        if now.n_iter >= self.at:
            self._begin.set()
        return False

    def end(self) -> None:
        """Wait for what has begun."""
        self._over.set()
        self._begin.set()
        self._thread.join(timeout=60.0)
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        self._begin.wait()
        if self._over.wait(self.delay):
            return
        try:
            self.happened = self.steps
            self.fault(self.client)
        except BaseException as error:
            self.error = error


@dataclass(frozen=True, eq=False)
class Disturbed:
    """A problem whose rows are made where they are needed, and its fit in memory."""

    rows: Any
    triplets: Any
    expected: Any

    @classmethod
    def make(cls, n_rows: int, n_comparisons: int, n_features: int = 8, chunks: int = 6) -> Self:
        import dask
        import dask.array as da

        length = n_rows // chunks
        blocks = [
            da.from_delayed(
                dask.delayed(make_rows)(i, length, n_features), (length, n_features), float
            )
            for i in range(chunks)
        ]
        X = np.concatenate([make_rows(i, length, n_features) for i in range(chunks)])
        rng = np.random.default_rng(0)
        T = random_triplets(rng, len(X), n_comparisons)
        d = [np.sum((X[T[:, 0], :3] - X[T[:, side], :3]) ** 2, axis=1) for side in (1, 2)]
        # Answers of a metric on three columns, 15 % of them wrong.
        swapped = (d[0] > d[1]) ^ (rng.random(len(T)) < 0.15)
        T[swapped] = T[swapped][:, [0, 2, 1]]
        return cls(da.concatenate(blocks), T, TripletSDPMetric(**SETTINGS).fit(X, T))

    def fit(self, saboteur: Saboteur | None, **settings: Any) -> Any:
        """A fit on the current cluster, disturbed."""
        metric = TripletSDPMetric(**SETTINGS | settings)
        metric._watch = saboteur
        return metric.fit(self.rows, self.triplets)

    def check(self, metric: Any) -> None:
        """The optimum of the fit in memory, within the two brackets, and converged."""
        expected = self.expected
        assert metric.converged_
        assert max(metric.objective_, expected.objective_) <= min(
            metric.upper_bound_, expected.upper_bound_
        )


def make_rows(number: int, n: int, n_features: int) -> Any:
    """Rows of a chunk, made where they are needed: these survive every fault."""
    rng = np.random.default_rng(number)
    return rng.normal(size=(n, n_features)) * np.linspace(1.0, 2.0, n_features)
