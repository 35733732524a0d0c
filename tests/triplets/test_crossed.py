"""Comparisons made of neighbours directly: the same arrays as those made of triplets."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric import Comparisons
from sdpmetric.learning.fit.labelled import LabelledRows, TripletRule
from sdpmetric.linalg.items import items_of
from sdpmetric.triplets import knn
from sdpmetric.triplets.crossed import cross_comparisons
from sdpmetric.triplets.knn import cross_triplets


@pytest.mark.parametrize(("k", "j"), [(2, 5), (3, 3), (4, 1)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_comparisons_of_neighbours(k: int, j: int, weighted: bool, missing: bool) -> None:
    rng = np.random.default_rng(10 * k + j)
    others = np.array([rng.permutation(np.delete(np.arange(12), i))[: k + j] for i in range(9)])
    near, far = others[:, :k], others[:, k:]
    if missing:  # some here and there, and all near or far rows of two rows
        near, far = (np.where(rng.uniform(size=a.shape) < 0.3, -1, a) for a in (near, far))
        near[2], far[5] = -1, -1
    weights = rng.uniform(0.1, 1.0, size=9) if weighted else None
    if weights is not None:
        weights[[0, 7]] = 0.0
    c = cross_comparisons(near, far, weights)
    triplets = cross_triplets(near, far)
    each = None if weights is None else weights[triplets[:, 0]]
    if each is not None:
        triplets, each = triplets[each > 0.0], each[each > 0.0]
    expected = Comparisons.from_indices(triplets, each)
    for name in ("edges", "near", "far", "weights"):
        np.testing.assert_array_equal(getattr(c, name), getattr(expected, name))
        assert getattr(c, name).dtype == getattr(expected, name).dtype
        assert getattr(c, name).flags.c_contiguous or name == "weights"


def test_no_comparison_at_all() -> None:
    """The problem says what is wrong; here nothing may fail before."""
    c = cross_comparisons(np.full((3, 1), -1), np.array([[1, 2], [0, 2], [0, 1]]))
    assert len(c) == len(c.edges) == 0


def test_memory_of_lists_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 bytes a triplet were checked, but lists of one near or far row need 65."""
    asked: list[float] = []
    monkeypatch.setattr(knn, "check_memory", lambda size, what: asked.append(size))
    codes = np.arange(200) % 2
    rows = LabelledRows(items_of(np.zeros((200, 1))), codes)
    for near, far in ((1, 50), (50, 1), (5, 10)):
        asked.clear()
        rows.check_memory(TripletRule("knn", near, far))
        assert max(asked) >= max(16.0 * near * far, 48.0 * max(near, far)) * 200
