"""Products with X and distances between its rows, against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric.linalg import blocks, products
from sdpmetric.linalg.items import items_of
from sdpmetric.linalg.kernels.rows import squared_distance
from sdpmetric.linalg.sparse_items import SparseItems


@pytest.mark.parametrize("block", [1, 7, 1 << 24])
def test_blocks_do_not_change_products(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block sizes are crossed by making them small."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    a, b = rng.integers(0, 30, size=(2, 50))
    monkeypatch.setattr(blocks.blocks, "__defaults__", (block,))
    exact = X.astype(np.float64)
    expected = np.sum((exact[a] - exact[b]) ** 2, axis=1)
    items = items_of(X)
    np.testing.assert_allclose(items.squared_differences(a, b), expected, rtol=1e-14)
    np.testing.assert_allclose(products.edge_distances(exact, np.stack([a, b], 1)), expected)
    V, S = rng.normal(size=(4, 2)), rng.normal(size=(30, 2))
    np.testing.assert_allclose(items.times(V, exact=True), exact @ V, rtol=1e-13)
    np.testing.assert_allclose(items.transposed_times(S, exact=True), exact.T @ S, rtol=1e-12)


def test_compiled_distances_are_those_of_the_plain_function() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 9)) * (rng.uniform(size=(6, 9)) < 0.4)
    a, b = np.triu_indices(6)
    for rows in (items_of(X), items_of(sp.csr_array(X))):
        at = rows.arrays if isinstance(rows, SparseItems) else rows.raw
        plain = [squared_distance(at, i, at, j) for i, j in zip(a, b, strict=True)]
        np.testing.assert_allclose(rows.squared_differences(a, b), plain, rtol=1e-14)
        np.testing.assert_allclose(plain, np.sum((X[a] - X[b]) ** 2, axis=1), rtol=1e-14)
        across = rows.take(np.arange(3)).squared_differences(a % 3, b, other=rows)
        np.testing.assert_allclose(across, np.sum((X[a % 3] - X[b]) ** 2, axis=1), rtol=1e-14)
