"""`sdpmetric adapt`: an adapter for stored vectors, by files alone."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sdpmetric

pytestmark = pytest.mark.slow
Run = Callable[..., Any]
FEW: dict[str, Any] = {
    "Cs": [5.0],
    "cv": 3,
    "n_rounds": 1,
    "prior_weight": 0.5,
    "skip": 0,
    "n_resamples": 200,
}


def options(given: dict[str, Any]) -> str:
    return " ".join(f"--set {n}={json.dumps(v).replace(' ', '')}" for n, v in given.items())


SETTINGS = options(FEW)


@pytest.fixture
def corpus(folder: Path) -> Any:
    """Texts of 30 topics whose style hides the topic; 60 of them are queries with one positive."""
    rng = np.random.default_rng(0)
    topic = np.arange(120) % 30
    content = 2.0 * rng.normal(size=(30, 4))[topic] + 0.3 * rng.normal(size=(120, 4))
    X = np.hstack([content, 4.0 * rng.normal(size=(120, 4))]).astype(np.float32)
    np.save("vectors.npy", X)
    np.save("queries.npy", X[:60])
    write("ids.csv", "id", (f"t{i}" for i in range(120)))
    write("query-ids.csv", "id", (f"q{i}" for i in range(60)))
    write("clicks.csv", "query,positive", (f"{i},{i + 60}" for i in range(60)))
    write("named.csv", "day,query,positive", (f"1,t{i},t{i + 60}" for i in range(60)))
    write("apart.csv", "query,positive,negative", (f"q{i},t{i + 60}," for i in range(60)))
    return X


def write(name: str, head: str, lines: Any) -> None:
    Path(name).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def test_files_give_the_adapter_of_the_library(run: Run, corpus: Any) -> None:
    pairs = np.column_stack([np.arange(60), np.arange(60, 120)])
    expected = sdpmetric.EmbeddingAdapter(**FEW).fit(corpus, pairs)
    said = run(f"adapt vectors.npy --pairs clicks.csv -o a.json {SETTINGS}").stdout
    assert str(expected.report_) in said
    run(f"adapt vectors.npy --pairs named.csv --ids ids.csv -o b.json {SETTINGS}")
    halves = {"first.csv": range(30), "second.csv": range(30, 60)}
    for name, part in halves.items():
        write(name, "query,positive", (f"{i},{i + 60}" for i in part))
    both = " ".join(f"--pairs {name}" for name in halves)
    run(f"adapt vectors.npy {both} -o c.json {SETTINGS}")
    for name in ("a.json", "b.json", "c.json"):
        np.testing.assert_array_equal(sdpmetric.load(name).components_, expected.components_)
    run("transform a.json vectors.npy -o adapted.npy")
    np.testing.assert_allclose(np.load("adapted.npy"), expected.transform(corpus), rtol=1e-5)


def test_queries_of_their_own(run: Run, corpus: Any) -> None:
    line = "adapt vectors.npy --pairs apart.csv --ids ids.csv --queries queries.npy"
    said = run(f"{line} --query-ids query-ids.csv -o a.json --scoring mrr {SETTINGS} --json").stdout
    found = json.loads(said)
    assert found["report"]["scoring"] == "mrr"
    assert found["report"]["n_queries"] == 12  # a fifth of them


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--pairs named.csv", "named.csv, line 2: 'query' is 't0', expected the number of a row"),
        ("--pairs named.csv", "or --ids, the names of the rows"),
        ("--pairs clicks.csv --ids clicks.csv", "clicks.csv: expected one column with 120 ids"),
        ("--pairs ids.csv", "expected 'query' or 'anchor', 'positive'"),
        ("--pairs clicks.csv --set hue=1", "EmbeddingAdapter has no parameter 'hue'"),
        ("--pairs clicks.csv --queries clicks.csv", "queries has 2 columns, expected those of X"),
        ("--pairs clicks.csv --pairs named.csv", "named.csv, line 2: 'query' is 't0', expected"),
        ("--pairs clicks.csv --pairs clicks.csv", "clicks.csv is given twice"),
        ("--pairs clicks.csv --set cv=3 --scoring mrr --set scoring=mrr", "scoring is given twice"),
        ("--pairs none.csv", "There is no file 'none.csv'"),
    ],
)
def test_one_sentence_says_what_is_wrong(run: Run, corpus: Any, line: str, expected: str) -> None:
    said = run(f"adapt vectors.npy {line} -o a.json", 1).stderr
    assert expected in said
    assert not Path("a.json").exists()


def test_ids_of_queries_that_are_not_there(run: Run, corpus: Any) -> None:
    line = "adapt vectors.npy --pairs clicks.csv --query-ids ids.csv -o a.json"
    assert "--query-ids goes with --queries" in run(line, 2).stderr


@pytest.mark.parametrize("cue", ["setting", "last fit"])
def test_ctrl_c_in_adapt_lost_the_adapter_or_was_not_told(
    run: Run, corpus: Any, cue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its last fit nothing was written; after some settings the exit code was 0."""

    class Pressing:
        def stage(self, title: str) -> Callable[..., None]:
            return self

        def __call__(self, done: float, total: float, note: str = "") -> None:
            if "gap" in note if cue == "last fit" else "gap" not in note and done >= 2.0:
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("sdpmetric.cli.progress_bars.bars", lambda: nullcontext(Pressing()))
    # doubt=0: the vectors as they are would need no fit.
    settings = options(FEW | {"skip": [0, 1, 2, 3], "tol": 1e-9, "doubt": 0})
    result = run(f"adapt vectors.npy --pairs clicks.csv -o a.json {settings} --json", 130)
    assert json.loads(result.stdout)["model"] == "a.json"
    assert "Interrupted: a.json is the best that was found so far." in result.stderr
    adapter = sdpmetric.load("a.json")
    ended = str(adapter.status_) if cue == "last fit" else adapter.search_ended_
    assert ended == "interrupted"
    assert adapter.objective_ <= adapter.upper_bound_
