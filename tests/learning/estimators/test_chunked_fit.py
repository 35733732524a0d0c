"""Fits to Dask arrays: the same optimum as in memory, lazy transforms, clear errors.

Most run without a client, on threads, which takes the same way through parts. Two fits run on a
cluster of processes; tests/parted/test_faults.py has the others.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sdpmetric
from sdpmetric import (
    SDPMetric,
    SDPMetricClassifier,
    SDPMetricCV,
    TripletSDPMetric,
    TripletSDPMetricCV,
    knn_triplets,
    retrieval_scores,
    solve,
)
from tests.support.clusters import local_cluster
from tests.support.problems import LOSSES, PAPER, random_triplets

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")

N, D = 90, 6


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's cores do not matter: two threads are two parts."""
    monkeypatch.setattr("sdpmetric.engines.threads.allowed_threads", lambda: 2)


@pytest.fixture(scope="module")
def X() -> Any:
    return np.random.default_rng(0).normal(size=(N, D)) * np.linspace(1.0, 2.0, D)


@pytest.fixture(scope="module")
def T(X: Any) -> Any:
    return random_triplets(np.random.default_rng(1), N, 400)


@pytest.fixture(scope="module")
def y(X: Any) -> Any:
    return np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.4, 0.4])]


def agree(one: Any, other: Any) -> None:
    """Same problem, same units, same optimum within the two brackets."""
    assert one.n_triplets_ == other.n_triplets_
    assert one.scale_ == pytest.approx(other.scale_, rel=1e-10)
    assert max(one.objective_, other.objective_) <= min(one.upper_bound_, other.upper_bound_)
    assert one.converged_
    assert other.converged_


def chunked(X: Any, rows: int = 25) -> Any:
    return da.from_array(X, chunks=(rows, *X.shape[1:]))


@pytest.mark.parametrize("coordinates", ["raw", "standard"])
@pytest.mark.parametrize("prior_weight", [0.0, 0.3])
@pytest.mark.parametrize("loss", LOSSES)
def test_comparisons(X: Any, T: Any, loss: str, prior_weight: float, coordinates: str) -> None:
    settings: dict[str, Any] = {"loss": loss, "h": 0.2, "tol": 1e-2, "coordinates": coordinates}
    metric = TripletSDPMetric(**settings, prior_weight=prior_weight)
    weights = np.random.default_rng(2).random(len(T)) * (np.arange(len(T)) % 5 > 0)
    other = TripletSDPMetric(**settings, prior_weight=prior_weight)
    agree(metric.fit(chunked(X), T, weights), other.fit(X, T, weights))
    assert metric.coordinates_.kind == coordinates
    assert isinstance(metric.components_, np.ndarray)


@pytest.mark.parametrize("weighted", ["no", "array", "dask"])
def test_comparisons_in_a_dask_array(X: Any, T: Any, weighted: str) -> None:
    weights = None if weighted == "no" else np.random.default_rng(2).random(len(T))
    given = chunked(weights, 70) if weighted == "dask" else weights
    one = TripletSDPMetric(coordinates="raw").fit(chunked(X), chunked(T, 110), given)
    agree(one, TripletSDPMetric(coordinates="raw").fit(X, T, weights))


def test_a_matrix_as_prior(X: Any, T: Any) -> None:
    prior = np.diag(np.arange(1.0, D + 1.0))
    settings: dict[str, Any] = {"prior": prior, "prior_weight": 0.4, "coordinates": "standard"}
    agree(TripletSDPMetric(**settings).fit(chunked(X), T), TripletSDPMetric(**settings).fit(X, T))


@pytest.mark.parametrize("rows", [7, 45, 90])
@pytest.mark.parametrize("labels", ["array", "dask"])
def test_labels(X: Any, y: Any, rows: int, labels: str) -> None:
    given = chunked(y, 40) if labels == "dask" else y
    one = SDPMetric(**PAPER, class_weight="balanced").fit(chunked(X, rows), given)
    agree(one, SDPMetric(**PAPER, class_weight="balanced").fit(X, y))


def test_rounds_and_coordinates_of_the_default_fit(X: Any, y: Any) -> None:
    """Rounds after the first choose their own comparisons, so only the first is the same."""
    X = X * np.array([1000.0, *[1.0] * (D - 1)])
    one, other = SDPMetric().fit(chunked(X), y), SDPMetric().fit(X, y)
    assert one.coordinates_.kind == other.coordinates_.kind
    assert one.n_triplets_ == other.n_triplets_
    assert one.objective_ == pytest.approx(other.objective_, rel=0.1)


def test_whitened_coordinates_come_from_a_sample_of_rows(X: Any, y: Any) -> None:
    """All rows, where they are few."""
    settings = PAPER | {"coordinates": "within"}
    agree(SDPMetric(**settings).fit(chunked(X), y), SDPMetric(**settings).fit(X, y))


@pytest.mark.parametrize("neighbors", ["exact", "approximate"])
def test_classes_of_one_row_and_classes_that_are_short(X: Any, neighbors: str) -> None:
    y = np.array(["a"] * 60 + ["b"] * 28 + ["c", "d"])
    with pytest.warns(UserWarning, match="single member"):
        one = SDPMetric(**PAPER | {"n_impostors": 40}, neighbors=neighbors).fit(chunked(X), y)
    with pytest.warns(UserWarning, match="single member"):
        other = SDPMetric(**PAPER | {"n_impostors": 40}).fit(X, y)
    assert one.n_triplets_ == other.n_triplets_


def test_a_block_without_any_triplet_changes_nothing(X: Any) -> None:
    y = np.array([0] * 45 + list(range(1, 46)))
    with pytest.warns(UserWarning, match="single member"):
        one = SDPMetric(**PAPER).fit(chunked(X, 45), y)
    with pytest.warns(UserWarning, match="single member"):
        agree(one, SDPMetric(**PAPER).fit(X, y))


def test_sparse_chunks_and_float32(X: Any, y: Any) -> None:
    sparse = np.where(np.abs(X) > 0.7, X, 0.0)
    blocks = chunked(sparse).map_blocks(sp.csr_array)
    agree(SDPMetric(**PAPER).fit(blocks, y), SDPMetric(**PAPER).fit(sp.csr_array(sparse), y))
    single = X.astype(np.float32)
    agree(SDPMetric(**PAPER).fit(chunked(single), y), SDPMetric(**PAPER).fit(single, y))


def test_far_rows_constant_columns_and_extreme_units(X: Any, T: Any) -> None:
    moved = np.hstack([X * 1e-170, np.full((N, 1), 3.0)]) + np.array([0.0] * D + [1e9])
    settings: dict[str, Any] = {"coordinates": "raw"}
    one = TripletSDPMetric(**settings).fit(chunked(moved), T)
    other = TripletSDPMetric(**settings).fit(moved, T)
    assert max(one.objective_, other.objective_) <= min(one.upper_bound_, other.upper_bound_)
    shifted = X + 1e6
    agree(
        TripletSDPMetric(**settings).fit(chunked(shifted), T),
        TripletSDPMetric(**settings).fit(shifted, T),
    )


def test_chunks_of_unknown_length_are_counted(X: Any, T: Any) -> None:
    unknown = chunked(np.vstack([X, X]), 30)
    unknown = unknown[da.from_array(np.arange(2 * N) < N, chunks=30)]
    assert np.isnan(unknown.chunks[0]).all()
    agree(
        TripletSDPMetric(coordinates="raw").fit(unknown, T),
        TripletSDPMetric(coordinates="raw").fit(X, T),
    )


def test_transform_is_lazy(X: Any, y: Any) -> None:
    metric = SDPMetric(**PAPER).fit(chunked(X), y)
    for rows in (chunked(X), da.from_array(X, chunks=(20, 2))):
        lazy = metric.transform(rows)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == (N, len(metric.components_))
        np.testing.assert_allclose(lazy.compute(), metric.transform(X), atol=1e-12)
    with pytest.raises(ValueError, match="expecting 6 features"):
        metric.transform(chunked(X[:, 1:]))


def test_a_fitted_metric_needs_no_dask(X: Any, y: Any, tmp_path: Path) -> None:
    metric = SDPMetric(**PAPER).fit(chunked(X), y)
    (tmp_path / "metric.pickle").write_bytes(pickle.dumps(metric))
    metric.save(tmp_path / "metric.json")
    code = (
        "import pickle, sys\n"
        "sys.modules['dask'] = sys.modules['distributed'] = None\n"
        "import sdpmetric\n"
        "a = pickle.load(open('metric.pickle', 'rb'))\n"
        "b = sdpmetric.load('metric.json')\n"
        "assert a.transform([[1.0] * 6]).tolist() == b.transform([[1.0] * 6]).tolist()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    np.testing.assert_array_equal(
        sdpmetric.load(tmp_path / "metric.json").components_, metric.components_
    )


def test_a_checkpoint_of_a_fit_in_chunks(X: Any, y: Any, tmp_path: Path) -> None:
    settings: dict[str, Any] = PAPER | {"checkpoint": tmp_path / "state"}
    with pytest.warns(sdpmetric_convergence()):
        SDPMetric(**settings, max_iter=4).fit(chunked(X), y)
    resumed = SDPMetric(**settings).fit(chunked(X), y)
    agree(resumed, SDPMetric(**PAPER).fit(X, y))
    with pytest.warns(sdpmetric_convergence()):
        SDPMetric(**settings, max_iter=4).fit(chunked(X + 1.0), y)
    with pytest.raises(ValueError, match="checkpoint"):
        SDPMetric(**settings).fit(chunked(X), y)


def sdpmetric_convergence() -> type[Warning]:
    from sklearn.exceptions import ConvergenceWarning

    warning: type[Warning] = ConvergenceWarning
    return warning


BAD: dict[str, tuple[Any, str]] = {
    "columns in chunks": (lambda X, y: (da.from_array(X, chunks=(20, 3)), y), "rechunk"),
    "one dimension": (lambda X, y: (da.from_array(X[:, 0]), y), "2 dimension"),
    "a label is missing": (lambda X, y: (chunked(X), y[:-1]), "one label per row of X, 90, got 89"),
    "labels in a table": (lambda X, y: (chunked(X), X), "y must have one label per row"),
    "one class": (lambda X, y: (chunked(X), np.zeros(N)), "1 class"),
    "no two alike": (lambda X, y: (chunked(X), np.arange(N)), "no class has two members"),
    "NaN": (
        lambda X, y: (chunked(with_nan(X)), y),
        r"chunk 2 \(rows 50 to 74\), contains NaN, first at row 7, column 3",
    ),
    "equal rows": (lambda X, y: (chunked(np.ones((N, D))), y), "all 90 rows are identical"),
    "no rows": (lambda X, y: (chunked(X[:0]), y[:0]), "no rows"),
}


def with_nan(X: Any) -> Any:
    bad = X.copy()
    bad[57, 3] = np.nan
    return bad


@pytest.mark.parametrize("name", BAD)
def test_bad_arrays(name: str, X: Any, y: Any) -> None:
    make, message = BAD[name]
    metric = SDPMetric()
    with pytest.raises(ValueError, match=message):
        metric.fit(*make(X, y))
    assert not hasattr(metric, "components_")


def broken(block: Any, block_info: Any = None) -> Any:
    if block_info[0]["chunk-location"][0] == 1:
        raise OSError("the disk is gone")
    return block


def test_a_chunk_that_cannot_be_computed_is_named(X: Any, y: Any) -> None:
    bad = chunked(X).map_blocks(broken, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(RuntimeError, match=r"chunk 1 \(rows 25 to 49\) cannot be computed. OSErr"):
        SDPMetric().fit(bad, y)


def test_what_needs_all_rows_in_one_memory_says_so(X: Any, y: Any, T: Any) -> None:
    rows = chunked(X)
    with pytest.raises(ValueError, match="triplets='all' needs all rows in one memory"):
        SDPMetric(triplets="all").fit(rows, y)
    metric = SDPMetric(**PAPER).fit(X, y)
    for call in (
        lambda: SDPMetricCV().fit(rows, y),
        lambda: TripletSDPMetricCV().fit(rows, T),
        lambda: SDPMetricClassifier().fit(rows, y),
        lambda: metric.pairwise_distances(rows),
        lambda: metric.triplet_accuracy(rows, T),
    ):
        with pytest.raises(ValueError, match=r"is a Dask array, and .* needs its rows in one mem"):
            call()


def test_functions_do_not_compute_a_dask_array_behind_the_users_back(
    X: Any, y: Any, T: Any
) -> None:
    rows = chunked(X)
    for call, name in (
        (lambda: knn_triplets(rows, y), "X"),
        (lambda: solve(rows, T), "X"),
        (lambda: retrieval_scores(rows, y), "Q"),
    ):
        with pytest.raises(ValueError, match=f"{name} is a Dask array, expected rows in one mem"):
            call()


def test_too_many_rows_for_an_exact_search() -> None:
    from sdpmetric.parted.labelled import check_exact

    check_exact(10, limit=10)
    with pytest.raises(ValueError, match="expected at most 10 in a Dask array, or neighbors="):
        check_exact(11, limit=10)


@pytest.mark.slow
@pytest.mark.parametrize("planned", [True, False])
def test_with_and_without_query_planning(planned: bool, tmp_path: Path) -> None:
    """Planned arrays are expressions. Dask chooses when it is imported: a process of its own."""
    code = (
        "import dask\n"
        f"dask.config.set({{'array.query-planning': {planned}}})\n"
        "import dask.array as da, numpy as np\n"
        "from sdpmetric import SDPMetric\n"
        f"assert ('expr' in da.Array.__module__) == {planned}, da.Array.__module__\n"
        "X = np.random.default_rng(0).normal(size=(60, 4))\n"
        "y = np.arange(60) % 3\n"
        "rows = da.from_array(X, chunks=(20, 2)).rechunk({1: -1}) + 0.0\n"
        "s = dict(n_rounds=1, coordinates='raw', n_jobs=2)\n"
        "a, b = SDPMetric(**s).fit(rows, da.from_array(y, chunks=7)), SDPMetric(**s).fit(X, y)\n"
        "assert max(a.objective_, b.objective_) <= min(a.upper_bound_, b.upper_bound_)\n"
        "assert np.allclose(a.transform(rows).compute(), a.transform(X))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_cluster() as client:
        yield client


@pytest.mark.slow
def test_fits_on_a_cluster(client: Any, X: Any, y: Any, T: Any) -> None:
    rows = chunked(X)
    settings: dict[str, Any] = {"prior_weight": 0.2, "coordinates": "standard", "tol": 1e-2}
    weights = np.random.default_rng(2).random(len(T))
    agree(
        TripletSDPMetric(**settings).fit(rows.persist(), T, weights),
        TripletSDPMetric(**settings).fit(X, T, weights),
    )
    paper = PAPER | {"tol": 1e-2}
    one = SDPMetric(**paper).fit(rows, chunked(y, 30))
    agree(one, SDPMetric(**paper).fit(X, y))
    # The second round chooses its own comparisons, so its optimum is close and not the same.
    rounds: dict[str, Any] = {"n_rounds": 2, "tol": 1e-2}
    there, here = SDPMetric(**rounds).fit(rows, y), SDPMetric(**rounds).fit(X, y)
    assert there.converged_
    assert there.n_triplets_ == here.n_triplets_
    assert there.objective_ == pytest.approx(here.objective_, rel=0.1)
    lazy: Any = one.transform(rows)
    np.testing.assert_allclose(lazy.compute(), one.transform(X), atol=1e-12)
    sparse = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    blocks = chunked(sparse.toarray()).map_blocks(sp.csr_array)
    agree(SDPMetric(**paper).fit(blocks, y), SDPMetric(**paper).fit(sparse, y))


@pytest.mark.slow
def test_errors_on_a_cluster_name_the_chunk(client: Any, X: Any, y: Any) -> None:
    bad = chunked(X).map_blocks(broken, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(RuntimeError, match=r"chunk 1 \(rows 25 to 49\) cannot be computed. OSErr"):
        SDPMetric().fit(bad, y)
    with pytest.raises(ValueError, match=r"chunk 2 \(rows 50 to 74\), contains NaN"):
        SDPMetric().fit(chunked(with_nan(X)), y)
