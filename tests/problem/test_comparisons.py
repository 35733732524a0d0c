"""Unique edges, margins, and the way back."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import sdpmetric
from sdpmetric import Comparisons
from sdpmetric.problem.checks import as_triplets
from tests.support.problems import random_triplets


@pytest.mark.parametrize("width", [3, 4])
def test_edges_are_unique_sorted_and_right(width: int) -> None:
    rng = np.random.default_rng(width)
    indices = random_triplets(rng, 9, 80, width)
    c = Comparisons.from_indices(indices)
    pairs = [tuple(e) for e in c.edges.tolist()]
    assert pairs == sorted(set(pairs))
    assert all(a < b for a, b in pairs)
    far = (0, 2) if width == 3 else (2, 3)
    for r, row in enumerate(indices.tolist()):
        assert set(pairs[c.near[r]]) == {row[0], row[1]}
        assert set(pairs[c.far[r]]) == {row[far[0]], row[far[1]]}
    np.testing.assert_array_equal(c.weights, np.ones(80))
    assert len(c) == 80


def test_margins_and_their_transpose() -> None:
    rng = np.random.default_rng(0)
    c = Comparisons.from_indices(random_triplets(rng, 12, 100))
    d, w = rng.uniform(size=len(c.edges)), rng.normal(size=len(c))
    expected = np.array([d[f] - d[n] for n, f in zip(c.near, c.far, strict=True)])
    np.testing.assert_allclose(c.margins(d), expected)
    assert c.edge_weights(w) @ d == pytest.approx(float(w @ expected), rel=1e-12)


@pytest.mark.parametrize("few", [0, 1 << 16])
def test_sums_of_slopes(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one pass or in several."""
    monkeypatch.setattr("sdpmetric.problem.comparisons._PART", few)
    rng = np.random.default_rng(0)
    c = Comparisons.from_indices(random_triplets(rng, 12, 100))
    d, w = rng.uniform(size=len(c.edges)), np.maximum(rng.normal(size=len(c)), 0.0)
    weights, far, total = c.sums(w, d)
    expected = np.zeros(len(d))
    for r in range(len(c)):
        expected[c.far[r]] += w[r]
        expected[c.near[r]] -= w[r]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert far == pytest.approx(sum(w[r] * d[c.far[r]] for r in range(len(c))), rel=1e-12)
    assert total == pytest.approx(sum(w), rel=1e-12)


def test_weights_are_kept() -> None:
    weights = np.array([2.0, 0.5])
    c = Comparisons.from_indices(np.array([[0, 1, 2], [1, 0, 2]]), weights)
    np.testing.assert_array_equal(c.weights, [2.0, 0.5])


@pytest.mark.parametrize("offset", [0, 2**24, 2**31, 3 * 10**9 - 10])
def test_large_item_numbers(offset: int) -> None:
    """A float32 would lose units from 2^24 on, an int32 ends at 2^31; memory is that of m."""
    small = random_triplets(np.random.default_rng(1), 8, 60, 4)
    expected = Comparisons.from_indices(small)
    tracemalloc.start()
    c = Comparisons.from_indices(small + offset)
    items = c.items()
    relabelled = c.relabel(items)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    np.testing.assert_array_equal(c.edges, expected.edges.astype(np.int64) + offset)
    np.testing.assert_array_equal(c.near, expected.near)
    np.testing.assert_array_equal(c.far, expected.far)
    assert c.edges.dtype == (np.int64 if offset >= 2**31 else np.int32)
    assert (c.near.dtype.name, c.far.dtype.name) == ("int32", "int32")
    np.testing.assert_array_equal(items, np.arange(8) + offset)
    np.testing.assert_array_equal(relabelled.edges, expected.edges)
    assert relabelled.edges.dtype == np.int32


def test_edges_that_would_collide_in_32_bits() -> None:
    big = 2**31 + 5
    c = Comparisons.from_indices(np.array([[0, big, 1], [0, 2, big + 1]]))
    assert c.edges.tolist() == [[0, 1], [0, 2], [0, big], [0, big + 1]]


@pytest.mark.parametrize("m", [4, 60, 400])
def test_a_forest_spans_the_differences_of_all_edges(m: int) -> None:
    rng = np.random.default_rng(m)
    X = rng.normal(size=(30, 40))
    c = Comparisons.from_indices(random_triplets(rng, 30, m))
    forest = c.forest(30)
    assert len(forest) == 30 - len(np.unique(c.parts(30))) or forest is c.edges
    assert {tuple(e) for e in forest.tolist()} <= {tuple(e) for e in c.edges.tolist()}
    some, every = (X[edges[:, 0]] - X[edges[:, 1]] for edges in (forest, c.edges))
    expected = np.linalg.matrix_rank(every)
    assert np.linalg.matrix_rank(some) == expected
    assert np.linalg.matrix_rank(np.vstack([some, every])) == expected


def test_relabel_keeps_everything_else() -> None:
    c = Comparisons.from_indices(np.array([[10, 30, 20], [20, 30, 10]]), np.array([1.0, 3.0]))
    r = c.relabel(c.items())
    assert r.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert (r.near.tolist(), r.far.tolist()) == (c.near.tolist(), c.far.tolist())
    assert r.weights.tolist() == [1.0, 3.0]


def test_float_indices_beyond_single_precision_are_exact() -> None:
    row = [2.0**24 + 1, 2.0**24 + 2, 2.0**24 + 3]
    assert as_triplets([row], 2**25).tolist() == [[2**24 + 1, 2**24 + 2, 2**24 + 3]]


def test_fit_on_rows_beyond_single_precision() -> None:
    """Rows 2^24 and 2^24 + 1 are told apart all the way to the metric."""
    X = np.zeros((2**24 + 4, 2), dtype=np.float32)
    X[-4:] = [[0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [1.0, 3.0]]
    result = sdpmetric.solve(X, [[2**24, 2**24 + 1, 2**24 + 2]])
    expected = [[1.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(result.get_mahalanobis_matrix(), expected, atol=1e-3)
