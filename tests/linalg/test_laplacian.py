"""The Laplacian of edges, against dense sums."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric.linalg.blocks import EDGE_NUMBERS
from sdpmetric.linalg.laplacian import Laplacian


@pytest.mark.parametrize("small", [0, EDGE_NUMBERS])
def test_laplacian_is_a_sum_of_outer_products(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edge by edge, or row by row as for large products."""
    monkeypatch.setattr("sdpmetric.linalg.laplacian.EDGE_NUMBERS", small)
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [0, 3], [1, 4], [2, 3], [3, 4]])
    weights = rng.normal(size=5)
    weights[2] = 0.0
    expected = np.zeros((6, 6))
    for (a, b), w in zip(edges, weights, strict=True):
        e = np.eye(6)[a] - np.eye(6)[b]
        expected += w * np.outer(e, e)
    found = Laplacian(edges, weights, 6) @ np.eye(6)
    np.testing.assert_allclose(found, expected, atol=1e-15)
