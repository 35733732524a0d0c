"""The background fit: certified, warm-started, judged by random questions, never in the way."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from sdpmetric import TripletSDPMetric
from sdpmetric.page.collected import Collected
from sdpmetric.page.learner import Learner
from sdpmetric.page.study import Study
from sdpmetric.page.trainer import Learned
from sdpmetric.responses.study_files import reading
from tests.support.pages import Person, answer_to, client_of, new_study, words


def answered(study: Study, n: int, who: str = "guest.ada", seed: int = 0) -> None:
    """A person who looks at the first feature alone answers n questions."""
    person = Person(client_of(study), study, who)
    x = study.stimuli.X[:, 0]
    for _ in range(n):
        question = person.view["questions"][0]
        a, b, c = (x[item["row"]] for item in question["items"])
        person.send(answer_to(question, int(np.argmin([abs(b - c), abs(a - c), abs(a - b)]))))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return new_study(tmp_path, words(30, 5), target=200)


def test_before_the_first_answer(study: Study) -> None:
    study.learner.learn()
    assert study.learner.learned.metric is None
    assert study.chooser.n_offered > 0  # by the prior: Euclidean distance


@pytest.mark.slow
def test_it_learns_what_people_look_at(study: Study) -> None:
    answered(study, 30)
    study.learner.learn()
    first = study.learner.learned.metric
    assert first is not None
    assert first.converged_
    before = first.components_.copy()
    weights = []
    for who in ("guest.bo", "guest.cy"):
        answered(study, 50, who)
        study.learner.learn()
        metric = study.learner.learned.metric
        assert isinstance(metric, TripletSDPMetric)
        assert metric.converged_
        assert metric.gap_ <= metric.tol
        diagonal = np.diag(metric.get_mahalanobis_matrix())
        weights.append(diagonal[0] / diagonal.sum())
    assert weights[-1] > 0.6
    assert study.learner.learned.n_answers == 130
    # What was published before is not changed by a later fit.
    assert np.array_equal(first.components_, before)
    accuracy = study.learner.learned.accuracy
    assert accuracy is not None
    assert accuracy.learned.accuracy > accuracy.euclidean.accuracy
    logged = study.store.rows("SELECT answers, converged, accuracy FROM fits ORDER BY id")
    assert [(n, converged) for n, converged, _ in logged] == [(30, 1), (80, 1), (130, 1)]
    assert json.loads(logged[-1][2])["accuracy"] == accuracy.learned.accuracy


@pytest.mark.slow
def test_asking_does_not_wait_for_a_fit(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(self: Learner) -> Iterator[Learned]:
        inside.set()
        assert go_on.wait(30)
        yield Learned(judged=True)

    monkeypatch.setattr(Learner, "_asked", slow)
    study.learner.start()
    assert inside.wait(30)
    answered(study, 10)  # each answer brings the next question
    go_on.set()
    study.close()


@pytest.mark.slow
def test_a_fit_that_fails_ends_nothing(
    study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls = []

    def failing(self: Learner) -> Iterator[Learned]:
        calls.append(1)
        raise ArithmeticError

    monkeypatch.setattr(Learner, "_asked", failing)
    study.learner.start()
    answered(study, 12)
    for _ in range(300):
        if len(calls) > 1:
            break
        time.sleep(0.05)
    study.close()
    assert len(calls) > 1
    assert "could not be fitted" in caplog.text


@pytest.mark.slow
def test_ten_thousand_answers_over_a_hundred_features(tmp_path: Path) -> None:
    """A fit after a few more answers needs few evaluations; times are in the benchmark."""
    rng = np.random.default_rng(0)
    study = new_study(tmp_path, words(200, 100), target=20_000)
    x = study.stimuli.X[:, :5]
    with study.store.transaction() as connection:
        connection.execute("INSERT INTO sessions VALUES ('s', 'p', 0)")
        for trial in range(1, 10_001):
            rows = rng.choice(200, 3, replace=False)
            a, b, c = (study.stimuli.ids[i] for i in rows)
            P = x[rows] + rng.normal(scale=0.3, size=(3, 5))
            far = [np.linalg.norm(P[(i + 1) % 3] - P[(i + 2) % 3]) for i in range(3)]
            odd = (a, b, c)[int(np.argmin(far))]
            event = (trial, "asked", 0, a, b, c, None), (trial, "answer", 1, None, None, None, odd)
            connection.executemany(
                "INSERT INTO events (session, trial, kind, attempt, a, b, c, choice, time, source)"
                " VALUES ('s', ?, ?, ?, ?, ?, ?, ?, 0, 'active')",
                event,
            )
    study.learner.learn()
    study.learner.learn()
    metric = study.learner.learned.metric
    assert metric is not None
    assert metric.converged_
    assert metric.n_iter_ < 40
    assert study.learner.learned.n_answers == 10_000


def test_withdrawn_answers_are_forgotten(study: Study) -> None:
    answered(study, 6)
    person = Person(client_of(study), study)
    person.client.post(f"{person.path}/withdraw")
    study.learner.learn()
    assert study.learner.learned.metric is None
    with reading(study.store.path) as connection:
        assert Collected.of(connection, study.stimuli, "odd-one-out").n_answers == 0


def test_few_items_run_out_of_questions(tmp_path: Path) -> None:
    study = new_study(tmp_path, words(4), target=12)
    study.learner.learn()
    answered(study, 6)
    study.learner.learn()  # every question was asked: nothing to offer, no error
    answered(study, 6)
    assert study.store.rows("SELECT count(*) FROM answers") == [(12,)]


@pytest.mark.slow
def test_the_process_that_learns_is_killed(study: Study, caplog: pytest.LogCaptureFixture) -> None:
    """It is started again, and no process is left when the study is closed."""
    answered(study, 6)
    study.learner.start()
    wait_for(lambda: study.learner.learned.n_answers == 6)
    first = study.learner._process
    assert first is not None
    first.kill()
    first.join()
    answered(study, 6, "guest.bo")
    answered(study, 6, "guest.cy")
    wait_for(lambda: study.learner.learned.n_answers > 6)
    assert "could not be fitted" in caplog.text
    second = study.learner._process
    assert second is not None
    study.close()
    assert not second.is_alive()


def wait_for(condition: Callable[[], bool]) -> None:
    # The process that learns yields to all others, and may have to compile first.
    for _ in range(1800):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come true in three minutes")
