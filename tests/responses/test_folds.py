"""Folds of answers: complete, disjoint, and new in what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric import ResponseKFold, Responses, TripletSDPMetricCV
from tests.support.problems import consistent, random_triplets

RNG = np.random.default_rng(0)
SHOWN = random_triplets(RNG, 15, 120)
WHO = RNG.integers(0, 9, 120)
R = Responses.from_odd_one_out(np.vstack([SHOWN, SHOWN[:60, ::-1]]), participants=[*WHO, *WHO[60:]])


def keys(r: Responses, by: str) -> set[Any]:
    """What a fold by this may not share, straight from the definition."""
    assert r.participants is not None
    return {
        "participant": set(r.participants.tolist()),
        "question": {frozenset(row) for row in r.triplets.tolist()},
    }[by]


@pytest.mark.parametrize("by", ["participant", "item", "question", "answer"])
def test_folds(by: str) -> None:
    splits = list(ResponseKFold(4, by=by).split(R))
    assert len(splits) == ResponseKFold(4, by=by).get_n_splits() == 4
    for train, held in splits:
        assert len(np.intersect1d(train, held)) == 0
        assert len(train) + len(held) == len(R)
        if by in ("participant", "question"):
            assert not keys(R[train], by) & keys(R[held], by)
        elif by == "answer":  # the two triplets of an odd one out
            assert not set(R.answers[train]) & set(R.answers[held])
        else:
            new = np.setdiff1d(R.triplets, R.triplets[train])
            assert np.isin(R.triplets[held], new).any(axis=1).all()
    assert set(np.concatenate([held for _, held in splits])) == set(range(len(R)))


def test_seeds() -> None:
    def held(**settings: Any) -> list[list[int]]:
        return [rows.tolist() for _, rows in ResponseKFold(3, **settings).split(R)]

    assert held() == held()
    assert held() != held(random_state=1)


def test_groups_instead_of_responses() -> None:
    assert R.participants is not None
    expected = list(ResponseKFold(3).split(R))
    for (a, b), (c, d) in zip(
        ResponseKFold(3).split(R.triplets, None, R.participants), expected, strict=True
    ):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


@pytest.mark.parametrize("by", ["participant", "item", "question"])
def test_a_search_takes_it(by: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(15, 3))
    T = consistent(R.triplets, X, np.diag([1.0, 0.0, 0.0]))
    cv = ResponseKFold(3, by=by)
    search = TripletSDPMetricCV(Cs=2, prior_weight=0.0, coordinates="raw", cv=cv)
    groups = R.participants if by == "participant" else None
    assert search.fit(X, T, groups=groups).n_splits_ == 3


def test_errors() -> None:
    with pytest.raises(ValueError, match="groups is None and by is 'answer'"):
        next(ResponseKFold(2, by="answer").split(R.triplets))
    two = Responses(SHOWN[:3], participants=np.array([1, 2, 2]))
    with pytest.raises(ValueError, match="n_splits is 5, but there are only 2 participants"):
        next(ResponseKFold().split(two))
    with pytest.raises(ValueError, match="participants is None"):
        next(ResponseKFold().split(Responses(SHOWN)))
    with pytest.raises(ValueError, match="n_splits must be an integer of at least 2"):
        next(ResponseKFold(1).split(R))
    with pytest.raises(ValueError, match="by must be one of"):
        next(ResponseKFold(by="anchor").split(R))
    with pytest.raises(ValueError, match="n_splits is 16, but there are only 15 items"):
        next(ResponseKFold(16, by="item").split(R))
