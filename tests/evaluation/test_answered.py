"""The share of comparisons answered correctly, against distances written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric import Comparisons
from sdpmetric.evaluation.answered import correct_answers, triplet_accuracy
from sdpmetric.linalg.items import items_of


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("width", [3, 4])
def test_by_the_definition(kind: type, width: int) -> None:
    rng = np.random.default_rng(width)
    X = rng.integers(-2, 3, size=(12, 3)).astype(np.float64)  # small integers: ties occur
    indices = np.stack([rng.choice(12, width, replace=False) for _ in range(200)])
    weights = rng.integers(1, 5, size=200).astype(np.float64)
    near = indices[:, :2]
    far = indices[:, [0, 2]] if width == 3 else indices[:, 2:]
    d_near, d_far = (((X[pair[:, 0]] - X[pair[:, 1]]) ** 2).sum(axis=1) for pair in (near, far))
    expected = d_near < d_far
    assert (d_near == d_far).any()
    comparisons = Comparisons.from_indices(indices, weights)
    assert correct_answers(items_of(kind(X)), comparisons).tolist() == expected.tolist()
    share = float((weights * expected).sum() / weights.sum())
    assert triplet_accuracy(items_of(kind(X)), comparisons) == pytest.approx(share)


def test_ties_are_wrong() -> None:
    comparisons = Comparisons.from_indices(np.array([[0, 1, 2], [1, 2, 0]]))
    assert triplet_accuracy(items_of(np.zeros((3, 2))), comparisons) == 0.0
