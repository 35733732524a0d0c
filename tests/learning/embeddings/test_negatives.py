"""What is mined for a query, and where its positives stand, against plain loops over all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sdpmetric import retrieval_scores, solve
from sdpmetric.engines.threads import thread_pool
from sdpmetric.learning.embeddings.corpus import Vectors
from sdpmetric.learning.embeddings.negatives import (
    Hardness,
    comparisons,
    hard_negatives,
    present_neighbors,
)
from sdpmetric.learning.embeddings.pairs import Pairs, read_pairs
from sdpmetric.learning.embeddings.ranks import query_scores
from sdpmetric.linalg.items import items_of

N, D = 80, 6


def random_pairs(rng: Any, n_queries: int, count: int = 30) -> Any:
    """Several positives for some queries, and a negative in some rows."""
    query = rng.integers(n_queries, size=count)
    positive = N // 2 + rng.integers(N // 4, size=count)
    negative = 3 * N // 4 + rng.integers(N // 4, size=count)
    rows = [
        p if c else None for p, c in zip(negative.tolist(), rng.random(count) < 0.3, strict=True)
    ]
    return {"query": query, "positive": positive, "negative": rows}


def problem(separate: bool, seed: int = 0) -> tuple[Vectors, Pairs]:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(N, D)) + 5.0).astype(np.float32)
    Q = (rng.normal(size=(12, D)) + 5.0).astype(np.float32) if separate else None
    vectors = Vectors(items_of(X), None if Q is None else items_of(Q))
    return vectors, read_pairs(random_pairs(rng, 12), vectors)


def metrics() -> dict[str, Any]:
    """None, few rows, and an identity prior: D rows, most of one length."""
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(30, D)), np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    mixed = solve(X, T, prior="identity", prior_weight=0.3).components
    thin = solve(X, T).components
    assert len(thin) < len(mixed) == D
    return {"Euclidean": None, "thin": thin, "mixed": mixed, "full": np.diag(np.arange(1.0, D + 1))}


METRICS = metrics()


def expected_negatives(vectors: Vectors, pairs: Pairs, how: Hardness, C: Any) -> list[list[int]]:
    C = np.eye(D) if C is None else C
    X, Q = vectors.X.raw @ C.T, vectors.gather(pairs.queries) @ C.T
    to_query, to_row = cdist(Q, X), cdist(X, X)
    found = []
    for place, number in enumerate(pairs.queries):
        positives = pairs.positive[pairs.of_positive == place]
        barred = {*positives, *pairs.negative[pairs.of_negative == place]}
        if vectors.Q is None:
            barred.add(number)
        for p in positives:
            barred |= {x for x in range(N) if to_row[x, p] < how.guard * to_query[place, p]}
        allowed = [x for x in np.argsort(to_query[place]) if x not in barred]
        mined = allowed[how.skip : how.skip + how.n_negatives]
        found.append([*mined, *[-1] * (how.n_negatives - len(mined))])
    return found


@pytest.fixture
def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdpmetric.learning.embeddings.scan.ROWS", 7)
    for module in ("scan", "negatives", "ranks"):
        monkeypatch.setattr(f"sdpmetric.learning.embeddings.{module}.QUERIES", 3)


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("C", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize(("skip", "guard"), [(0, 0.0), (3, 0.0), (0, 0.7), (2, 1.0)])
def test_nearest_that_are_allowed(C: Any, separate: bool, skip: int, guard: float) -> None:
    vectors, pairs = problem(separate)
    how = Hardness(5, skip, guard)
    expected = expected_negatives(vectors, pairs, how, C)
    assert guard == 0.0 or expected != expected_negatives(vectors, pairs, Hardness(5, skip, 0.0), C)
    with thread_pool(2):
        found = hard_negatives(vectors, pairs, how, C)
    assert found.tolist() == expected


def test_guard_on_a_line() -> None:
    """Query at 0, positive at 1; the others by their distance to the positive."""
    X = np.array([[0.0], [1.0], [1.4], [0.3], [-0.5], [2.2], [0.0], [-9.0]])
    vectors = Vectors(items_of(X))
    pairs = read_pairs([(0, 1)], vectors)

    def mined(guard: float, skip: int = 0) -> list[int]:
        found = hard_negatives(vectors, pairs, Hardness(3, skip, guard))[0]
        return [int(i) for i in found]

    assert mined(0.0) == [3, 4, 2]  # never row 6, a copy of the query
    assert mined(0.5) == [3, 4, 5]  # row 2 is 0.4 from the positive
    assert mined(1.0) == [4, 5, 7]  # row 3 is 0.7 from it
    assert mined(1.3) == [4, 7, -1]  # row 5 is 1.2 from it
    assert mined(1.0, skip=1) == [5, 7, -1]
    assert mined(1.0, skip=9) == [-1, -1, -1]


def test_comparisons_weigh_queries_alike() -> None:
    vectors, pairs = problem(separate=False)
    items, indices, weights = comparisons(vectors, pairs, Hardness(4, 0, 0.5))
    mined = hard_negatives(vectors, pairs, Hardness(4, 0, 0.5))
    expected = {
        (int(query), int(p), int(n))
        for place, query in enumerate(pairs.queries)
        for p in pairs.positive[pairs.of_positive == place]
        for n in [*mined[place], *pairs.negative[pairs.of_negative == place]]
    }
    rows = {row.tobytes(): number for number, row in enumerate(vectors.X.raw)}
    numbers = np.array([rows[item.tobytes()] for item in items.raw])
    found = [tuple(row) for row in numbers[indices].tolist()]
    assert sorted(found) == sorted(expected)
    assert items.dtype == np.float32
    assert len(items) == len(set(numbers[indices].ravel().tolist())) < N
    assert weights is not None
    totals = np.bincount(np.searchsorted(pairs.queries, numbers[indices[:, 0]]), weights)
    np.testing.assert_allclose(totals, totals[0])


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("C", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("separate", [False, True])
def test_scores_are_those_of_a_full_ranking(C: Any, separate: bool) -> None:
    """Copies of rows tie; the lower row comes first."""
    vectors, pairs = problem(separate)
    vectors.X.raw[20:50] = vectors.X.raw[50:80]
    A = np.eye(D) if C is None else C
    X = vectors.X.raw @ A.T
    relevant = [pairs.positive[pairs.of_positive == i] for i in range(len(pairs))]
    if separate:
        expected = retrieval_scores(
            vectors.gather(pairs.queries) @ A.T, G=X, relevant=relevant, k=(1, 7)
        )
    else:
        everyone: list[Any] = [[] for _ in range(N)]
        for number, positives in zip(pairs.queries, relevant, strict=True):
            everyone[number] = positives
        with pytest.warns(UserWarning, match="left out"):
            expected = retrieval_scores(X, relevant=everyone, k=(1, 7))
    found = query_scores(vectors, pairs, C, [1, 7])
    assert set(found) == set(expected.per_query)
    for name, values in found.items():
        np.testing.assert_allclose(values, expected.per_query[name], err_msg=name)


def test_nothing_is_left() -> None:
    vectors, pairs = problem(separate=False)
    bare = read_pairs([(0, 1)], vectors)
    with pytest.raises(ValueError, match=r"skip is 200 and guard is 1: no row of X is left"):
        comparisons(vectors, bare, Hardness(4, 200, 1.0))
    with pytest.raises(ValueError, match=r"n_negatives is 0 and none of 1 queries"):
        comparisons(vectors, bare, Hardness(0, 0, 1.0))
    assert (hard_negatives(vectors, pairs, Hardness(4, 200, 1.0)) == -1).all()


def test_kin_are_rows_that_answer_each_other_and_copies() -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[9] = X[4]
    table = [(0, 1), (1, 0), (2, 3), (3, 5), (4, 6), (9, 7), (8, 0)]
    pairs = read_pairs(table, Vectors(items_of(X)))
    groups = dict(
        zip(pairs.queries.tolist(), pairs.leak_groups(Vectors(items_of(X))).tolist(), strict=True)
    )
    assert groups[0] == groups[1]
    assert groups[4] == groups[9]
    assert len(set(groups.values())) == 5  # 2 -> 3 is not answered, nor is 8 -> 0


def test_euclidean_distances_are_exact_enough() -> None:
    """Far from the origin, where products of rows that are not centred would lose all digits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, D)) + 1e7
    pairs = read_pairs([(i, i + 25) for i in range(25)], Vectors(items_of(X)))
    found = hard_negatives(Vectors(items_of(X)), pairs, Hardness(50, 0, 0.0))
    d = cdist(X, X)
    for i in range(25):
        expected = [j for j in np.argsort(d[i]) if j not in (i, i + 25)]
        assert found[i][found[i] >= 0].tolist() == expected


@pytest.mark.parametrize("separate", [False, True])
def test_present_neighbours_by_plain_loops(separate: bool) -> None:
    vectors, pairs = problem(separate)
    expected = set()
    to_row = cdist(vectors.gather(pairs.queries), vectors.X.raw)
    for place, number in enumerate(pairs.queries):
        order = [row for row in np.argsort(to_row[place]) if separate or row != number]
        expected |= {(int(number), int(a), int(b)) for a in order[:3] for b in order[20:30]}
    found = present_neighbors(vectors, pairs)
    assert len(found) == len(expected) == 30 * len(pairs)
    assert {tuple(row) for row in found.tolist()} == expected


def test_present_neighbours_have_their_share_of_the_weight() -> None:
    vectors, pairs = problem(separate=True)
    _, plain, before = comparisons(vectors, pairs, Hardness(4, 0, 0.5))
    items, triplets, weights = comparisons(vectors, pairs, Hardness(4, 0, 0.5, preserve=0.25))
    assert before is not None
    assert weights is not None
    assert len(triplets) == len(plain) + 30 * len(pairs)
    np.testing.assert_array_equal(weights[: len(plain)], before)
    assert weights[len(plain) :].sum() / weights.sum() == pytest.approx(0.25)
    rows = items.raw[triplets[len(plain) :]]
    near, far = (np.linalg.norm(rows[:, 0] - rows[:, c], axis=1) for c in (1, 2))
    assert (near < far).all()
