"""Large inputs in small: memory maps, sparse forms, blocks of columns, approximate search."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import SDPMetric, TripletSDPMetric, knn_triplets, solve
from sdpmetric.linalg import blocks
from sdpmetric.linalg.items import items_of
from sdpmetric.triplets.nearest import nearest_by_class
from sdpmetric.triplets.nearest_faiss import approximately_nearest_by_class
from tests.support.problems import Floats, Ints, labelled, random_triplets


def mapped(folder: Path, X: Any) -> Any:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def peak(work: Any) -> int:
    work()  # compiles
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.hard
@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_memory_map_is_not_copied(tmp_path: Path, dtype: type) -> None:
    rng = np.random.default_rng(0)
    X = mapped(tmp_path, rng.normal(size=(30_000, 600)).astype(dtype))
    T = random_triplets(rng, len(X), 20_000, 3)
    model = TripletSDPMetric(max_iter=2, solver_options={"rank": 4})
    with pytest.warns(ConvergenceWarning):
        used = peak(lambda: model.fit(X, T))
    assert used < 0.8 * X.nbytes
    assert peak(lambda: nearest_by_class(items_of(X[:2000]), np.arange(2000) % 2, 1, 1)) < X.nbytes


def test_a_memory_map_gives_the_same_metric(tmp_path: Path) -> None:
    X, y = labelled(np.random.default_rng(1), 80, 5)
    expected = SDPMetric().fit(X, y)
    found = SDPMetric().fit(mapped(tmp_path, X), y)
    np.testing.assert_array_equal(found.components_, expected.components_)


def untidy(X: Floats) -> Any:
    """CSR with columns in no order and entries in two parts."""
    rows, columns = np.nonzero(X)
    order = np.random.default_rng(2).permutation(2 * len(rows))
    coo = sp.coo_array(
        (
            np.tile(0.5 * X[rows, columns], 2)[order],
            (np.tile(rows, 2)[order], np.tile(columns, 2)[order]),
        ),
        shape=X.shape,
    )
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coo.row, minlength=len(X)))])
    by_row = np.argsort(coo.row, kind="stable")
    return sp.csr_array((coo.data[by_row], coo.col[by_row], indptr), shape=X.shape)


def test_untidy_sparse_rows() -> None:
    X, y = labelled(np.random.default_rng(3), 60, 6)
    X[np.random.default_rng(4).random(X.shape) < 0.5] = 0.0
    messy = untidy(X)
    before = messy.indices.copy()
    assert not messy.has_canonical_format
    np.testing.assert_array_equal(knn_triplets(messy, y), knn_triplets(X, y))
    expected = SDPMetric().fit(X, y)
    assert SDPMetric().fit(messy, y).objective_ == pytest.approx(expected.objective_, rel=1e-4)
    np.testing.assert_array_equal(messy.indices, before)


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_of_columns_change_nothing(
    form: Any, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For tall data X @ P is never held whole."""
    rng = np.random.default_rng(5)
    X = form(rng.normal(size=(90, 30)).astype(dtype))
    T = random_triplets(rng, 90, 60, 3)
    expected = solve(X, T, h=0.5)
    monkeypatch.setattr(blocks, "LARGE_BYTES", 1)
    found = solve(X, T, h=0.5)
    assert found.objective == pytest.approx(expected.objective, rel=1e-4)
    assert found.converged


@pytest.mark.slow
def test_wide_sparse_rows_make_no_square_array() -> None:
    rng = np.random.default_rng(6)
    D = 20_000
    X = sp.random_array((300, D), density=0.002, rng=rng, format="csr", dtype=np.float32)
    y = rng.integers(0, 3, size=300)
    model = SDPMetric(solver_options={"rank": 8}, max_iter=20)
    with pytest.warns(ConvergenceWarning):
        used = peak(lambda: model.fit(X, y))
    assert used < 0.1 * 8 * D * D
    assert model.components_.shape[1] == D


def clusters(n: int, D: int) -> tuple[Floats, Ints]:
    rng = np.random.default_rng(7)
    y = rng.integers(0, 5, size=n)
    return rng.normal(size=(n, D)) + 2.0 * rng.normal(size=(5, D))[y], y


@pytest.mark.slow
def test_approximate_search_finds_most() -> None:
    X, y = clusters(6000, 8)
    exact = nearest_by_class(items_of(X), y, 3, 4)
    found = approximately_nearest_by_class(items_of(X), y, 3, 4)
    for expected, near, same in zip(exact, found, (True, False), strict=True):
        assert near.shape == expected.shape
        assert (near >= 0).all()
        assert not (near == np.arange(len(y))[:, None]).any()
        assert ((y[near] == y[:, None]) == same).all()
        assert len(np.unique(near[0])) == near.shape[1]
        recall = np.mean([len(np.intersect1d(a, b)) for a, b in zip(near, expected, strict=True)])
        assert recall > 0.9 * near.shape[1]
        distances = np.sum((X[near] - X[:, None]) ** 2, axis=2)
        assert (np.diff(distances, axis=1) >= 0.0).all()


@pytest.mark.filterwarnings("ignore:.*class")
def test_approximate_search_of_small_classes() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(2000, 4))
    y = np.concatenate([np.zeros(1990, int), [1] * 6, [2] * 3, [3]])
    approximate = knn_triplets(X, y, neighbors="approximate")
    exact = knn_triplets(X, y)
    rare = np.isin(exact[:, 0], np.flatnonzero(y > 0))
    assert len(approximate) == len(exact)
    np.testing.assert_array_equal(approximate[:, 0], exact[:, 0])
    # Near rows of a rare class are found though they lie anywhere.
    np.testing.assert_array_equal(
        np.unique(approximate[rare][:, :2]), np.unique(exact[rare][:, :2])
    )


@pytest.mark.slow
def test_approximate_neighbours_serve_a_fit() -> None:
    X, y = clusters(3000, 6)
    exact, approximate = (SDPMetric(neighbors=how).fit(X, y) for how in ("exact", "approximate"))
    assert approximate.converged_
    assert approximate.objective_ == pytest.approx(exact.objective_, rel=0.05)


def test_approximate_search_needs_dense_rows_and_faiss(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clusters(50, 3)
    with pytest.raises(ValueError, match="dense X"):
        knn_triplets(sp.csr_array(X), y, neighbors="approximate")
    with pytest.raises(ValueError, match="neighbors must be one of"):
        knn_triplets(X, y, neighbors="annoy")
    monkeypatch.setattr("sdpmetric._support.optional.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"sdpmetric\[faiss\]"):
        SDPMetric(neighbors="approximate").fit(X, y)


def test_progress_is_told() -> None:
    X, y = clusters(300, 3)
    told: list[tuple[int, int]] = []
    expected = knn_triplets(X, y)
    for how in ("exact", "approximate"):
        told.clear()
        triplets = knn_triplets(X, y, neighbors=how, progress=lambda *now: told.append(now))
        assert told[-1] == (300, 300)
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        assert len(triplets) == len(expected)
    with pytest.raises(ValueError, match="progress must be"):
        knn_triplets(X, y, progress="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["triplets", "neighbors"])
def test_choices_are_checked(name: str) -> None:
    X, y = clusters(30, 2)
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        SDPMetric().set_params(**{name: "some"}).fit(X, y)


@pytest.mark.parametrize("value", [0, 1.5, "2", True])
def test_rounds_are_checked(value: Any) -> None:
    with pytest.raises(ValueError, match="n_rounds must be an integer"):
        SDPMetric(n_rounds=value).fit(*clusters(30, 2))


@pytest.mark.slow
def test_two_threads_give_the_same_metric() -> None:
    X, y = clusters(2500, 20)
    one, two = (SDPMetric(n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-4)
    np.testing.assert_array_equal(knn_triplets(X, y, n_jobs=1), knn_triplets(X, y, n_jobs=2))
