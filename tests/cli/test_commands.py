"""Every command, as a user would call it, against the library's own answers."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner, Result
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import StandardScaler

import sdpmetric
from sdpmetric.cli import main
from sdpmetric.cli.demo_data import tables
from sdpmetric.cli.tables.answers import read_all_answers
from sdpmetric.cli.tables.reading import read
from sdpmetric.cli.tables.writing import write
from tests.support.lanes import some

Run = Callable[..., Result]


@pytest.fixture
def songs(run: Run) -> Run:
    run("triplets odd-one-out answers.csv -o triplets.csv")
    run("fit songs.csv --id song --triplets triplets.csv -o songs.safetensors --tol 0.01")
    return run


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_is_that_of_the_library(run: Run) -> None:
    said = run("fit wine-train.csv -l cultivar -C 5 --set h=0.05 -o m.json --json").stdout
    table = read("wine-train.csv")
    X, names = table.features(without={"cultivar"})
    expected = sdpmetric.SDPMetric(C=5.0, h=0.05).fit(X, table.texts("cultivar"))
    found = sdpmetric.load("m.json")
    assert np.array_equal(found.components_, expected.components_)
    assert found.feature_names_in_.tolist() == names
    assert json.loads(said)["gap"] == expected.gap_


def test_fit_from_triplets(songs: Run) -> None:
    table = read("songs.csv")
    X, _ = table.features(without={"song"})
    row = {name: i for i, name in enumerate(table.texts("song"))}
    T = [[row[t["anchor"]], row[t["positive"]], row[t["negative"]]] for t in _dicts("triplets.csv")]
    expected = sdpmetric.TripletSDPMetric(tol=0.01).fit(X, T)
    assert np.allclose(sdpmetric.load("songs.safetensors").components_, expected.components_)


def test_search(run: Run) -> None:
    line = "fit wine-train.csv -l cultivar --search --set Cs=[2] --set cv=3 --set n_rounds=1"
    said = run(f'{line} --set coordinates=["raw","standard"] -o m.safetensors --json').stdout
    assert json.loads(said)["chosen"]["coordinates"] == "standard"
    assert sdpmetric.load("m.safetensors").progress is False
    assert "chosen" in run("inspect m.safetensors").stdout


@pytest.mark.slow
def test_search_in_words(songs: Run) -> None:
    line = "fit songs.csv --id song -t triplets.csv --search --set Cs=[3] --set cv=3 -o m.json"
    assert "held-out participants answered correctly: 0.9" in songs(line).stdout
    by_listener = songs(f"{line} --set folds=group --set coordinates=raw").stdout
    assert "coordinates raw" in by_listener


def test_settings_by_name(run: Run) -> None:
    run("fit wine-train.csv -l cultivar --set loss=logistic --set prior_weight=0.5 -o m.json")
    metric = sdpmetric.load("m.json")
    assert (metric.loss, metric.prior, metric.prior_weight) == ("logistic", "identity", 0.5)


def test_triplets_of_row_numbers(songs: Run) -> None:
    row = {name: i for i, name in enumerate(read("songs.csv").texts("song"))}
    T = [[row[t[role]] for role in _ROLES] for t in _dicts("triplets.csv")]
    np.save("t.npy", np.array(T))
    songs("fit songs.csv --drop song -t t.npy -o m.json --tol 0.01")
    found, expected = sdpmetric.load("m.json"), sdpmetric.load("songs.safetensors")
    assert np.array_equal(found.components_, expected.components_)


def test_units_are_taken_care_of(run: Run) -> None:
    found = run("fit wine-train.csv -l cultivar -o m.json --tol 0.1").stdout
    assert "comparisons in standard coordinates" in found


def test_not_converged(run: Run) -> None:
    line = "fit wine-train.csv -l cultivar --set max_iter=1 -o m.safetensors"
    assert "not converged (iteration limit)" in run(line).stderr
    run(f"{line} --strict", 3)
    assert not sdpmetric.load("m.safetensors").converged_


def test_ctrl_c_saves_and_start_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pressing:
        """Ctrl-C, once the fit has shown a gap."""

        def stage(self, title: str) -> Callable[..., None]:
            return self if title == "fit" else lambda *now: None

        def __call__(self, done: float, total: float, note: str = "") -> None:
            if "proven" in note:
                raise KeyboardInterrupt

    line = "fit wine-train.csv -l cultivar -o m.safetensors -C 7 --set n_rounds=1"
    with monkeypatch.context() as patch:
        patch.setattr("sdpmetric.cli.progress_bars.bars", lambda: nullcontext(Pressing()))
        result = run(line, 130)
    assert "--start m.safetensors" in result.stderr
    part = sdpmetric.load("m.safetensors")
    assert not part.converged_
    said = json.loads(run(f"{line} --start m.safetensors --json").stdout)
    again = sdpmetric.load("m.safetensors")
    assert said["converged"]
    assert again.C == 7.0
    assert again.objective_ > part.objective_


SEARCH = "fit wine-train.csv -l cultivar --search --set cv=3 --set Cs=3 -o m.safetensors --json"


@pytest.mark.slow
def test_ctrl_c_in_a_search_and_again_in_its_last_fit(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pressing:
        def stage(self, title: str) -> Callable[..., None]:
            return (lambda *now: None) if title.startswith("nearest rows") else self

        def __call__(self, done: float, total: float, note: str) -> None:
            if done >= 1.0 or "gap" in note:  # a whole setting, or a step of the fit
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("sdpmetric.cli.progress_bars.bars", lambda: nullcontext(Pressing()))
    result = run(f"{SEARCH} --tol 1e-9 --set doubt=0 --set coordinates=standard", 130)
    said = json.loads(result.stdout)
    assert (said["status"], said["search_ended"]) == ("interrupted", "interrupted")
    assert "chosen among 1 of" in result.stderr
    assert "not converged (interrupted)" in result.stderr
    assert "To try all settings: the same command again." in result.stderr
    part = sdpmetric.load("m.safetensors")
    assert np.trace(part.get_mahalanobis_matrix()) == pytest.approx(1.0)
    assert 0.0 < part.gap_ < np.inf


TELLING = """
import sys
from contextlib import nullcontext
from sdpmetric.cli import main, progress_bars

class Telling:
    def stage(self, title):
        print("searching", file=sys.stderr, flush=True)
        return lambda done, total, note="": print(f"tried {done}", file=sys.stderr, flush=True)

progress_bars.bars = lambda: nullcontext(Telling())
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("signal_name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(("cue", "saved"), [("searching", False), ("tried 2", True)])
def test_ctrl_c_and_sigterm_to_a_process(run: Run, cue: str, saved: bool, signal_name: str) -> None:
    """A real one, that writes into pipes: before the first setting is tried, and after some.

    SIGTERM saved nothing once.
    """
    number = getattr(signal, signal_name)
    command = [sys.executable, "-c", TELLING, *SEARCH.replace("Cs=3", "Cs=30").split()]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.strip() == cue:
                process.send_signal(number)
                break
        stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert "Traceback" not in stderr
    assert Path("m.safetensors").exists() == saved
    if not saved:
        assert (stdout, stderr) == ("", "Interrupted: nothing was written.\n")
        return
    said = json.loads(stdout)
    assert said["search_ended"] == "interrupted"
    assert said["converged"]
    assert re.search(r"Warning: Interrupted: chosen among [2-9] of", stderr)
    assert "m.safetensors is the best of the settings that were tried." in stderr
    found = sdpmetric.load("m.safetensors")
    assert found.search_ended_ == "interrupted"
    assert found.gap_ <= found.tol


def test_transform(songs: Run) -> None:
    metric = sdpmetric.load("songs.safetensors")
    X, _ = read("songs.csv").features(without={"song"})
    del metric.feature_names_in_  # these rows are an array
    found = rows_of(songs("transform songs.safetensors songs.csv --id song").stdout)
    mapped = np.array([[float(v) for k, v in row.items() if k != "song"] for row in found])
    assert np.array_equal(mapped, metric.transform_array(X))
    far = rows_of(songs("transform songs.safetensors songs.csv --id song --distances").stdout)
    D = metric.pairwise_distances(X)
    assert float(far[3]["song-08"]) == D[3, 7]
    near = rows_of(songs("transform songs.safetensors songs.csv --nearest 2").stdout)
    assert [int(row["neighbor"]) for row in near[:2]] == np.argsort(D[0])[1:3].tolist()


def test_standard_streams(songs: Run) -> None:
    text = Path("songs.csv").read_text()
    piped = songs("transform songs.safetensors - --id song", input=text)
    assert piped.stdout == songs("transform songs.safetensors songs.csv --id song").stdout


def test_evaluate_labels(run: Run) -> None:
    run("fit wine-train.csv -l cultivar -o m.safetensors --tol 0.01")
    line = "evaluate m.safetensors wine-test.csv -l cultivar -k 5 --json"
    alone = json.loads(run(line).stdout)["scores"]
    both = json.loads(run(f"{line} --gallery wine-train.csv").stdout)["scores"]
    head, *rows = Path("wine-train.csv").read_text().splitlines()
    for name, part in {"one.csv": rows[:50], "two.csv": rows[50:]}.items():
        Path(name).write_text("\n".join([head, *part]))
    parts = json.loads(run(f"{line} -g one.csv -g two.csv").stdout)
    assert (parts["gallery"], parts["scores"]) == (["one.csv", "two.csv"], both)
    assert "one.csv is given twice" in run(f"{line} -g one.csv -g one.csv", 1).stderr
    test, train = read("wine-test.csv"), read("wine-train.csv")
    (X, _), (G, _) = (table.features(without={"cultivar"}) for table in (test, train))
    y, y_g = test.texts("cultivar"), train.texts("cultivar")
    expected = sdpmetric.retrieval_scores(X, y, G, y_g, k=1)
    assert both["Euclidean"]["map"] == expected["map"]
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.argsort(D, axis=1)[:, 1:6]  # the nearest is the row itself
    votes = [[y[j] for j in row] for row in near]
    right = [max(sorted(set(v)), key=v.count) == own for v, own in zip(votes, y, strict=True)]
    assert alone["Euclidean"]["5-NN accuracy"] == pytest.approx(np.mean(right))
    assert "learned metric" in run("evaluate m.safetensors wine-test.csv -l cultivar").stdout


def test_evaluate_triplets(songs: Run) -> None:
    songs("triplets odd-one-out new-answers.csv -o new.csv")
    line = "evaluate songs.safetensors songs.csv --id song -t new.csv"
    said = json.loads(songs(f"{line} --json").stdout)
    X, _ = read("songs.csv").features(without={"song"})
    row = {name: i for i, name in enumerate(read("songs.csv").texts("song"))}
    T = [[row[t["anchor"]], row[t["positive"]], row[t["negative"]]] for t in _dicts("new.csv")]
    metric = sdpmetric.load("songs.safetensors")
    del metric.feature_names_in_
    assert said["scores"]["learned metric"]["accuracy"] == metric.triplet_accuracy(X, T)
    assert said["resampled"] == "participant"
    assert "10 participants" in songs(line).stdout


def test_p_is_against_standardised_columns(songs: Run) -> None:
    """To be better than raw columns, it is enough to repair units."""
    said = json.loads(
        songs("evaluate songs.safetensors songs.csv --id song -t triplets.csv --json").stdout
    )
    table = read("songs.csv")
    X, _ = table.features(without={"song"})
    scaler = StandardScaler().fit(X)
    answers = read_all_answers(["triplets.csv"], table.ids("song"), len(table))
    metric = sdpmetric.load("songs.safetensors")
    del metric.feature_names_in_
    expected = sdpmetric.sign_flip_test(X, answers, metric, scaler).p_value
    assert (said["p_value"], said["p_against"]) == (expected, "Euclidean, standardised")
    assert len(said["participants"]) == 20


@pytest.mark.slow
def test_a_search_holds_out_participants_where_there_are_some(songs: Run) -> None:
    small = "--search --set Cs=1 --set prior_weight=0 --set cv=2 --tol 0.01 -o m.json"
    line = f"fit songs.csv --id song -t triplets.csv {small}"
    assert "comparisons of held-out participants answered correctly: 0." in songs(line).stdout
    assert sdpmetric.load("m.json").folds == "group"
    assert "held-out comparisons answered" in songs(f"{line} --set folds=anchor").stdout
    assert sdpmetric.load("m.json").folds == "anchor"
    labels = "fit wine-test.csv -l cultivar --set n_neighbors=2 --set n_rounds=1 " + small
    assert "held-out rows classified correctly by their 3 nearest: 0." in songs(labels).stdout


@pytest.mark.skipif(os.name == "nt", reason="a kill that nothing can catch")
def test_a_kill_inside_demo_leaves_no_half_of_a_set(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from sdpmetric.cli import main\n"
        "from sdpmetric._support import files\n"
        "count, replace = [0], files.replace_bytes\n"
        "def killed(*given):\n"
        "    count[0] += 1\n"
        "    if count[0] == 5: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    replace(*given)\n"
        "files.replace_bytes = killed\n"
        "main(['demo', 'ask'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "ask").exists()


def test_the_help_of_ask_leads_into_the_folder_that_demo_makes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("demo ask")
    [folder] = re.findall(r"demo ask && cd (\S+)", run("ask --help").stdout)
    assert (tmp_path / folder / "shapes.csv").exists()


def test_suggest(songs: Run) -> None:
    line = "suggest songs.csv --id song --model songs.safetensors --asked triplets.csv -n 4"
    found = rows_of(songs(line).stdout)
    assert len(found) == 4
    assert list(found[0]) == ["anchor", "a", "b"]
    asked = {
        (t["anchor"], frozenset((t["positive"], t["negative"]))) for t in _dicts("triplets.csv")
    }
    assert not asked & {(row["anchor"], frozenset((row["a"], row["b"]))) for row in found}
    assert len(rows_of(songs("suggest songs.csv --drop song -n 3").stdout)) == 3


@pytest.mark.slow
def test_suggest_ask_and_add_is_a_loop_of_commands(songs: Run) -> None:
    """A second --triplets once replaced the first without a word."""
    songs("suggest songs.csv --id song -m songs.safetensors --asked triplets.csv -n 5 -o next.csv")
    with open("next.csv", encoding="utf-8") as asked, open("said.csv", "w", encoding="utf-8") as to:
        head, *lines = asked.read().splitlines()
        print(
            f"{head},chosen", *(f"{line},{line.split(',')[1]}" for line in lines), sep="\n", file=to
        )
    songs("triplets 2afc said.csv -o more.csv")
    both = "--triplets triplets.csv --triplets more.csv"
    said = songs(f"fit songs.csv --id song {both} -o both.json --tol 0.01 --json").stdout
    expected = len(_dicts("triplets.csv")) + 5
    assert json.loads(said)["n_comparisons"] == expected
    assert sdpmetric.load("both.json").n_triplets_ == expected
    scored = songs(f"evaluate both.json songs.csv --id song {both} --json").stdout
    assert json.loads(scored)["n_comparisons"] == expected
    again = "--asked triplets.csv --asked more.csv"
    found = rows_of(songs(f"suggest songs.csv --id song -m both.json {again} -n 5").stdout)
    known = {(t["anchor"], frozenset((t["positive"], t["negative"]))) for t in _dicts("more.csv")}
    assert not known & {(row["anchor"], frozenset((row["a"], row["b"]))) for row in found}
    refused = songs(f"fit songs.csv --id song {both} -t ./more.csv -o both.json", 1)
    assert "./more.csv is given twice" in refused.stderr


def test_suggested_odd_ones_out_are_read_back(songs: Run) -> None:
    songs("suggest songs.csv --id song --ask odd-one-out -m songs.safetensors -n 4 -o next.csv")
    head, *lines = Path("next.csv").read_text(encoding="utf-8").splitlines()
    assert head == "a,b,c"
    said = [f"{head},odd", *(f"{line},{place}" for line, place in zip(lines, "1231", strict=True))]
    Path("next.csv").write_text("\n".join(said), encoding="utf-8")
    songs("triplets odd-one-out next.csv --items songs.csv --id song -o more.csv")
    expected = [line.split(",")[int(place) - 1] for line, place in zip(lines, "1231", strict=True)]
    assert [t["negative"] for t in _dicts("more.csv")] == np.repeat(expected, 2).tolist()


def test_empty_answers_are_skipped_and_counted_if_asked_to(run: Run) -> None:
    rows = ["a,b,c,odd", "x,y,z,1", "x,y,z,", "y,z,w,NA", "y,z,w,3", ",z,w,2"]
    Path("said.csv").write_text("\n".join(rows), encoding="utf-8")
    refused = run("triplets odd-one-out said.csv", 1).stderr
    assert "said.csv, line 3: 'odd' is empty (--skip-empty leaves such answers out)" in refused
    found = run("triplets odd-one-out said.csv --skip-empty -o t.csv --json")
    assert found.stderr == "3 of 5 answers skipped: empty.\n"
    assert json.loads(found.stdout)["n_skipped"] == 3
    assert [t["negative"] for t in _dicts("t.csv")] == ["x", "x", "w", "w"]
    Path("none.csv").write_text("anchor,a,b,chosen\nx,y,z,\n", encoding="utf-8")
    assert "all 1 answers are empty" in run("triplets 2afc none.csv --skip-empty", 1).stderr


def test_answers_that_pandas_wrote_with_gaps(run: Run) -> None:
    """A column of integers with a gap becomes 1.0, 2.0, ..."""
    frame = pd.DataFrame({"a": ["x"] * 3, "b": ["y"] * 3, "c": ["z"] * 3, "odd": [1, None, 3]})
    frame.to_csv("said.csv", index=False)
    run("triplets odd-one-out said.csv --skip-empty -o t.csv")
    assert [t["negative"] for t in _dicts("t.csv")] == ["x", "x", "z", "z"]
    numbers = {"anchor": [5, 5], "a": [6, 6], "b": [7, 7], "chosen": [7, None]}
    pd.DataFrame(numbers).to_csv("said.csv", index=False)
    run("triplets 2afc said.csv --skip-empty -o t.csv")
    assert [t["positive"] for t in _dicts("t.csv")] == ["7"]


_ROLES = ("anchor", "positive", "negative")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("odd-one-out", "a,b,c,odd\nx,y,z,y\n", ["x z y", "z x y"]),
        ("odd-one-out --odd c", "a,b,c\nx,y,z\n", ["x y z", "y x z"]),
        ("2afc", "anchor,a,b,chosen\n1,2,3,3\n", ["1 3 2"]),
        ("rankings", "anchor,ranking\nx,u|v|w\n", ["x u v", "x u w", "x v w"]),
        ("rankings --adjacent", "anchor;ranking\nx;u|v|w\n", ["x u v", "x v w"]),
        ("clicks", "query,clicked,skipped\nx,u,v|w\n", ["x u v", "x u w"]),
        (
            "clicks --skip-above",
            "query,clicked,shown\nx,b|d,a|b|c|d|e\ny,,a|b\ny,a,a|b\n",
            ["x b a", "x d a", "x d c"],
        ),
        ("clicks --skip-above --columns q,c,s", "q,c,s\nx,b,a|b\n", ["x b a"]),
        ("columns", "query,positive,negative_1,negative_2\nx,u,v,\n", ["x u v"]),
        ("columns --columns i,j,k", "i,j,k\nx,u,v\n", ["x u v"]),
    ],
)
def test_answers(run: Run, kind: str, text: str, expected: list[str]) -> None:
    Path("given.csv").write_text(text)
    found = rows_of(run(f"triplets {kind} given.csv").stdout)
    assert [" ".join(row[role] for role in _ROLES) for row in found] == expected


@pytest.mark.parametrize(
    ("kind", "head", "option"),
    [
        ("2afc", "anchor,left,right,chosen", "--columns anchor,left,right"),
        ("2afc", "left,right,anchor,participant,chosen", "--columns anchor,left,right"),
        ("2afc --skip-empty", "anchor,left,right,chosen", "--columns anchor,left,right"),
        ("2afc --chosen said", "anchor,left,right,said", "--columns anchor,left,right"),
        ("2afc", "anchor,left,right,time,chosen", "--columns NAMES"),
        ("rankings", "who,order", "--columns who,order"),
        ("2afc", "anchor,a,b,said", "--chosen COLUMN"),
        ("odd-one-out --skip-empty", "a,b,c,said", "--odd COLUMN"),
    ],
)
def test_a_missing_column_names_the_option(run: Run, kind: str, head: str, option: str) -> None:
    Path("given.csv").write_text(f"{head}\n{','.join('xyzuvw'[: head.count(',') + 1])}\n")
    said = run(f"triplets {kind} given.csv", 1).stderr
    assert said.startswith("Error: given.csv has no column ")
    assert said.endswith(f": {option}\n")


def test_answers_keep_who_and_how_much(run: Run) -> None:
    Path("given.csv").write_text("who,anchor,a,b,chosen,weight\nAda,1,2,3,3,0.5\nBo,1,2,3,2,1\n")
    [ada, _] = rows_of(run("triplets 2afc given.csv --participant who").stdout)
    assert (ada["participant"], ada["weight"], ada["answer"]) == ("Ada", "0.5", "0")


def test_other_columns_beside_triplets_do_no_harm(songs: Run) -> None:
    rows = Path("triplets.csv").read_text().splitlines()
    noted = [f"{row},{'note' if i == 0 else f'said {i}'}" for i, row in enumerate(rows)]
    Path("noted.csv").write_text("\n".join(noted))
    songs("fit songs.csv --id song --triplets noted.csv -o noted.safetensors --tol 0.01")
    found, expected = (sdpmetric.load(f"{n}.safetensors") for n in ("noted", "songs"))
    assert np.array_equal(found.components_, expected.components_)


def test_triplets_from_labels(run: Run) -> None:
    found = rows_of(run("triplets labels wine-test.csv -l cultivar --neighbors 2").stdout)
    table = read("wine-test.csv")
    X, _ = table.features(without={"cultivar"})
    expected = sdpmetric.knn_triplets(X, table.texts("cultivar"), 2, 3)
    assert [[int(row[role]) for role in _ROLES] for row in found] == expected.tolist()


@pytest.mark.parametrize(
    "name", ["m.npy", "m.json", "m.onnx", "m.sql", "m.faiss", "m2.safetensors"]
)
def test_export(songs: Run, name: str) -> None:
    assert songs(f"export songs.safetensors {name}").stdout == f"wrote {name}\n"
    assert Path(name).stat().st_size > 0


def test_export_names_its_file_once(songs: Run) -> None:
    assert songs("export songs.safetensors -o m.npy").stdout == "wrote m.npy\n"
    for line in ("export songs.safetensors", "export songs.safetensors a.npy -o b.npy"):
        assert "Give the file to write once" in songs(line, 2).stderr


def test_export_to_a_file_without_a_name_was_an_assertion_error(songs: Run) -> None:
    for words in (["", "--to", "numpy"], [""], ["", "--to", "sentence-transformers"]):
        result = CliRunner().invoke(main, ["export", "songs.safetensors", *words])
        assert result.exit_code == 1, result.output
        assert isinstance(result.exception, SystemExit)
        assert result.stderr.startswith("Error: ")


def test_export_says_how_sentence_transformers_compares(songs: Run) -> None:
    line = "export songs.safetensors dense --to sentence-transformers"
    wrote, note = songs(line).stdout.splitlines()
    assert wrote == "wrote dense"
    assert 'similarity_fn_name="euclidean"' in note
    assert "--base" in note
    assert json.loads(songs(f"{line} --json").stdout)["output"] == "dense"
    Path("base").mkdir()
    Path("base/modules.json").write_text("[]")
    whole = songs("export songs.safetensors whole --to sentence-transformers --base base")
    assert whole.stdout == "wrote whole\n"


def test_export_with_options(songs: Run) -> None:
    songs("export songs.safetensors i.faiss --rows songs.csv")
    songs("export songs.safetensors f.sql --name nearer")
    assert "nearer" in Path("f.sql").read_text()
    songs("export songs.safetensors f.sql --rows songs.csv", 2)


@pytest.mark.parametrize(
    "suffix", some([".csv", ".npy", ".npz", ".parquet", ".jsonl", ".svmlight"], 3)
)
def test_formats(run: Run, suffix: str) -> None:
    """Tables read as they were written, and the metric is the same from each."""
    columns = tables()["wine-test.csv"]
    label = columns.pop("cultivar")
    numbers = np.unique(label, return_inverse=True)[1]
    held = columns if suffix == ".npy" else {"label": numbers, **columns}
    write(f"t{suffix}", held)
    table = read(f"t{suffix}")
    X, _ = table.features(without={"label"} & set(table.columns))
    dense = X.toarray() if sp.issparse(X) else X
    assert np.array_equal(dense, np.stack(list(columns.values()), axis=1))
    write("y.csv", {"label": numbers})
    run(f"fit t{suffix} -l {'y.csv' if suffix == '.npy' else 'label'} -o m.json --tol 0.01")
    run(f"transform m.json t{suffix} -o mapped{suffix}")


def test_vectors_in_cells(run: Run) -> None:
    rows = [{"id": i, "v": [i % 2 + 0.1 * i, float(i)], "y": i % 2} for i in range(8)]
    Path("v.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("fit v.jsonl --drop id -l y -o m.json --tol 0.01")
    assert sdpmetric.load("m.json").feature_names_in_.tolist() == ["v_0", "v_1"]


def test_sparse_files(run: Run) -> None:
    X = sp.random_array((20, 5), density=0.5, rng=np.random.default_rng(0), format="csr")
    sp.save_npz("x.npz", X)
    dump_svmlight_file(X, np.arange(20) % 2, "x.svmlight", zero_based=False)
    found = read("x.svmlight").features()[0]
    assert np.allclose(found.toarray(), read("x.npz").features()[0].toarray())
    run("fit x.svmlight -l label -o m.json --tol 0.1")
    Path("narrow.svmlight").write_text("0 1:0.5 3:0.25\n")  # no row mentions the last columns
    run("transform m.json narrow.svmlight")


def test_demo(run: Run) -> None:
    said = run("demo there").stdout
    assert "sdpmetric fit wine-train.csv" in said
    assert {file.name for file in Path("there").iterdir()} == set(tables())
    assert "is there already" in run("demo there", 1).stderr


@pytest.mark.parametrize("command", ["", *main.commands, "triplets odd-one-out"])
def test_help(command: str) -> None:
    result = CliRunner().invoke(main, [*command.split(), "--help"])
    assert result.exit_code == 0
    for line in result.stdout.partition("Commands:")[2].splitlines():
        assert not line.endswith("...")  # every summary fits


def test_installed_command_and_version() -> None:
    line = [sys.executable, "-m", "sdpmetric", "--version"]
    found = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert found == f"sdpmetric, version {sdpmetric.__version__}\n"


def _dicts(path: str) -> list[dict[str, str]]:
    return rows_of(Path(path).read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "transform songs.safetensors songs.csv --id song{}",
            {"wrote": "mapped", "n_rows": 60, "n_features": 6},
        ),
        (
            "transform songs.safetensors songs.csv --nearest 2{}",
            {"wrote": "nearest", "n_columns": 4},
        ),
        (
            "transform songs.safetensors songs.csv --distances{}",
            {"wrote": "distances", "n_columns": 61},
        ),
        (
            "triplets odd-one-out answers.csv{}",
            {"n_answers": 800, "n_triplets": 1600, "n_items": 60, "n_participants": 20},
        ),
        ("triplets columns triplets.csv{}", {"n_rows": 1600, "n_triplets": 1600}),
        (
            "triplets labels wine-test.csv -l cultivar --neighbors 2{}",
            {"n_rows": 45, "n_triplets": 45 * 2 * 3},
        ),
        ("suggest songs.csv --id song -n 4{}", {"n_questions": 4, "n_asked": 0}),
        ("suggest songs.csv --id song -n 4 --asked triplets.csv{}", {"n_asked": 1600}),
    ],
)
def test_json_beside_a_table(songs: Run, line: str, expected: dict[str, Any]) -> None:
    """On standard output, or as the last line of standard error where that carries the table."""
    plain, piped = songs(line.format("")), songs(line.format(" --json"))
    assert piped.stdout == plain.stdout
    said = json.loads(piped.stderr.splitlines()[-1])
    assert expected.items() <= said.items()
    assert said["output"] == "-"
    filed = songs(line.format(" -o out.csv --json"))
    assert filed.stderr == plain.stderr
    assert json.loads(filed.stdout) == said | {"output": "out.csv"}
    assert Path("out.csv").read_text() == plain.stdout


def test_json_of_files_written(songs: Run) -> None:
    said = json.loads(songs("export songs.safetensors m.npy --json").stdout)
    metric = sdpmetric.load("songs.safetensors")
    expected = {"model": "songs.safetensors", "output": "m.npy", "to": "numpy"}
    shape = {"n_features": 6, "n_components": len(metric.components_)}
    assert said == expected | shape
    said = json.loads(songs("demo there --json").stdout)
    assert (said["output"], set(said["files"])) == ("there", set(tables()))
    assert all(line.startswith("sdpmetric ") for line in said["commands"])


@pytest.mark.parametrize("command", sorted({*main.commands} - {"triplets"}))
def test_every_command_speaks_json(command: str) -> None:
    assert "--json" in CliRunner().invoke(main, [command, "--help"]).stdout


def test_all_kinds_of_answers_speak_json() -> None:
    group: Any = main.commands["triplets"]
    for command in group.commands.values():
        assert "as_json" in {parameter.name for parameter in command.params}
