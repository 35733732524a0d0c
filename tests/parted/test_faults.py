"""Fits whose cluster is disturbed: each ends with the same certified objective.

The faults are real ones, of processes and connections (`support/faults.py`). tests/campaigns/
cluster.py does the same at random moments, many times.
"""

from __future__ import annotations

from typing import Any

import pytest

from sdpmetric import TripletSDPMetric
from tests.campaigns.cluster import Count
from tests.support.clusters import local_cluster
from tests.support.faults import FAULTS, SETTINGS, Disturbed, Saboteur, pids

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def problem() -> Disturbed:
    return Disturbed.make(n_rows=1200, n_comparisons=8000)


@pytest.mark.parametrize("fault", ["a worker is killed", "the connection is dropped"])
def test_a_fit_goes_on(client: Any, problem: Disturbed, fault: str) -> None:
    """One after the other on the same cluster, which must be whole again each time."""
    client.wait_for_workers(2, timeout=60)
    saboteur = Saboteur(client, FAULTS[fault], at=3)
    problem.check(problem.fit(saboteur))
    saboteur.end()
    assert saboteur.happened is not None


def test_a_fit_goes_on_with_the_last_worker_and_with_a_new_one(problem: Disturbed) -> None:
    with local_cluster(3) as client:
        saboteur = Saboteur(client, FAULTS["all workers but one are killed"], at=3)
        problem.check(problem.fit(saboteur))
        saboteur.end()
        assert len(pids(client)) == 1
        saboteur = Saboteur(client, FAULTS["a worker is added"], at=3)
        problem.check(problem.fit(saboteur))
        saboteur.end()
        assert saboteur.happened is not None


def test_rows_that_the_user_has_persisted_may_be_lost_with_the_connection(
    client: Any, problem: Disturbed
) -> None:
    """Dask drops a client's futures with its connection, unless the client is back at once.

    Which of the two happens is a race inside Dask: the fit ends certified, or with one clear error.
    """
    saboteur = Saboteur(client, FAULTS["the connection is dropped"], at=1)
    metric = TripletSDPMetric(**SETTINGS | {"tol": 1e-6})
    metric._watch = saboteur
    lost = ""
    try:
        problem.check(metric.fit(problem.rows.persist(), problem.triplets))
    except RuntimeError as error:
        lost = str(error)
    saboteur.end()
    assert saboteur.happened is not None
    assert ("persisted" in lost) == (lost != "")
    assert hasattr(metric, "components_") == (lost == "")


def test_a_campaign_repeats_faults_that_came_too_late(capsys: pytest.CaptureFixture[str]) -> None:
    moments = []

    def attempt(late: float) -> str:
        moments.append(late)
        return "kept" if len(moments) in (3, 4) else "too late, 1 s"

    count = Count()
    count.run("a fault", 2, attempt)
    assert moments == [1.0, 0.5, 0.25, 1.0]
    assert count == Count(happened=2)
    count.run("a fault", 1, attempt)  # too late for ever
    assert len(moments) == 9
    assert count == Count(happened=2, too_late=1)
    assert capsys.readouterr().out.splitlines()[-1] == "a fault, 1 of 1: too late, 1 s"
