"""Deployments: the nearest rows are those of the quadratic form, or as many of them as we say."""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric import SDPMetric
from sdpmetric.deployment import (
    augment_queries,
    augment_rows,
    query_only,
    rerank,
    rerank_recall,
    reranking,
)
from tests.support.problems import Floats, Ints


@pytest.fixture(scope="module")
def rows() -> tuple[Floats, Ints]:
    """Correlated columns, not centred, unit norm: as embeddings are."""
    rng = np.random.default_rng(5)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 6)) @ rng.normal(size=(6, 6)) + 3.0
    X[:, 0] += 2.0 * y
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X.setflags(write=False)
    return X, y


@pytest.fixture(scope="module")
def metric(rows: tuple[Floats, Ints]) -> Any:
    return SDPMetric(3, tol=1e-2).fit(*rows)


def form(metric: Any, Q: Floats, X: Floats) -> Floats:
    M = sum(np.outer(row, row) for row in metric.components_)
    d = Q[:, None] - X[None]
    return np.asarray(np.einsum("abi,ij,abj->ab", d, M, d))


def test_augmented_products_give_the_distances(rows: tuple[Floats, Ints], metric: Any) -> None:
    X, Q = rows[0][10:], rows[0][:10]
    products = augment_queries(metric, Q) @ augment_rows(metric, X).T
    M = metric.get_mahalanobis_matrix()
    own = np.einsum("ai,ij,aj->a", Q, M, Q)
    np.testing.assert_allclose(own[:, None] - 2.0 * products, form(metric, Q, X), atol=1e-12)


def test_augmented_products_in_an_index(rows: tuple[Floats, Ints], metric: Any) -> None:
    X, Q = rows[0][10:].astype(np.float32), rows[0][:10].astype(np.float32)
    index = faiss.IndexFlatIP(7)
    index.add(augment_rows(metric, X))
    found = index.search(augment_queries(metric, Q), 5)[1]
    expected = np.argsort(form(metric, rows[0][:10], rows[0][10:]), axis=1)[:, :5]
    np.testing.assert_array_equal(found, expected)


def test_query_only_is_multiplied_by_m(rows: tuple[Floats, Ints], metric: Any) -> None:
    Q, M = rows[0][:10], metric.get_mahalanobis_matrix()
    centre = np.arange(6.0)
    np.testing.assert_allclose(query_only(metric, Q), Q @ M, atol=1e-14)
    np.testing.assert_allclose(query_only(metric, Q, centre), (Q - centre) @ M, atol=1e-14)
    assert query_only(metric, Q.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("block_bytes", [1, 1 << 26])
def test_rerank(
    block_bytes: int, rows: tuple[Floats, Ints], metric: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking, "LARGE_BYTES", block_bytes)
    X, Q = rows[0][10:], rows[0][:10]
    candidates = np.argsort(-(Q @ X.T), axis=1)[:, :20]
    truth = np.take_along_axis(form(metric, Q, X), candidates, axis=1)
    order = np.argsort(truth, axis=1)[:, :4]
    distances, nearest = rerank(metric, Q, X, candidates, k=4)
    np.testing.assert_array_equal(nearest, np.take_along_axis(candidates, order, axis=1))
    np.testing.assert_allclose(distances**2, np.take_along_axis(truth, order, axis=1), atol=1e-12)


def test_rerank_with_too_few_candidates(rows: tuple[Floats, Ints], metric: Any) -> None:
    """As Faiss reports them: -1."""
    X = np.repeat(rows[0][:2], 2, axis=0)  # ties
    distances, nearest = rerank(metric, X[:1], X, [[-1, 1, 3, 0]], k=4)
    assert nearest.tolist() == [[0, 1, 3, -1]]
    assert distances[0, :2].tolist() == [0.0, 0.0]
    assert np.isfinite(distances[0, 2])
    assert np.isinf(distances[0, 3])


def test_rerank_looks_at_candidates_alone(rows: tuple[Floats, Ints], metric: Any) -> None:
    """A check of all rows at each call took longer than the query itself."""
    X = rows[0].copy()
    X[7, 2] = np.nan
    expected = rerank(metric, X[:1], rows[0], [[3, 4]], k=2)
    for found, right in zip(rerank(metric, X[:1], X, [[3, 4]], k=2), expected, strict=True):
        np.testing.assert_array_equal(found, right)
    with pytest.raises(ValueError, match="X contains NaN or infinity in row 7"):
        rerank(metric, X[:1], X, [[3, 7]], k=2)


def test_recall_is_that_of_the_search(rows: tuple[Floats, Ints], metric: Any) -> None:
    X, Q = rows[0][10:], rows[0][:10]
    M = metric.get_mahalanobis_matrix()
    truth = np.argsort(form(metric, Q, X), axis=1)[:, :5]
    products = (Q - X.mean(axis=0)) @ M @ X.T
    candidates = np.argsort(-products, axis=1)
    expected = {
        r: np.mean([len({*a} & {*b[:r]}) / 5 for a, b in zip(truth, candidates, strict=True)])
        for r in (5, 20, 80)
    }
    assert rerank_recall(metric, Q, X, 5, [5, 20, 80]) == pytest.approx(expected)
    assert expected[5] < expected[20] <= expected[80] == 1.0
    assert rerank_recall(metric, Q, X, 5, 10_000) == {10_000: 1.0}
    # What re-ranking then finds is just that share.
    nearest = rerank(metric, Q, X, candidates[:, :20], k=5)[1]
    found = np.mean([len({*a} & {*b}) / 5 for a, b in zip(truth, nearest, strict=True)])
    assert found == pytest.approx(expected[20])


def test_recall_of_the_users_index(rows: tuple[Floats, Ints], metric: Any) -> None:
    X, Q = rows[0][10:].astype(np.float32), rows[0][:10].astype(np.float32)
    index = faiss.IndexFlatIP(6)
    index.add(X)
    expected = rerank_recall(metric, Q, X, 5, [5, 20])
    found = rerank_recall(metric, Q, X, 5, [5, 20], search=lambda q, r: index.search(q, r)[1])
    assert found == pytest.approx(expected, abs=0.05)
    blind = rerank_recall(metric, Q, X, 5, [5], search=lambda q, r: np.full((len(q), r), -1))
    assert blind == {5: 0.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m, X: augment_rows(m, X[:, :4]),
            r"X must have 6 columns, as the metric has, got 4",
        ),
        (lambda m, X: query_only(m, X[0]), r"Q must be a table"),
        (lambda m, X: augment_queries(m, sp.csr_array(X)), r"Q is sparse, expected a dense"),
        (lambda m, X: query_only(m, X, np.ones(4)), r"centre must be 6 finite numbers"),
        (lambda m, X: rerank(m, X, X, [[0]]), r"candidates must be integers of shape \(90, r\)"),
        (lambda m, X: rerank(m, X[:1], X, [[0.5]]), r"candidates must be integers .* float64"),
        (lambda m, X: rerank(m, X[:1], X, [[90]]), r"0 to 89, or -1 for none; got 90 to 90"),
        (lambda m, X: rerank(m, X[:1], X, [[0, 1]], 3), r"k must be .* at most 2, got 3"),
        (lambda m, X: rerank_recall(m, X, X, 10, [5]), r"n_candidates must be .* 10, got 5"),
        (lambda m, X: rerank_recall(m, X, X, 91), r"k must be .* at most 90, got 91"),
        (lambda m, X: augment_rows(X, X), r"metric must be a fitted metric .* got ndarray"),
    ],
)
def test_errors(call: Any, message: str, rows: tuple[Floats, Ints], metric: Any) -> None:
    with pytest.raises(ValueError, match=message):
        call(metric, rows[0])
