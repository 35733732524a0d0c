"""What a browser sends and gets: nothing is lost, nothing counts twice, nothing is believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sdpmetric.page.questions import Question
from sdpmetric.page.sessions import AHEAD
from sdpmetric.page.study import Study
from tests.support.pages import Person, answer_to, client_of, new_study, undo_of


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return new_study(tmp_path)


@pytest.fixture
def ada(study: Study) -> Person:
    return Person(client_of(study), study)


def choices(study: Study) -> list[Any]:
    return [c for [c] in study.store.rows("SELECT choice FROM answers ORDER BY trial")]


def test_questions_in_advance(ada: Person) -> None:
    assert [q["trial"] for q in ada.view["questions"]] == list(range(1, AHEAD + 1))
    ada.answer()
    assert [q["trial"] for q in ada.view["questions"]] == [2, 3, 4]
    assert ada.view["answered"] == 1


def test_an_answer_that_is_sent_again_counts_once(ada: Person, study: Study) -> None:
    event = ada.answer(1)
    again = ada.send(event | {"choice": ada.view["history"][0]["items"][2]["row"]})
    assert again["saved"] == [event["key"]]
    assert again["answered"] == 1
    [row] = [q["items"][1]["row"] for q in again["history"]]
    assert choices(study) == [study.stimuli.ids[row]]


def test_undo_is_an_event_and_the_question_comes_again(ada: Person, study: Study) -> None:
    first = ada.answer(0)
    ada.answer(1)
    second = ada.view["history"][-1]
    view = ada.send(undo_of({"trial": 2, "attempt": 1}))
    assert view["answered"] == 1
    assert view["questions"][0]["trial"] == 2
    assert view["questions"][0]["attempt"] == 2
    assert view["questions"][0]["items"] == second["items"]
    assert ada.send(undo_of({"trial": 2, "attempt": 1}))["answered"] == 1  # sent again
    ada.answer(2)
    assert ada.view["answered"] == 2
    ids = study.stimuli.ids
    assert choices(study) == [ids[first["choice"]], ids[second["items"][2]["row"]]]
    kinds = [k for [k] in study.store.rows("SELECT kind FROM events WHERE trial = 2 ORDER BY id")]
    assert kinds == ["asked", "answer", "undo", "answer"]


def test_a_whole_queue_at_once(ada: Person) -> None:
    """As after some time without a connection: an answer, its undo, the answer after it."""
    one, two, _ = ada.view["questions"]
    first = answer_to(one, 0)
    second = answer_to(one | {"attempt": 2}, 1)
    view = ada.send(first, undo_of(first), second, answer_to(two, 2))
    assert view["refused"] == []
    assert view["answered"] == 2


def test_cannot_tell(ada: Person, study: Study) -> None:
    ada.answer(None)
    assert ada.view["answered"] == 1
    assert choices(study) == [None]


def test_the_target_ends_the_questions(tmp_path: Path) -> None:
    study = new_study(tmp_path, target=5)
    ada = Person(client_of(study), study)
    for _ in range(5):
        ada.answer()
    assert ada.view["questions"] == []
    assert ada.view["answered"] == ada.view["target"] == 5


def test_the_completion_code_is_told_at_the_end(tmp_path: Path) -> None:
    """Whoever reads the page before could claim to have answered."""
    study = new_study(tmp_path, target=2, completion="https://example.org/?cc=SECRET")
    ada = Person(client_of(study), study)
    assert "SECRET" not in ada.client.get(ada.path).text
    assert ada.view["completion"] == ""
    ada.answer()
    assert ada.view["completion"] == ""
    ada.answer()
    assert ada.view["completion"] == "https://example.org/?cc=SECRET"


def test_no_answer_without_consent(tmp_path: Path) -> None:
    study = new_study(tmp_path, target=5, texts={"consent": "Do you agree?"})
    ada = Person(client_of(study), study)
    first = answer_to(ada.view["questions"][0])
    ada.send(first)
    assert ada.view["refused"] == [first["key"]]
    ada.send({"key": "step:consent", "kind": "consent"}, first)
    assert ada.view["saved"] == ["step:consent", first["key"]]
    assert len(choices(study)) == 1


def test_practice_comes_first_and_does_not_count(tmp_path: Path) -> None:
    study = new_study(tmp_path, target=4, practice=2, texts={"practice": "Try."})
    ada = Person(client_of(study), study)
    assert [q["practice"] for q in ada.view["questions"]] == [True, True, False]
    ada.answer()
    ada.answer()
    assert ada.view["answered"] == 0
    for _ in range(4):
        ada.answer()
    assert ada.view["answered"] == 4
    assert ada.view["questions"] == []


def test_steps_are_kept(ada: Person) -> None:
    ada.send({"key": "step:consent", "kind": "consent"})
    ada.send({"key": "step:consent", "kind": "consent"}, {"key": "i", "kind": "instructions"})
    assert ada.view["steps"] == ["consent", "instructions"]


def test_two_participants(study: Study) -> None:
    client = client_of(study)
    ada, bo = Person(client, study, "guest.ada"), Person(client, study, "guest.bo")
    for _ in range(4):
        ada.answer(0)
    bo.answer(1)
    assert (ada.view["answered"], bo.view["answered"]) == (4, 1)
    found = study.store.rows("SELECT participant, count(*) FROM answers GROUP BY 1 ORDER BY 1")
    assert found == [("guest.ada", 4), ("guest.bo", 1)]


def test_resume_by_the_same_link(ada: Person, study: Study) -> None:
    ada.answer()
    before = ada.view["questions"]
    again = Person(ada.client, study)
    assert again.view["questions"] == before
    assert again.view["answered"] == 1
    assert [q["trial"] for q in again.view["history"]] == [1]


def test_resume_after_the_server_has_ended(tmp_path: Path, ada: Person, study: Study) -> None:
    ada.answer()
    before = ada.view["questions"]
    study.close()
    again = new_study(tmp_path)
    assert Person(client_of(again), again).view["questions"] == before
    assert Person(client_of(again), again).view["answered"] == 1


BAD = {
    "a trial that was not asked": {"trial": 99},
    "an attempt too many": {"attempt": 2},
    "an item that was not shown": {"choice": 10_000},
    "a choice that is true": {"choice": True},
    "a choice by name": {"choice": "w01"},
    "a negative trial": {"trial": -1},
    "a trial as text": {"trial": "1"},
    "a number of infinite size": {"trial": 10**400},
    "an unknown kind": {"kind": "asked"},
    "a kind that is a list": {"kind": ["answer"]},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_bad_events_are_refused_and_the_others_stored(
    ada: Person, study: Study, change: dict[str, Any]
) -> None:
    one, two, _ = ada.view["questions"]
    bad = answer_to(one) | change | {"key": "bad"}
    view = ada.send(bad, answer_to(two))
    assert view["refused"] == ["bad"]
    assert len(choices(study)) == 1
    assert view["questions"][0] == one


def test_events_that_are_no_objects(ada: Person) -> None:
    keys = [{"key": key, "kind": "answer"} for key in ("\ud800", "", "x" * 99, 7, None)]
    view = ada.send(*[1, None, "x", [], {}, *keys])  # type: ignore[arg-type]
    assert (view["saved"], view["refused"]) == ([], [])


@pytest.mark.parametrize("seconds", ["1", None, True, -1.0, 1e300])
def test_times_that_make_no_sense_are_left_out(ada: Person, study: Study, seconds: Any) -> None:
    ada.answer(0, seconds=seconds)
    assert study.store.rows("SELECT seconds FROM answers") == [(None,)]


def test_an_undo_of_an_unanswered_question_is_refused(ada: Person) -> None:
    assert ada.send(undo_of({"trial": 1, "attempt": 1}))["refused"] == ["undo:1:1"]


def test_2afc_cannot_choose_the_anchor(tmp_path: Path) -> None:
    study = new_study(tmp_path, kind="2afc")
    ada = Person(client_of(study), study)
    assert ada.send(answer_to(ada.view["questions"][0], 0))["refused"] == ["answer:1:1"]
    assert ada.send(answer_to(ada.view["questions"][0], 1))["answered"] == 1


def test_ids_are_not_sent_to_participants(ada: Person) -> None:
    """Names of files or items can tell what a study is about."""
    assert "w0" not in str(ada.view)
    assert set(ada.view["questions"][0]["items"][0]) == {"row", "text"}


def test_a_catch_question_looks_like_any_other(tmp_path: Path) -> None:
    study = new_study(tmp_path, target=4, catch=[Question((0, 1, 2), "catch", 2)])
    ada = Person(client_of(study), study)
    for _ in range(4):
        assert {"trial", "attempt", "practice", "items"} == set(ada.view["questions"][0])
        ada.answer()
    assert study.store.rows("SELECT count(*) FROM answers WHERE source = 'catch'") == [(1,)]
