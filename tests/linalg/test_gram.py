"""G as an array: right, symmetric in every bit, and off by no more than the bound says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric.engines.threads import thread_pool
from sdpmetric.linalg import gram
from sdpmetric.linalg.dense_items import DenseItems
from sdpmetric.linalg.gram import signed_gram
from sdpmetric.linalg.memmap_items import MemmapItems
from sdpmetric.linalg.sparse_items import SparseItems
from sdpmetric.linalg.stacked_items import StackedItems
from tests.support.problems import Floats, Ints


def weighted_edges(rng: np.random.Generator, n: int, m: int) -> tuple[Ints, Floats]:
    """Distinct edges, sorted, a third of them without weight."""
    lower, upper = np.triu_indices(n, 1)
    kept = np.sort(rng.choice(len(lower), size=m, replace=False))
    weights = rng.normal(size=m) * 10.0 ** rng.uniform(-6, 0, size=m)
    return np.stack([lower[kept], upper[kept]], axis=1), weights * (rng.random(m) < 0.67)


def truth(X: Floats, edges: Ints, weights: Floats) -> np.ndarray:
    """The same sum in long double."""
    wide = X.astype(np.longdouble)
    apart = wide[edges[:, 0]] - wide[edges[:, 1]]
    return np.asarray((apart.T * weights) @ apart)


def never() -> None:
    """A check that ends nothing."""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1e6])
@pytest.mark.parametrize(("rows", "tile", "threads"), [(10_000, 512, 1), (7, 3, 1), (16, 5, 3)])
def test_rounding_is_below_its_bound(
    dtype: type, offset: float, rows: int, tile: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(int(offset) + rows)
    monkeypatch.setattr(gram, "_TILE", tile)
    monkeypatch.setattr(gram, "_BLOCK_BYTES", 8 * 11 * rows)
    monkeypatch.setattr(gram, "_PART", 1)
    for _ in range(5):
        units = 10.0 ** rng.uniform(-3, 3, size=11)
        X: Floats = (rng.normal(size=(60, 11)) * units + offset).astype(dtype)
        edges, weights = weighted_edges(rng, 60, 400)
        with thread_pool(threads):
            found, rounding = signed_gram(DenseItems(X), edges, weights, never)
        expected = truth(X, edges, weights)
        np.testing.assert_array_equal(found, found.T)
        off = float(np.linalg.norm((found - expected).astype(float)))
        assert off <= rounding
        # Far below what a certificate notices, with any offset.
        size = float(np.abs(weights).sum() * np.linalg.norm(X - X.mean(axis=0)) ** 2)
        assert rounding <= 1e-10 * size


def test_no_edge_has_weight() -> None:
    found, rounding = signed_gram(
        DenseItems(np.eye(4)), np.array([[0, 1], [1, 3]]), np.zeros(2), never
    )
    assert not found.any()
    assert rounding == 0.0


def test_the_check_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "_BLOCK_BYTES", 8 * 4)
    calls: list[None] = []

    def third() -> None:
        calls.append(None)
        if len(calls) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        signed_gram(DenseItems(np.eye(4)), np.array([[0, 1]]), np.ones(1), third)


def test_rows_in_the_order_of_a_table_of_columns() -> None:
    """Those of a DataFrame."""
    rng = np.random.default_rng(1)
    X, edges = rng.normal(size=(40, 7)), np.sort(rng.permutation(40).reshape(20, 2), axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    weights = rng.normal(size=20)
    expected, bound = signed_gram(DenseItems(X), edges, weights, lambda: None)
    found, same = signed_gram(DenseItems(np.asfortranarray(X)), edges, weights, lambda: None)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert same == pytest.approx(bound)


def test_only_rows_of_one_array_in_memory_are_one(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(6, 4))
    assert DenseItems(X).array is X
    assert StackedItems([X[:2], X[2:]]).array is None
    assert SparseItems(sp.csr_array(X)).array is None
    np.save(tmp_path / "X.npy", X)
    assert MemmapItems(np.load(tmp_path / "X.npy", mmap_mode="r")).array is None
