"""The energies of classes, against their definition written out row by row."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric.learning.estimators import energies
from sdpmetric.learning.estimators.energies import ClassEnergies
from tests.support.problems import Floats, Ints


def problem(sizes: tuple[int, ...]) -> tuple[Floats, Ints, Floats]:
    rng = np.random.default_rng(sum(sizes))
    codes = np.repeat(np.arange(len(sizes)), sizes)
    rows = rng.normal(size=(len(codes), 3)) + rng.normal(size=(len(sizes), 3))[codes]
    return rows, codes, rng.normal(size=(7, 3))


def within(rows: Floats, codes: Ints, i: int, k: int) -> Floats:
    others = [j for j in range(len(rows)) if j != i and codes[j] == codes[i]]
    return np.sort(np.sum((rows[others] - rows[i]) ** 2, axis=1))[:k]


def expected_energies(rows: Floats, codes: Ints, queries: Floats, k: int) -> Floats:
    near = [within(rows, codes, i, k) for i in range(len(rows))]
    W = float(np.mean([n.mean() for n in near if len(n)]))
    perimeter = np.array([(n[-1] if len(n) else W) + W for n in near])
    found = np.zeros((len(queries), codes.max() + 1))
    for q, query in enumerate(queries):
        d = np.sum((rows - query) ** 2, axis=1)
        for c in range(codes.max() + 1):
            own = np.sort(d[codes == c])[:k]
            own = np.append(own, np.full(k - len(own), own[-1]))
            far = np.sort(d[codes != c])[:10]
            found[q, c] = own.sum() + np.maximum(W + own[:, None] - far, 0.0).sum()
            found[q, c] += np.maximum(perimeter - d, 0.0)[codes != c].sum()
    return found / W


@pytest.mark.parametrize("block_bytes", [1, 1 << 24])
@pytest.mark.parametrize("sizes", [(9, 12), (30, 20, 25), (4, 1, 2, 15, 1)])
@pytest.mark.parametrize("k", [1, 3])
def test_energies_are_those_of_the_definition(
    k: int, sizes: tuple[int, ...], block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(energies, "RESULT_BYTES", block_bytes)
    rows, codes, queries = problem(sizes)
    found = ClassEnergies.learn(rows, codes, k)
    # Of a small class each row counts once among the far ones.
    expected = expected_energies(rows, codes, queries, k)
    np.testing.assert_allclose(found.of(queries), expected, rtol=1e-9)
    means = np.array(
        [
            [np.sort(np.sum((rows[codes == c] - q) ** 2, axis=1))[:k].mean() for c in set(codes)]
            for q in queries
        ]
    )
    votes = np.zeros((len(queries), len(sizes)))
    for q, query in enumerate(queries):
        nearest = np.argsort(np.sum((rows - query) ** 2, axis=1))[:k]
        votes[q] = np.bincount(codes[nearest], minlength=len(sizes))
    np.testing.assert_array_equal(found.by("vote", queries), -votes)
    big = np.array(sizes) >= k
    np.testing.assert_allclose(found.nearest(queries)[:, big] * found.margin, means[:, big])


def test_a_row_that_is_left_out_does_not_count() -> None:
    rows, codes, _ = problem((20, 25))
    found = ClassEnergies.learn(rows, codes, 3)
    left_out = found.nearest(rows, np.arange(45))
    expected = [within(rows, codes, i, 3).mean() / found.margin for i in range(45)]
    np.testing.assert_allclose(left_out[np.arange(45), codes], expected)


def test_rows_that_coincide() -> None:
    rows = np.zeros((6, 2))
    found = ClassEnergies.learn(rows, np.repeat([0, 1], 3), 3)
    assert np.isfinite(found.of(np.ones((2, 2)))).all()
