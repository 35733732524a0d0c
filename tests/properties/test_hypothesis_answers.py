"""Searches for neighbours, scores and statistics on data that Hypothesis draws."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdpmetric import (
    Responses,
    accuracy_interval,
    knn_triplets,
    noise_ceiling,
    retrieval_scores,
    sign_flip_test,
    suggest_triplets,
)
from sdpmetric.learning.estimators.coordinates import Coordinates
from tests.support.longdouble import long_rows
from tests.support.problems import Floats, Ints
from tests.support.strategies import (
    Table,
    comparisons,
    examples,
    labels,
    tables,
    unless_refused,
    weights,
)
from tests.support.truth import Long

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("error")]


@st.composite
def classes(draw: st.DrawFn) -> tuple[Table, Ints]:
    """Rows and their labels."""
    table = draw(tables())
    return table, draw(labels(len(table.rows)))


def distances(table: Table) -> Long:
    """Squared Euclidean distances in long doubles, up to a factor."""
    rows, _ = long_rows(table.rows)
    return np.asarray(np.sum((rows[:, None] - rows[None]) ** 2, axis=2))


@examples(60)
@given(classes(), st.integers(1, 3), st.integers(1, 3))
def test_triplets_hold_the_nearest_rows(drawn: tuple[Table, Ints], near: int, far: int) -> None:
    table, y = drawn
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*class|.*row", UserWarning)
        T = knn_triplets(table.given, y, near, far)
    d = distances(table)
    slack = 1e-15 * float(d.max())
    same = y[:, None] == y[None]
    np.fill_diagonal(same, False)
    for i in np.unique(T[:, 0]):
        mine = T[T[:, 0] == i]
        for column, allowed, k in ((1, same[i], near), (2, y != y[i], far)):
            found = np.unique(mine[:, column])
            assert allowed[found].all()
            expected = np.sort(d[i, allowed])[:k]
            np.testing.assert_allclose(
                np.sort(d[i, found]).astype(float), expected.astype(float), rtol=1e-12, atol=slack
            )


@examples(40)
@given(classes())
def test_retrieval_scores_by_brute_force(drawn: tuple[Table, Ints]) -> None:
    table, y = drawn
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*queries have no relevant", UserWarning)
        scores = retrieval_scores(table.given, y, k=[1, 3])
    d = distances(table)
    assert 0.0 <= min(scores.means.values()) <= max(scores.means.values()) <= 1.0
    slack = 1e-13 * float(d.max())
    for query, hit in zip(scores.queries, scores.per_query["hit@1"], strict=True):
        others = np.arange(len(y)) != query
        relevant = d[query, others & (y == y[query])].min()
        rest = d[query, others & (y != y[query])]
        # Only where rounding cannot decide.
        if rest.size == 0 or relevant < rest.min() - slack:
            assert hit == 1.0
        elif relevant > rest.min() + slack:
            assert hit == 0.0


@examples(30)
@given(tables(), st.integers(1, 4))
def test_suggestions_are_questions(table: Table, n: int) -> None:
    T = unless_refused("n is", lambda: suggest_triplets(table.given, None, n))
    if T is None:
        return  # too few items differ
    assert T.shape == (n, 3)
    assert (T[:, 1] < T[:, 2]).all()
    d = distances(table)
    assert (d[T[:, 1], T[:, 2]] > 0.0).all()


@examples(40)
@given(classes(), st.sampled_from(["raw", "standard", "within"]))
def test_coordinates_are_finite(drawn: tuple[Table, Ints], kind: str) -> None:
    table, y = drawn
    if kind == "within" and sp.issparse(table.given):
        return
    mapped = Coordinates(kind).fit_transform(table.given, y)
    dense: Floats = mapped.toarray() if sp.issparse(mapped) else mapped
    assert np.isfinite(dense).all()
    if kind == "standard" and dense.dtype == np.float64:
        deviation = dense.std(axis=0)
        constant = np.ptp(table.rows, axis=0) <= 1e-7 * np.abs(table.rows).max(axis=0)
        np.testing.assert_allclose(deviation[~constant], 1.0, rtol=1e-6)


@st.composite
def responses(draw: st.DrawFn) -> tuple[Table, Responses]:
    """Answers to few questions, of which most are asked several times."""
    table = draw(tables())
    T = draw(comparisons(len(table.rows)))[:, :3]
    T = np.vstack([T, T, T[:, [0, 2, 1]]])
    given = draw(weights(len(T)))
    who = np.arange(len(T)) % draw(st.integers(2, 7))
    return table, Responses(T, np.ones(len(T)) if given is None else given, participants=who)


@examples(40)
@given(responses())
def test_statistics_of_responses(drawn: tuple[Table, Responses]) -> None:
    table, r = drawn
    # No question is repeated, or one answer has all the weight.
    ceiling = unless_refused("responses:", lambda: noise_ceiling(r, n_splits=5))
    if ceiling is not None:
        assert 0.5 <= ceiling.upper <= 1.0
        assert 0.0 <= ceiling.lower <= 1.0
        assert -1e-6 <= ceiling.agreement <= 1.0 + 1e-6
    merged, total = r.merged()
    assert len(merged) == len(total)
    assert np.isfinite(total).all()
    assert np.isfinite(r.balanced().weights).all()
    # A single unit has weight.
    interval = unless_refused(
        "responses: found", lambda: accuracy_interval(table.given, r, n_resamples=50)
    )
    if interval is not None:
        assert 0.0 <= interval.low <= interval.high <= 1.0
    test = sign_flip_test(table.given, r, None, n_flips=50)
    assert 0.0 < test.p_value <= 1.0
