"""Every benchmark's `main` on a few rows: it must run, and report what its readers look for.

Numbers of such small sets mean nothing; what is asserted would hold on any set.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("benchmarks")
pytest.importorskip("cvxpy")
pytest.importorskip("faiss")
pytest.importorskip("markdown")
pytest.importorskip("matplotlib")
pytest.importorskip("rich")
pytest.importorskip("scs")

from benchmarks.cluster import model
from benchmarks.common import growth, results_folder
from benchmarks.mnist import deskewed
from benchmarks.passes import counted
from benchmarks.peers.rivals import RIVALS
from benchmarks.peers.summary import Errors, higher
from benchmarks.regression import agree, checkout

from benchmarks import smoke
from sdpmetric import SquaredHinge, knn_triplets
from sdpmetric.linalg.items import items_of
from sdpmetric.problem.prior import Prior
from sdpmetric.problem.units import Problem
from sdpmetric.solvers import Limits, LowRank

IN_GIT = (Path(smoke.__file__).parents[1] / ".git").exists()
needs_git = pytest.mark.skipif(not IN_GIT, reason="the base commit comes from git")


def positive(values: Iterable[float]) -> bool:
    return all(math.isfinite(value) and value > 0.0 for value in values)


def run(name: str, folder: Path) -> dict[str, Any]:
    before = {path: path.stat().st_mtime_ns for path in results_folder().rglob("*")}
    content = smoke.run(name, folder)
    after = {path: path.stat().st_mtime_ns for path in results_folder().rglob("*")}
    assert after == before  # the published results are not touched
    return content


@pytest.mark.hard
@pytest.mark.slow
def test_mnist(tmp_path: Path) -> None:
    content = run("mnist", tmp_path)
    assert len(content["trials"]) == 4  # Euclidean distance and one setting, for both inputs
    assert [f["line"] for f in content["final"]] == list(content["chosen"])
    for row in content["final"]:
        assert row["setting"] == "defaults"
        assert 0.0 <= row["errors"][row["rule"]] <= 1.0
        assert row["SDPMetricClassifier"] == pytest.approx(row["errors"]["energy"])


def test_images_are_sheared_upright() -> None:
    """A slanted stroke becomes a column in the middle."""
    image = np.zeros((9, 9))
    image[np.arange(1, 8), np.arange(1, 8)] = 1.0
    found = deskewed(image.reshape(1, -1)).reshape(9, 9)
    expected = np.zeros((9, 9))
    expected[1:8, 4] = 1.0
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.hard
@pytest.mark.slow
def test_solver(tmp_path: Path) -> None:
    content = run("solver", tmp_path)
    ours = [r for r in content["runs"] if r["solver"] == "low-rank"]
    paper = [r for r in content["runs"] if r["solver"] == "frank-wolfe"]
    assert len(ours) == 4
    assert all(r["gap"] <= r["tol"] for r in ours)
    # An evaluation is two products, and certificates add to them.
    assert all(r["passes"] > 2 * r["evaluations"] for r in ours)
    assert len(paper) == 1
    assert all(math.isfinite(r["gap"]) and r["passes"] > r["evaluations"] for r in paper)
    assert positive(content["costs"]["mnist"]["evaluation"].values())
    # Below 1 on so few rows: memory that an earlier fit gave back is used again.
    assert content["costs"]["mnist"]["memory"]["ratio"] > 0.0
    assert (tmp_path / "results" / "solver_mnist.png").stat().st_size > 0


@pytest.mark.hard
@pytest.mark.slow
def test_defaults(tmp_path: Path) -> None:
    content = run("defaults", tmp_path)
    scores = [setting["score"] for setting in content["settings"]]
    assert len(scores) == 3
    assert scores == sorted(scores)
    assert content["sets"] == ["wine", "iris"]
    assert len(content["cells"]) == 2 * 2 * 3  # splits, sets, settings and Euclidean distance
    assert all(0.0 <= e <= 1.0 for setting in content["settings"] for e in setting["errors"])
    assert run("defaults", tmp_path)["cells"] == content["cells"]  # an earlier run is continued


@pytest.mark.hard
@pytest.mark.slow
def test_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = run("search", tmp_path)
    assert len(content["cells"]) == 2 * 3  # sets; Euclidean distance, defaults and the search
    assert all(0.0 <= cell["found"]["error"] <= 1.0 for cell in content["cells"])
    assert "mean rank" in capsys.readouterr().out
    assert run("search", tmp_path)["cells"] == content["cells"]  # an earlier run is continued


@pytest.mark.hard
@pytest.mark.slow
def test_rules(tmp_path: Path) -> None:
    content = run("rules", tmp_path)
    assert content["scores"]["metric"]["vote"] == 1.0
    assert set(content["scores"]["Euclidean"]) == {"vote", "mean", "energy"}
    assert set(content["scores"]["metric"]) == {"vote", "mean", "energy", "auto"}
    assert len(content["runs"]) == 2 * 2  # sets, with and without the metric
    assert all(0.0 <= e <= 1.0 for r in content["runs"] for e in r["errors"].values())


@pytest.mark.hard
@pytest.mark.slow
def test_peers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = run("peers", tmp_path)
    there = {n for n in ("sdpmetric", "sklearn NCA", "pylmnn") if RIVALS[n].installed}
    assert {r["rival"] for r in content["runs"]} == there
    assert all(r["status"] == "ok" for r in content["runs"])
    assert positive(r["seconds"] for r in content["runs"])
    for found in [*content["runs"], *content["data"]["wine"]["euclidean"].values()]:
        assert found["rules"].keys() == {"vote", "mean", "energy"}
        assert found["error"] == found["rules"]["vote"]
        rows = content["data"]["wine"]["test_rows"]
        assert len(found["wrong"].split()) == pytest.approx(rows * found["error"])
    assert ("skipped: pylmnn" in capsys.readouterr().out) == ("pylmnn" not in there)
    assert (tmp_path / "results" / "peers.png").stat().st_size > 0


def test_errors_differ_by_more_than_a_standard_error() -> None:
    """Paired by split; for a single split by the bound of rows that are never wrong for both."""

    def errors(*shares: float) -> Errors:
        return Errors(dict(enumerate(shares)), dict.fromkeys(range(len(shares))))

    even = errors(5.0, 5.0, 5.0, 5.0)
    expected = float(np.std([1.0, 2.0, 3.0, 0.0], ddof=1)) / 2.0  # 0.65, below the mean of 1.5
    assert expected < 1.5
    assert higher(errors(6.0, 7.0, 8.0, 5.0), even, 100)
    assert not higher(errors(9.0, 3.0, 5.0, 5.0), even, 100)  # 1 +- 1.3
    assert not higher(even, even, 100)
    # 12 and 8 of 100 rows: a difference of 4, with a deviation of at most the root of 20 - 0.16.
    assert not higher(errors(12.0), errors(8.0), 100)
    assert higher(errors(13.0), errors(7.0), 100)


def test_errors_of_a_single_split_are_paired_by_test_row() -> None:
    def errors(rows: range) -> Errors:
        return Errors.of({0: {"error": len(rows) / 100, "wrong": " ".join(map(str, rows))}})

    # Twelve and eight wrong rows of a hundred. If the eight are among the twelve, four rows differ:
    # a difference of 4 with a deviation of the root of 4 - 0.16.
    assert higher(errors(range(12)), errors(range(8)), 100)
    # If no row is wrong for both, twenty differ, and the deviation is the root of 20 - 0.16.
    assert not higher(errors(range(12)), errors(range(50, 58)), 100)


@pytest.mark.hard
@pytest.mark.slow
def test_sdp(tmp_path: Path) -> None:
    runs = run("sdp", tmp_path)["runs"]
    assert [r["solver"] for r in runs] == ["CLARABEL", "SCS", "ours", "ours"]
    (expected,) = (r["objective"] for r in runs if r["solver"] == "CLARABEL")
    for r in runs:
        assert r["objective"] == pytest.approx(expected, rel=1e-3)
        assert r["seconds"] > 0.0


def test_mining(tmp_path: Path) -> None:
    searches = run("mining", tmp_path)["searches"]
    assert [s["what"] for s in searches] == ["bare products", "exact", "approximate", "approximate"]
    assert positive(s["seconds"] for s in searches)
    assert all(0.9 < share <= 1.0 for s in searches[2:] for share in s["recall"])


@pytest.mark.hard
@pytest.mark.slow
def test_scale(tmp_path: Path) -> None:
    (point,) = run("scale", tmp_path)["points"]
    assert (point["n"], point["D"], point["m"]) == (40, 4, 60)
    assert point["gap"] <= 1e-4
    assert positive([point["evaluation"], point["fit"], *point["bare"].values()])


@pytest.mark.hard
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory comes from /proc")
def test_cluster(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    found = run("cluster", tmp_path)
    assert [p["workers"] for p in found["points"]] == [1, 1, 1, 1]
    assert positive(p["seconds"] for p in found["points"])
    assert positive([found["products"], found["on paper"]["evaluation"]])
    assert len(found["held out"]) == 1


def test_the_cost_model_finds_its_own_rates() -> None:
    rates = {"products": 2e-10, "edges": 3e-9, "shared": 1e-9, "fixed": 0.05, "each": 0.01}
    rng = np.random.default_rng(0)
    points: list[dict[str, Any]] = [
        {"D": 64, "d": 32, "workers": workers, "on a machine": workers}
        | {name: float(rng.integers(10**5, 10**7)) for name in ("rows", "edges")}
        for workers in (1, 2) * 4
    ]
    for point in points:
        point["seconds"] = model.predicted(rates, point)
    empty = {1: 0.06, 2: 0.07, 4: 0.09}
    assert model.fitted(points, rates["products"], empty) == pytest.approx(rates, rel=1e-6)


def test_workers_of_their_own_machines_do_not_share_its_memory() -> None:
    rates = {"products": 0.0, "edges": 1e-9, "shared": 1e-9, "fixed": 0.0, "each": 1e-3}
    point = {"D": 64, "d": 10, "workers": 20, "on a machine": 1, "rows": 1e6, "edges": 2e9}
    found = model.carried(rates, point, bandwidth=np.inf, latency=0.01)
    assert found["compute"] == pytest.approx(1.0)
    assert found["overhead"] == pytest.approx(0.02)
    # Nine tasks, and two levels of each of four sums, there and back.
    assert found["latency"] == pytest.approx(17 * 0.02)


@pytest.mark.hard
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is sampled from /proc")
def test_outofcore(tmp_path: Path) -> None:
    found = run("outofcore", tmp_path)
    assert (found["n"], found["D"], found["m"], found["converged"]) == (10_000, 5, 500, True)
    assert found["rows in comparisons"] < 1500
    assert 0.0 < found["anonymous memory, GB"] < found["limit, GB"]
    assert positive([found["disk, GB/s"], found["that product, GB/s"], found["evaluation, s"]])


@pytest.mark.hard
@pytest.mark.slow
def test_wide(tmp_path: Path) -> None:
    text, dense = run("wide", tmp_path)["rows"]
    assert text["rows"] == 150
    assert dense["columns"] == 20
    assert all(math.isfinite(row["gap"]) and row["rank"] > 0 for row in (text, dense))
    assert 0.0 <= text["error after %"] <= 100.0


@pytest.mark.hard
@pytest.mark.slow
def test_path(tmp_path: Path) -> None:
    (row,) = run("path", tmp_path)["rows"]
    assert row["fits"] == 3
    assert positive(value for name, value in row.items() if name != "set")


@pytest.mark.hard
@pytest.mark.slow
def test_adapter(tmp_path: Path) -> None:
    rows = run("adapter", tmp_path)["rows"]
    methods = [(r["method"], r["size"]) for r in rows]
    assert methods == [
        ("Euclidean", 12),
        ("PCA", 6),
        *[(name, size) for size in (12, 6) for name in ("labels", "60 triplets")],
        ("labels, SDPMetricCV", 12),
        ("60 triplets, CV", 12),
    ]
    for row in rows[2:]:
        mean, low, high = row["gain"]["ndcg@10"]
        assert low <= mean <= high
        assert math.isfinite(row["gap"])


@pytest.mark.hard
@pytest.mark.slow
def test_hard_negatives(tmp_path: Path) -> None:
    rows = run("hard_negatives", tmp_path)["rows"]
    assert len(rows) == 8
    shares = {row["method"]: row["false_negatives"] for row in rows}
    assert shares["fixed, guard 0, skip 30"] < shares["fixed, guard 0, skip 0"]
    assert all(0.0 <= value <= 1.0 for row in rows for value in row["scores"].values())


@pytest.mark.hard
@pytest.mark.slow
def test_ask(tmp_path: Path) -> None:
    found = run("ask", tmp_path)
    assert found["answers"] == [24, 48]
    assert set(found["arms"]) == {"chosen by the metric", "random"}
    for arm in found["arms"].values():
        assert all(0.5 < mean < found["ceiling"] + 0.05 for mean in arm["mean"])
    means = [arm["mean"] for arm in found["arms"].values()]
    expected = [a - b for a, b in zip(*means, strict=True)]
    assert found["gain"]["mean"] == pytest.approx(expected)


@pytest.mark.hard
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ask_load(tmp_path: Path) -> None:
    found = run("ask_load", tmp_path)
    assert found["confirmed"] == found["stored"] == 6
    assert found["failed"] == found["lost"] == 0
    assert found["fit"]["gap"] <= 1e-3


@pytest.mark.hard
@pytest.mark.slow
def test_paper(tmp_path: Path) -> None:
    run("paper", tmp_path)
    folder = tmp_path / "results" / "paper"
    page = (folder / "page.md").read_text()
    assert "| Wine |" in page
    assert "Every cell has a number." in page
    assert "Table 2: errors, raw inputs" in page
    assert (folder / "page.html").read_text().count("data:image/png") >= 1


@pytest.mark.hard
@pytest.mark.slow
def test_regression(tmp_path: Path) -> None:
    content = run("regression", tmp_path)
    (row,) = content["rows"]
    assert row["agree"]
    assert positive([row["base ms"], row["new ms"], row["ratio"]])
    assert all(version["wine"]["gap"] <= 1e-4 for version in content["versions"].values())


@needs_git
def test_base_commit_is_written_to_a_folder(tmp_path: Path) -> None:
    assert (checkout("HEAD", tmp_path) / "sdpmetric" / "__init__.py").exists()


@needs_git
def test_a_base_that_is_no_commit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no-such-commit"):
        checkout("no-such-commit", tmp_path)


@pytest.mark.parametrize(
    ("objective", "upper_bound", "expected"),
    [(1.05, 1.06, True), (1.11, 1.2, False), (0.8, 0.9, False)],
)
def test_versions_agree_if_their_brackets_overlap(
    objective: float, upper_bound: float, expected: bool
) -> None:
    base = {"objective": 1.0, "upper_bound": 1.1}
    new = {"objective": objective, "upper_bound": upper_bound}
    assert agree(base, new) is expected
    assert agree(new, base) is expected


def test_growth_is_the_exponent() -> None:
    assert growth([1.0, 2.0, 4.0], [5.0, 40.0, 320.0]) == pytest.approx(3.0)


def test_passes_count_products_with_the_items_alone() -> None:
    X, y = smoke.clusters(60, 6, 3, 0)
    prior, triplets = Prior(X.shape[1]), knn_triplets(X, y)
    problem = Problem.from_triplets(items_of(X), triplets, loss=SquaredHinge(), C=2.0, prior=prior)
    o = problem.objective
    P = np.eye(6)
    with counted(o.X) as passes:
        o.at(P).gradient()
    assert (passes.forward, passes.backward) == (1, 1)
    with counted(items_of(np.ones((3, 2)))) as others:
        LowRank()(o, None, Limits(tol=1e-2))
    assert others.total == 0


def test_every_benchmark_is_here() -> None:
    folder = Path(smoke.__file__).parent
    mains = {p.stem for p in folder.glob("*.py") if "def main(argv" in p.read_text()}
    packages = {p.parent.name for p in folder.glob("*/__main__.py")}
    assert (mains | packages) - {"smoke"} == set(smoke.ARGUMENTS)
    tests = {name for name in globals() if name.startswith("test_")}
    assert {f"test_{name}" for name in smoke.ARGUMENTS} <= tests
