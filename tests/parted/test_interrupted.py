"""Fits that meet a paused worker, or whose client is killed: the same certified objective."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from sdpmetric import TripletSDPMetric
from tests.support.clusters import local_cluster
from tests.support.faults import SETTINGS, Disturbed, hold, let_go

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def problem() -> Disturbed:
    return Disturbed.make(n_rows=1200, n_comparisons=8000)


class Paused:
    """A callback: fills the memory of a worker for some steps of a fit, and counts these steps."""

    def __init__(self, client: Any, begin: int = 2, steps: int = 2) -> None:
        self.client, self.begin, self.left = client, begin, steps
        self.worker = sorted(client.scheduler_info()["workers"])[0]
        self.steps, self.begun = 0, False
        self.late = Timer(60.0, self.release)  # so that a fit that waits for the worker ends

    def __call__(self, now: Any) -> bool:
        if self.paused:
            self.steps += 1
            if self.steps == self.left:
                self.release()
        elif now.n_iter >= self.begin and not self.begun:
            self.begun = True
            self.client.run(hold, workers=[self.worker])
            self.late.start()
            end = time.monotonic() + 20.0
            while time.monotonic() < end:
                time.sleep(0.05)
                if self.paused:
                    break
        return False

    @property
    def paused(self) -> bool:
        return self._status == "paused"

    @property
    def _status(self) -> str:
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return str(workers[self.worker]["status"])

    def release(self) -> None:
        self.late.cancel()
        self.client.run(let_go, workers=[self.worker])


def test_a_fit_makes_steps_while_a_worker_is_paused(problem: Disturbed) -> None:
    """The part of the paused worker is fetched from there; no task waits for that worker."""
    with local_cluster(2, memory_limit="600MB") as client:
        paused = Paused(client)
        problem.check(problem.fit(paused))  # type: ignore[arg-type]
    assert paused.steps >= paused.left


def test_a_fit_goes_on_where_its_client_was_killed(
    client: Any, problem: Disturbed, tmp_path: Path
) -> None:
    (tmp_path / "data").write_bytes(pickle.dumps((problem.rows, problem.triplets)))
    command = [sys.executable, "-m", "tests.parted.killed_client", client.scheduler.address]
    child = subprocess.Popen([*command, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "written\n"
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    seen: list[int] = []
    metric = TripletSDPMetric(**SETTINGS, checkpoint=tmp_path / "state")
    metric._watch = lambda now: seen.append(now.n_iter)
    problem.check(metric.fit(problem.rows, problem.triplets))
    # The evaluations of both processes: the second one did not begin at the start.
    assert metric.n_iter_ > seen[-1] > 0
