"""What to ask next: the least sure, not always about the same items, the same every time."""

from __future__ import annotations

import tracemalloc
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer

from sdpmetric import TripletSDPMetric, suggest_triplets
from tests.support.problems import Floats, Ints, consistent, random_triplets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))


def margins(X: Floats, questions: Ints) -> Floats:
    i, j, k = (X[column] for column in questions.T)
    a, b = np.sum((i - j) ** 2, axis=1), np.sum((i - k) ** 2, axis=1)
    return np.asarray(np.abs(a - b) / (a + b))


def everything(n: int) -> Ints:
    return np.array(
        [(i, j, k) for i in range(n) for j in range(n) for k in range(j + 1, n) if i not in (j, k)]
    )


def test_the_very_least_sure_by_hand() -> None:
    """All questions about five items on a line; those of smallest margin, no pair twice."""
    line = np.array([[0.0], [1.0], [3.0], [7.0], [15.1]])
    found = suggest_triplets(line, None, 3)
    questions = everything(5)
    order = questions[np.argsort(margins(line, questions))]
    pairs: set[frozenset[int]] = set()
    expected: list[list[int]] = []
    for i, j, k in order.tolist():
        both = {frozenset((i, j)), frozenset((i, k))}
        if not both & pairs and len(expected) < 3:  # two of each anchor are allowed
            expected.append([i, j, k])
            pairs |= both
    assert found.tolist() == expected


def test_all_questions_in_the_end() -> None:
    """Diversity waits, it does not refuse."""
    found = suggest_triplets(X[:5], None, 30)
    assert sorted(found.tolist()) == everything(5).tolist()
    assert (np.diff(margins(X[:5], found)) >= 0).all()
    with pytest.raises(ValueError, match="n is 31, but only 30 questions about 5 items"):
        suggest_triplets(X[:5], None, 31)


def test_least_sure_and_diverse() -> None:
    rng = np.random.default_rng(1)
    items = rng.normal(size=(2_000, 4))
    found = suggest_triplets(items, None, 200)
    assert found.shape == (200, 3)
    assert len(np.unique(found, axis=0)) == 200
    assert (found[:, 1] < found[:, 2]).all()
    usual = margins(items, random_triplets(rng, 2_000, 2_000))
    assert margins(items, found).max() < np.quantile(usual, 0.03)
    assert np.bincount(found[:, 0]).max() == 1
    pairs = np.sort(np.vstack([found[:, [0, 1]], found[:, [0, 2]]]), axis=1)
    assert len(np.unique(pairs, axis=0)) == 400


def test_an_ambiguous_anchor_does_not_dominate() -> None:
    """Item 0 is equally far from all others, so every question about it has margin zero."""
    circle = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 6, 29) + RNG.normal(size=29)])
    items = np.vstack([[0.0, 0.0], circle])
    found = suggest_triplets(items, None, 30)
    assert np.bincount(found[:, 0])[0] == 2
    assert np.bincount(found[:, 0]).max() <= 2


def test_the_metric_decides() -> None:
    T = consistent(random_triplets(RNG, 40, 300), X, np.diag([1.0, 0.0, 0.0]))
    metric = TripletSDPMetric().fit(X, T)
    found = suggest_triplets(X, metric, 20)
    assert margins(metric.transform(X), found).max() < 0.05 < margins(X, found).mean()


def test_asked_once_is_enough() -> None:
    """Whichever way it was answered; all but four of the thirty were."""
    asked = everything(5)[:-4]
    asked[::2] = asked[::2][:, [0, 2, 1]]
    found = suggest_triplets(X[:5], None, 4, asked=asked)
    assert sorted(found.tolist()) == everything(5)[-4:].tolist()
    first = suggest_triplets(X, None, 50)
    second = suggest_triplets(X, None, 50, asked=first)
    assert not set(map(tuple, first)) & set(map(tuple, second))
    with pytest.raises(ValueError, match="n is 5, but only 4 questions"):
        suggest_triplets(X[:5], None, 5, asked=asked)
    assert len(suggest_triplets(X, None, 5, asked=[])) == 5


def test_items_that_nothing_tells_apart() -> None:
    """Rows 1 and 2 are equal, so [0, 1, 2] is a tie that no answer can break."""
    twins = np.array([[0.0], [1.0], [1.0], [5.0]])
    found = suggest_triplets(twins, None, 10).tolist()
    assert [0, 1, 2] not in found
    assert [3, 1, 2] not in found
    with pytest.raises(ValueError, match="only 10 are about items that differ"):
        suggest_triplets(twins, None, 11)
    # A metric that is blind to a column may yet learn to see it.
    pair = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 9.0], [5.0, 0.0]])
    blind = FunctionTransformer(lambda X: X[:, :1])
    assert suggest_triplets(pair, blind, 2)[0].tolist() in ([0, 1, 2], [3, 1, 2])


def test_seeds() -> None:
    first = suggest_triplets(X, None, 20).tolist()
    assert first == suggest_triplets(X, None, 20).tolist()
    assert first != suggest_triplets(X, None, 20, random_state=1).tolist()


@pytest.mark.parametrize("make", [sp.csr_array, sp.coo_matrix, np.ndarray.tolist, np.float32])
def test_kinds_of_items(make: Any) -> None:
    items = np.round(8 * X) / 8  # exact in float32
    expected = suggest_triplets(items, None, 20)
    np.testing.assert_array_equal(suggest_triplets(make(items), None, 20), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.filterwarnings("error")
def test_frames(frame: Any) -> None:
    table = frame({name: X[:, i] for i, name in enumerate("abc")})
    metric = TripletSDPMetric().fit(table, random_triplets(RNG, 40, 100))
    expected = suggest_triplets(X, FunctionTransformer(lambda X: X @ metric.components_.T), 20)
    np.testing.assert_array_equal(suggest_triplets(table, metric, 20), expected)


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = suggest_triplets(X, None, 20)
    monkeypatch.setattr("sdpmetric.responses.suggest.LARGE_BYTES", 1_000)
    np.testing.assert_array_equal(suggest_triplets(X, None, 20), expected)


class Endless:
    """2^26 rows that are made when they are read."""

    shape = (2**26, 64)

    def __getitem__(self, rows: Ints) -> Any:
        return np.sin(rows[:, None] * np.sqrt(np.arange(2, 66))).astype(np.float32)


@pytest.mark.slow
def test_many_items_take_little_memory() -> None:
    """All rows would take 16 GB; numbers beyond 2^24 are not what float32 can count."""
    tracemalloc.start()
    found = suggest_triplets(Endless(), None, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    assert found.max() > 2**25
    rows, numbers = np.unique(found, return_inverse=True)
    made = Endless()[rows].astype(np.float64)
    assert margins(made, numbers.reshape(found.shape)).max() < 0.01


def test_errors() -> None:
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        suggest_triplets(X, None, 0)
    with pytest.raises(ValueError, match="metric must be None or have a transform"):
        suggest_triplets(X, "euclidean", 3)
    with pytest.raises(ValueError, match="n is 1, but only 0 questions about 2 items"):
        suggest_triplets(X[:2], None, 1)
    with pytest.raises(ValueError, match=r"asked: row 0 is .* below the number of items, 40"):
        suggest_triplets(X, None, 1, asked=[[0, 1, 40]])
    with pytest.raises(ValueError, match=r"asked has shape \(1, 4\)"):
        suggest_triplets(X, None, 1, asked=[[0, 1, 0, 2]])
    with pytest.raises(ValueError, match="X must be a table"):
        suggest_triplets(X[0], None, 1)


def odd_margins(X: Floats, questions: Ints) -> Floats:
    """By brute force: the two smallest of the three squared distances."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    apart = [X[questions[:, a]] - X[questions[:, b]] for a, b in pairs]
    d = np.sort(np.sum(np.square(apart), axis=2), axis=0)
    return np.asarray((d[1] - d[0]) / (d[1] + d[0]))


def test_odd_one_out_by_hand() -> None:
    """The questions of smallest margin; no pair of items is in two of them."""
    line = np.array([[0.0], [1.0], [3.0], [7.0], [15.1], [31.0]])
    questions = np.array(list(combinations(range(6), 3)))
    order = questions[np.argsort(odd_margins(line, questions), kind="stable")]
    pairs: set[frozenset[int]] = set()
    expected: list[list[int]] = []
    for rows in order.tolist():
        own = {frozenset((a, b)) for a in rows for b in rows if a < b}
        if not own & pairs and len(expected) < 3:
            expected.append(rows)
            pairs |= own
    assert suggest_triplets(line, None, 3, ask="odd-one-out").tolist() == expected


@pytest.mark.parametrize("n_items", [8, 40])  # all candidates are listed, or a sample of them
def test_odd_ones_out_are_not_asked_again(n_items: int) -> None:
    first = suggest_triplets(X[:n_items], None, 10, ask="odd-one-out")
    assert (np.diff(first, axis=1) > 0).all()
    then = suggest_triplets(X[:n_items], None, 10, ask="odd-one-out", asked=first[:, ::-1])
    assert not {tuple(q) for q in first.tolist()} & {tuple(q) for q in then.tolist()}
    assert (np.diff(odd_margins(X, then)) >= 0).all()


def test_all_odd_ones_out_in_the_end() -> None:
    assert len(np.unique(suggest_triplets(X[:6], None, 20, ask="odd-one-out"), axis=0)) == 20
    with pytest.raises(ValueError, match="only 20 questions about 6 items"):
        suggest_triplets(X[:6], None, 21, ask="odd-one-out")


def test_an_odd_one_out_of_equal_items_is_not_asked() -> None:
    same = np.concatenate([X[:3], X[:1]])
    with pytest.raises(ValueError, match="only 2 are about items that differ"):
        suggest_triplets(same, None, 4, ask="odd-one-out")


def test_what_to_ask_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="ask must be one of"):
        suggest_triplets(X, None, 1, ask="ranking")
