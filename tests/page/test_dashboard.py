"""The dashboard's numbers and its downloads."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from starlette.testclient import TestClient

from sdpmetric import Responses, load
from sdpmetric.page.questions import Question
from sdpmetric.page.study import Study
from tests.page.test_learner import answered
from tests.support.pages import Person, client_of, new_study, words

pytestmark = pytest.mark.slow


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = new_study(tmp_path, words(30, 5), target=60, catch=[Question((0, 1, 2), "catch", 2)])
    for who in ("guest.ada", "guest.bo"):
        answered(study, 40, who)
    Person(client_of(study), study, "guest.ada").answer(None)
    study.learner.learn()
    return study


@pytest.fixture
def client(study: Study) -> TestClient:
    client = client_of(study)
    client.get(f"/dashboard?token={study.store.token}")
    return client


def test_numbers(client: TestClient, study: Study) -> None:
    data = client.get("/dashboard/data").json()
    assert data["answers"]["count"] == 81
    assert data["answers"]["skipped"] == 1
    assert sum(data["answers"]["bars"]) == 81
    assert [(p["name"], p["answered"]) for p in data["people"]] == [
        ("guest.ada", 41),
        ("guest.bo", 40),
    ]
    assert data["certificate"]["converged"]
    assert data["certificate"]["gap"] <= data["certificate"]["tol"]
    assert data["learned_from"] == study.learner.learned.n_answers
    assert data["features"][0]["name"] == "f0"  # what these people look at
    assert sum(f["weight"] for f in data["features"]) == pytest.approx(1.0)
    assert data["curve"][-1]["accuracy"] == data["accuracy"]["learned"]["accuracy"]
    assert data["accuracy"]["learned"]["low"] <= data["accuracy"]["learned"]["accuracy"]
    for name in ("before", "after"):
        assert np.abs(data["map"][name]).max() == pytest.approx(1.0, abs=1e-3)
    Z = study.stimuli.standard
    one = data["neighbours"][0]
    expected = np.argsort(cdist(Z, Z)[one["item"]])[1:4].tolist()
    assert one["before"] == expected


def test_catch_questions_by_participant(tmp_path: Path) -> None:
    """Two of three are answered as expected."""
    catch = [Question((0, 1, 2), "catch", 2), Question((3, 4, 5), "catch", 4)]
    study = new_study(tmp_path, target=6, catch=catch)
    ada = Person(client_of(study), study)
    expected = {frozenset(q.rows): q.expected for q in catch}
    wrong = True
    for _ in range(6):
        rows = [item["row"] for item in ada.view["questions"][0]["items"]]
        place = 0
        if frozenset(rows) in expected:
            place = rows.index(expected[frozenset(rows)])
            place, wrong = ((place + 1) % 3, False) if wrong else (place, wrong)
        ada.answer(place)
    client = client_of(study)
    client.get(f"/dashboard?token={study.store.token}")
    [person] = client.get("/dashboard/data").json()["people"]
    assert person["catch"] == [1, 2]


def test_catch_questions_on_the_same_items_with_other_anchors(tmp_path: Path) -> None:
    catch = [Question((0, 1, 2), "catch", 1), Question((1, 0, 2), "catch", 2)]
    study = new_study(tmp_path, kind="2afc", target=6, catch=catch)
    ada = Person(client_of(study), study)
    expected = {(q.rows[0], frozenset(q.rows)): q.expected for q in catch}
    found = set()
    for _ in range(6):
        rows = [item["row"] for item in ada.view["questions"][0]["items"]]
        key = rows[0], frozenset(rows)
        found |= {key} & expected.keys()
        ada.answer(rows.index(expected.get(key, rows[1])))
    assert found == expected.keys()
    client = client_of(study)
    client.get(f"/dashboard?token={study.store.token}")
    [person] = client.get("/dashboard/data").json()["people"]
    assert person["catch"] == [2, 2]


def test_only_what_has_changed_is_sent(client: TestClient, study: Study) -> None:
    number = client.get("/dashboard/data").json()["number"]
    assert client.get(f"/dashboard/data?known={number}").json() == {"number": number}
    Person(client, study).answer()
    assert "answers" in client.get(f"/dashboard/data?known={number}").json()


def test_before_the_first_answer(tmp_path: Path) -> None:
    study = new_study(tmp_path, participants=["ada"])
    study.learner.learn()
    client = client_of(study)
    client.get(f"/dashboard?token={study.store.token}")
    data = client.get("/dashboard/data").json()
    assert data["answers"]["count"] == 0
    assert data["accuracy"] is None
    assert "certificate" not in data
    assert [link["name"] for link in data["links"]] == ["ada"]
    assert client.get("/dashboard/download/answers.csv").text == "participant,a,b,c,odd\n"
    assert client.get("/dashboard/download/model.safetensors").status_code == 409
    assert client.get("/dashboard/download/answers.db").status_code == 404


def test_answers_in_three_formats(client: TestClient, study: Study, tmp_path: Path) -> None:
    """Each is read by `Responses` as the study file itself is."""
    expected = Responses.from_study(study.store.path, ids=study.stimuli.ids)
    text = client.get("/dashboard/download/answers.csv").text
    lines = client.get("/dashboard/download/answers.jsonl").text.splitlines()
    tables = [list(csv.DictReader(io.StringIO(text))), [json.loads(line) for line in lines]]
    parquet = pytest.importorskip("pyarrow.parquet")
    content = client.get("/dashboard/download/answers.parquet").content
    tables.append(parquet.read_table(io.BytesIO(content)))
    for table in tables:
        found = Responses.from_odd_one_out(
            table, "odd", ids=study.stimuli.ids, participants="participant"
        )
        assert found.triplets.tolist() == expected.triplets.tolist()
        assert found.participants is not None
        assert expected.participants is not None
        assert found.participants.tolist() == expected.participants.tolist()


def test_the_whole_log(client: TestClient, study: Study) -> None:
    bo = Person(client, study, "guest.bo")
    client.post(f"{bo.path}/withdraw")
    text = client.get("/dashboard/download/log.jsonl").text
    rows = [json.loads(line) for line in text.splitlines()]
    answers = [row for row in rows if row["kind"] == "answer"]
    assert {row["participant"] for row in answers} == {"guest.ada"}
    assert all(row["seconds"] == 1.5 for row in answers)
    [gone] = [row for row in rows if row["kind"] == "withdrawal"]
    assert gone["answers"] == 40
    assert "bo" not in text


def test_the_model_is_for_rows_as_they_stand_in_the_table(
    client: TestClient, study: Study, tmp_path: Path
) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(client.get("/dashboard/download/model.safetensors").content)
    model, metric = load(file), study.learner.learned.metric
    assert metric is not None
    assert np.trace(model.get_mahalanobis_matrix()) == pytest.approx(1.0)
    found = model.pairwise_distances(pd.DataFrame(study.stimuli.X, columns=study.stimuli.names))
    expected = metric.pairwise_distances(study.stimuli.standard)
    np.testing.assert_allclose(found / found[0, 1], expected / expected[0, 1], rtol=1e-9)
    assert model.feature_names_in_.tolist() == list(study.stimuli.names)
    eigenvalues = np.linalg.eigvalsh(model.get_mahalanobis_matrix())[::-1]
    np.testing.assert_allclose(
        model.eigenvalues_, eigenvalues[: len(model.eigenvalues_)], atol=1e-12
    )
