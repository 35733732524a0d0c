"""The paper's experiments, as far as they need no data: sizes, cells that resume, tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="not in the sdist")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from benchmarks.paper import runner, tables
from benchmarks.paper.cells import Store
from benchmarks.paper.judge import retrieval
from benchmarks.paper.limited import brief
from benchmarks.paper.methods import METHODS, Task
from benchmarks.paper.rows import RAW, ROWS, Part, Row, order
from benchmarks.paper.summary import BEST, Summary, difference

TOTALS = {
    "mnist-pca": 10_000,
    "mnist": 10_000,
    "orl": 400,
    "twin-peaks": 20_000,
    "wine": 178,
    "balance": 625,
    "vehicle": 846,
    "breast-cancer": 683,
    "diabetes": 768,
    "faces": 903,
}


def filled(task: Task, **record: Any) -> dict[str, Any]:
    """What a fit leaves behind, without the fit."""
    usual = {"status": "ok", "seconds": 1.0, "cpu_seconds": 1.0, "validation": 0.1, "gap": 1e-5}
    return usual | {"error": 0.1, "mistakes": [0], "params": {"C": 2.0}} | record


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cells")


def test_there_are_thirteen_rows() -> None:
    assert len(ROWS) == 13


@pytest.mark.parametrize("row", TOTALS)
def test_parts_divide_all_rows(row: str) -> None:
    parts = order(ROWS[row], TOTALS[row], run=3)
    assert [len(part) for part in parts] == list(ROWS[row].parts)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(TOTALS[row]))


@pytest.mark.parametrize(("row", "total"), [("usps", 7_291), ("letter", 15_000)])
def test_given_training_rows_are_divided(row: str, total: int) -> None:
    assert sum(ROWS[row].parts[:2]) == total


@pytest.mark.parametrize("row", [row for row in ROWS if row not in ("mnist-pca", "faces")])
def test_neighbors_give_the_printed_triplets(row: str) -> None:
    expected = ROWS[row].printed.triplets
    assert ROWS[row].parts[0] * ROWS[row].neighbors ** 2 == expected


def test_a_run_goes_on_where_it_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Task] = []

    def fill(task: Task) -> dict[str, Any]:
        if len(seen) == 3:
            raise KeyboardInterrupt
        seen.append(task)
        return filled(task)

    monkeypatch.setattr(runner, "fill", fill)
    todo = runner.tasks(["wine"], ["s-fw"], runs=2, limit=9.0, inputs=[RAW])
    assert {task.method for task in todo} == {"s", "s-fw"}
    with pytest.raises(KeyboardInterrupt):
        runner.run(todo, store)
    first = [(task.method, task.run) for task in seen]
    seen.clear()
    runner.run(todo, store)
    assert first + [(task.method, task.run) for task in seen] == [
        ("s", 0),
        ("s", 1),
        ("s-fw", 0),
        ("s-fw", 1),
    ]
    assert seen[-1].params == {"C": 2.0}  # the leader's choice


def test_what_met_its_limit_is_not_tried_on_other_splits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "fill", lambda task: {"status": "limit", "seconds": task.limit})
    runner.run(runner.tasks(["wine"], ["pylmnn"], runs=2, limit=5.0, inputs=[RAW]), store)
    assert [cell["status"] for cell in store.current()] == ["limit", "skipped"]
    monkeypatch.setattr(runner, "fill", filled)
    runner.run(runner.tasks(["wine"], ["pylmnn"], runs=2, limit=9.0, inputs=[RAW]), store)
    assert [cell["status"] for cell in store.current()] == ["ok", "ok"]


def test_cells_of_another_definition_are_not_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task("wine", RAW, 0, "s", 9.0)
    store.put(task, filled(task))
    monkeypatch.setitem(ROWS, "wine", Row("wine", "wine", sizes=(100, 39, 39)))
    assert store.get(task) is None
    assert store.current() == []


def test_numbers_of_numpy_can_be_stored(store: Store) -> None:
    task = Task("wine", RAW, 0, "s", 9.0)
    store.put(task, filled(task, params={"C": np.float64(2.0), "k": np.int64(3)}))
    found = store.get(task)
    assert found is not None
    assert found["params"] == {"C": 2.0, "k": 3}


def summary(store: Store, errors: dict[str, list[float]], **record: Any) -> Summary:
    for method, values in errors.items():
        for run, error in enumerate(values):
            task = Task("wine", RAW, run, method, 9.0)
            store.put(task, filled(task, error=error, validation=error, **record))
    return Summary(tuple(store.current()), RAW)


def test_lmnn_is_the_best_that_finished(store: Store) -> None:
    task = Task("wine", RAW, 1, "mlpack_lmnn", 9.0)
    store.put(task, {"status": "limit", "seconds": 9.0})
    errors = {"mlpack_lmnn": [0.0], "pylmnn": [0.2, 0.2], "metric_learn_lmnn": [0.1, 0.1]}
    scores = summary(store, errors).scores
    assert scores["wine", BEST].ok[0]["method"] == "metric_learn_lmnn"
    assert tables.error(scores["wine", "mlpack_lmnn"]) == "> 9 s"


def test_table_and_ranks(store: Store) -> None:
    errors = {"euclidean": [0.25, 0.35], "pylmnn": [0.2, 0.1], "s": [0.1, 0.1], "h": [0.1, 0.1]}
    found = summary(store, errors)
    text = tables.errors(found)
    widths = {line.count("|") for line in text.splitlines()}
    assert len(widths) == 1
    assert "24.62 (5.83) | 30.00 (7.07)" in text  # the paper's beside ours
    assert "**10.00** (0.00)" in text
    assert found.ranks(list(errors)) == {"euclidean": 4.0, "pylmnn": 3.0, "s": 1.5, "h": 1.5}


def test_differences_over_runs_and_over_test_rows(store: Store) -> None:
    scores = summary(store, {"pylmnn": [0.2, 0.1], "s": [0.1, 0.1]}).scores
    mean, spread = difference(scores["wine", "s"], scores["wine", BEST], 26) or (0.0, 0.0)
    assert mean == pytest.approx(-5.0)
    assert spread == pytest.approx(5.0)
    single = summary(Store(store.folder / "one"), {"s": [0.5], "h": [0.5]}).scores
    assert difference(single["wine", "s"], single["wine", "h"], 26) == (0.0, 0.0)


def test_retrieval_counts_faces_among_the_nearest() -> None:
    X = np.r_[np.arange(30.0), 100.0 + np.arange(30.0)][:, None]
    y = np.r_[np.ones(30, dtype=int), np.zeros(30, dtype=int)]
    assert retrieval(Part(X, y), None) == [1.0] * 20


def test_reasons_do_not_name_folders() -> None:
    assert brief("no module (/home/me/lib/thing.py)\nat all") == "no module (thing.py) at all"


def test_methods_can_be_written_down() -> None:
    for method in METHODS.values():
        assert json.loads(json.dumps(method.options)) == method.options
