"""The vote, against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

import sdpmetric.selection.vote
from sdpmetric.selection.vote import accuracy, vote


@pytest.mark.parametrize("block", [1, 64, 1 << 22])
@pytest.mark.parametrize("k", [1, 3, 4, 50])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sp.csr_array])
def test_as_scikit_learn(kind: Any, k: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdpmetric.selection.vote, "_BLOCK", block)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 4, 50)
    rows, expected = rng.normal(size=(70, 3)), rng.integers(0, 4, 70)
    judge = KNeighborsClassifier(k).fit(X, y)
    np.testing.assert_array_equal(vote(kind(X), y, kind(rows), k), judge.predict(rows))
    score = accuracy(kind(X), y, kind(rows), expected, k)
    assert score == pytest.approx(judge.score(rows, expected))


def test_smallest_label_wins_a_tie() -> None:
    X = np.array([[0.0], [1.0], [2.0], [50.0]])
    assert vote(X, np.array([7, 2, 5, 2]), np.array([[0.9]]), 3).tolist() == [2]
