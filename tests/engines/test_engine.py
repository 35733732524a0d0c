"""Engines: the same results from threads, processes and Dask, in the same order."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from sdpmetric.engines.dask_client import DaskClient
from sdpmetric.engines.engine import Engine, LostResultsError, Resident, again, tree
from sdpmetric.engines.processes import Processes
from sdpmetric.engines.threads import Threads, thread_pool
from tests.support.clusters import local_cluster


def scaled(part: list[float], factor: float) -> list[float]:
    return [factor * x for x in part]


def joined(parts: list[list[float]]) -> list[float]:
    return [x for part in parts for x in part]


def length(part: list[float]) -> int:
    return len(part)


def pair(both: list[list[float]]) -> tuple[int, ...]:
    return tuple(map(len, both))


def process(_: object) -> int:
    return os.getpid()


def fails(part: int) -> int:
    if part == 2:
        raise ValueError("part 2 is bad")
    return part


def dies(_: object) -> None:
    os._exit(1)


@pytest.fixture(scope="module", params=["threads", "processes", "dask"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "threads":
        with thread_pool(2):
            yield Threads()
    elif request.param == "processes":
        with Processes(2) as processes:
            yield processes
    else:
        with local_cluster() as client:
            yield DaskClient(client)


PARTS = [[float(i), float(i) / 3.0] for i in range(20)]


def test_map_reduce_collect(engine: Engine) -> None:
    handles = engine.map(scaled, PARTS, 3.0)
    expected = [[3.0 * x for x in part] for part in PARTS]
    assert engine.collect(handles) == expected
    assert engine.collect([engine.reduce(joined, handles)]) == [joined(expected)]


def test_handles_are_arguments_too(engine: Engine) -> None:
    (factor,) = engine.map(length, [PARTS[:7]])
    handles = engine.map(scaled, PARTS, factor)
    assert engine.collect(handles)[3] == [21.0, 7.0]
    assert engine.collect(engine.map(pair, [[handles[0], handles[1], [1.0]]])) == [(2, 2, 1)]


def test_the_error_of_a_task_is_raised(engine: Engine) -> None:
    with pytest.raises(ValueError, match="part 2 is bad"):
        engine.collect(engine.map(fails, [0, 1, 2, 3]))
    assert engine.collect(engine.map(fails, [0, 1])) == [0, 1]


def test_processes_run_tasks_where_their_parts_are() -> None:
    with Processes(2) as engine:
        handles = engine.map(scaled, PARTS[:4], 1.0)
        first = engine.collect(engine.map(process, handles))
        assert first == engine.collect(engine.map(process, handles[:2])) * 2
        assert len({*first, os.getpid()}) == 3


def test_a_process_that_dies_ends_the_work_with_one_error() -> None:
    with Processes(1) as engine:
        with pytest.raises(RuntimeError, match="worker process ended"):
            engine.map(dies, [0])
        with pytest.raises(RuntimeError, match="worker process ended"):
            engine.map(process, [0])


@pytest.mark.parametrize("n", [1, 2, 8, 9, 64, 65])
def test_a_tree_keeps_the_order_and_merges_few_at_a_time(n: int) -> None:
    sizes = []

    def merge(parts: list[list[int]]) -> list[int]:
        sizes.append(len(parts))
        return [x for part in parts for x in part]

    assert tree(merge, [[i] for i in range(n)]) == list(range(n))
    assert max(sizes, default=1) <= 8


def test_the_rounding_of_a_sum_is_that_of_the_tree(engine: Engine) -> None:
    numbers = [[float(x)] for x in np.random.default_rng(0).normal(size=100)]
    expected = tree(lambda parts: [sum(x for (x,) in parts)], numbers)
    assert engine.collect([engine.reduce(added, numbers)]) == [expected]


def added(parts: list[list[float]]) -> list[float]:
    return [sum(x for (x,) in parts)]


class Forgetful(Threads):
    """Loses all results at some calls of `collect`."""

    epoch = 0

    def __init__(self, losses: int) -> None:
        self.losses = losses

    def collect(self, results: object) -> list[object]:
        if self.epoch < self.losses:
            self.epoch += 1
            raise LostResultsError
        return list(results)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("losses", [0, 1, 4, 5])
def test_lost_results_are_made_again_a_few_times(losses: int) -> None:
    engine, made = Forgetful(losses), []

    def make() -> list[int]:
        made.append(engine.epoch)
        return [engine.epoch]

    kept = Resident(engine, make)

    def call() -> list[object]:
        return engine.collect(kept.handles)

    if losses < 5:
        assert again(call) == [losses]
        assert made == list(range(losses + 1))
    else:
        with pytest.raises(LostResultsError):
            again(call)
