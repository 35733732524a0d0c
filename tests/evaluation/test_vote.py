"""The vote, against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

import sdpmetric.evaluation.vote
from sdpmetric.evaluation.vote import accuracy, vote
from sdpmetric.linalg.items import items_of


@pytest.mark.parametrize("block", [1, 1 << 9, 1 << 24])
@pytest.mark.parametrize("k", [1, 3, 4, 50])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sp.csr_array])
def test_as_scikit_learn(kind: Any, k: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdpmetric.evaluation.vote, "RESULT_BYTES", block)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 4, 50)
    rows, expected = rng.normal(size=(70, 3)), rng.integers(0, 4, 70)
    judge = KNeighborsClassifier(k).fit(X, y)
    train, held = items_of(kind(X)), items_of(kind(rows))
    np.testing.assert_array_equal(vote(train, y, held, k), judge.predict(rows))
    score = accuracy(train, y, held, expected, k)
    assert score == pytest.approx(judge.score(rows, expected))


def test_smallest_label_wins_a_tie() -> None:
    X = items_of(np.array([[0.0], [1.0], [2.0], [50.0]]))
    assert vote(X, np.array([7, 2, 5, 2]), items_of(np.array([[0.9]])), 3).tolist() == [2]


@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_votes_far_from_zero_were_decided_by_rounding(offset: float) -> None:
    """Time stamps: products of 1e16 have no digits left for differences of one."""
    rng = np.random.default_rng(1)
    X, y, rows = rng.normal(size=(60, 3)), rng.integers(0, 4, 60), rng.normal(size=(90, 3))
    X, rows = X + offset, rows + offset
    expected = KNeighborsClassifier(3, algorithm="kd_tree").fit(X, y).predict(rows)
    np.testing.assert_array_equal(vote(items_of(X), y, items_of(rows)), expected)
