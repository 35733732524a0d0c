"""Items: one interface for arrays, memory maps and sparse matrices, scanned once in a fit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from sdpmetric import SDPMetric
from sdpmetric.learning.estimators import validate
from sdpmetric.linalg import extremes
from sdpmetric.linalg.dense_items import DenseItems
from sdpmetric.linalg.items import Items, as_items, items_of
from sdpmetric.linalg.memmap_items import MemmapItems
from sdpmetric.linalg.pieces import stacked
from sdpmetric.linalg.sparse_items import SparseItems
from tests.support.problems import PAPER, labelled


def mapped(path: Path, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    np.save(path / "X.npy", X)
    found: npt.NDArray[Any] = np.load(path / "X.npy", mmap_mode="r")
    return found


@pytest.fixture(
    params=[
        "array",
        "columns first",
        "memory map",
        "csr",
        "float32",
        "csr32",
        "stacked",
        "stacked32",
    ]
)
def both(request: Any, tmp_path: Path) -> tuple[Items, npt.NDArray[np.float64]]:
    """Items of every kind, and the same numbers as a plain array."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7)) * (rng.uniform(size=(60, 7)) < 0.6)
    X = X.astype(np.float32).astype(np.float64)
    make: dict[str, Any] = {
        "array": lambda: X,
        "columns first": lambda: np.asfortranarray(X),
        "memory map": lambda: mapped(tmp_path, X),
        "csr": lambda: sp.csr_array(X),
        "float32": lambda: X.astype(np.float32),
        "csr32": lambda: sp.csr_array(X.astype(np.float32)),
    }
    if request.param.startswith("stacked"):
        Z = X.astype(np.float32 if request.param == "stacked32" else np.float64)
        return stacked([items_of(piece) for piece in (Z[:9], Z[9:9], Z[9:40], Z[40:])]), X
    return items_of(make[request.param]()), X


def test_every_method_against_a_plain_array(both: tuple[Items, Any]) -> None:
    items, X = both
    rng = np.random.default_rng(1)
    close: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
    V, S = rng.normal(size=(7, 3)), rng.normal(size=(60, 3))
    a, b = rng.integers(0, 60, size=(2, 40))
    kept = np.array([True, False, True, True, False, True, True])
    np.testing.assert_allclose(items.times(V, exact=True), X @ V, **close)
    np.testing.assert_allclose(items.times(V), X @ V, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(items.transposed_times(S, exact=True), X.T @ S, **close)
    np.testing.assert_allclose(items.transposed_times(S), X.T @ S, rtol=1e-4, atol=1e-4)
    by_rows = items.transposed_rows(lambda part: S[part], 3, exact=True)
    np.testing.assert_allclose(by_rows, X.T @ S, **close)
    np.testing.assert_allclose(items.magnitudes(V[:, 0] ** 2), np.abs(X) @ V[:, 0] ** 2, **close)
    np.testing.assert_allclose(items.squared_differences(a, b), np.sum((X[a] - X[b]) ** 2, 1))
    other = items.take(np.arange(10))
    across = np.sum((X[a] - X[:10][b % 10]) ** 2, axis=1)
    np.testing.assert_allclose(items.squared_differences(a, b % 10, other=other), across)
    np.testing.assert_allclose(items.squared_norms(), np.sum(X**2, axis=1), **close)
    tile = items.products(slice(3, 9), other, slice(2, 7))
    np.testing.assert_allclose(tile, X[3:9] @ X[2:7].T, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(items.rows(slice(5, 8)), X[5:8])
    np.testing.assert_array_equal(items.rows(a), X[a])
    np.testing.assert_array_equal(items.columns(kept).rows(slice(None)), X[:, kept])
    np.testing.assert_array_equal(items.multiplied(2.0).rows(slice(None)), 2.0 * X)
    np.testing.assert_array_equal(items.astype(np.float64).rows(slice(None)), X)
    np.testing.assert_allclose(items.mean(), X.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(items.mapped(V.T, exact=True).raw, X @ V, **close)
    assert items.mapped(None) is items
    assert (len(items), items.shape) == (60, X.shape)
    for found, expected in zip(items.extremes, (X.min(axis=0), X.max(axis=0)), strict=True):
        np.testing.assert_array_equal(found, expected)
    if items.sparse:
        with pytest.raises(TypeError, match="cannot be centred"):
            items.centred(X.mean(axis=0))
    else:
        centred = items.centred(X.mean(axis=0)).rows(slice(None))
        np.testing.assert_allclose(centred, X - X.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_columns_without_zeros_can_be_centred(dtype: type) -> None:
    X: Any = np.array([[100.0, 0.0, 7.0], [101.5, 2.0, 7.25], [100.5, 3.0, 7.75]], dtype)
    offset = np.array([101.0, 0.0, 7.0])
    found = items_of(sp.csr_array(X)).centred(offset)
    assert (found.sparse, found.dtype.type, found.raw.nnz) == (True, dtype, 8)
    np.testing.assert_array_equal(found.rows(slice(None)), X - offset)
    with pytest.raises(TypeError, match="cannot be centred"):
        items_of(sp.csr_array(X)).centred(np.ones(3))


def test_each_kind_is_recognised(tmp_path: Path) -> None:
    X = np.ones((3, 2))
    assert type(items_of(X)) is DenseItems
    assert type(items_of(sp.csc_matrix(X))) is SparseItems
    assert type(items_of(mapped(tmp_path, X))) is MemmapItems
    assert type(items_of(np.asarray(mapped(tmp_path, X))[1:])) is MemmapItems
    assert items_of(mapped(tmp_path, X)).take(np.array([0])).shape == (1, 2)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (5000, 2), (700, 300), (64, 2000)])
@pytest.mark.parametrize("block", [1, 1 << 12, 1 << 22])
def test_extremes_of_any_shape(
    shape: tuple[int, int], order: Any, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are folded and read in blocks; none may be left out."""
    monkeypatch.setattr(extremes, "CONVERTED_BYTES", block)
    X = np.asarray(np.random.default_rng(2).normal(size=shape), order=order)
    low, high = extremes.column_extremes(X)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))


@pytest.mark.parametrize("scan", [False, True])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_bad_entry_is_named(value: float, form: Any, scan: bool) -> None:
    X = np.random.default_rng(3).normal(size=(40, 6))
    X[31, 2] = X[33, 0] = value
    what = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=f"contains {what}.*first at row 31, column 2;"):
        as_items(form(X), scan=scan)


@pytest.mark.parametrize("scan", [False, True])
def test_a_sum_that_overflows_is_no_infinity(scan: bool) -> None:
    X = np.full((40, 3), 1e308)
    assert as_items(X, scan=scan).shape == (40, 3)


def test_rescaling_is_exact_and_made_once() -> None:
    X = np.random.default_rng(4).normal(size=(20, 3)) * 1e150
    X[:, 1] = 7.0
    items = as_items(X, scan=True)
    rescaled, factor = items.rescaled()
    assert items.rescaled()[0] is rescaled
    assert np.log2(factor) == round(np.log2(factor))
    expected = X * factor
    expected[:, 1] = 0.0  # a constant column means nothing
    np.testing.assert_array_equal(rescaled.rows(slice(None)), expected)
    np.testing.assert_array_equal(rescaled.extremes[0], expected.min(axis=0))
    assert rescaled.rescaled() == (rescaled, 1.0)
    moderate = as_items(X / 1e150)
    assert moderate.rescaled() == (moderate, 1.0)


class Watched(np.ndarray[Any, Any]):
    """An array that counts how many of its entries are read by what is no product."""

    read: ClassVar[Counter[str]] = Counter()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **how: Any) -> Any:
        for given in inputs:
            if isinstance(given, Watched) and ufunc is not np.matmul:
                self.read[f"{ufunc.__name__}.{method}"] += given.size
        plain = [np.asarray(a) if isinstance(a, Watched) else a for a in inputs]
        return getattr(ufunc, method)(*plain, **how)


def test_a_fit_scans_x_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass for extremes and what is not finite, whoever needs them; one for the mean."""
    X, y = labelled(np.random.default_rng(5), 300, 6)
    monkeypatch.setattr(Watched, "read", Counter())
    monkeypatch.setattr(validate, "items_of", lambda given: DenseItems(given.view(Watched)))
    found = SDPMetric(**PAPER).fit(X, y)
    read = {name: size / X.size for name, size in Watched.read.items()}
    del read["subtract.__call__"]  # centred rows for products, and differences along edges
    del read["absolute.__call__"]  # the size of the terms of distances, once per certificate
    assert read == {"minimum.reduce": 1.0, "maximum.reduce": 1.0, "add.reduce": 1.0}
    monkeypatch.undo()
    np.testing.assert_array_equal(found.components_, SDPMetric(**PAPER).fit(X, y).components_)
