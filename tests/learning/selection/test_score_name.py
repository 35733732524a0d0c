"""A score says what it is a score of."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression

from sdpmetric import EmbeddingAdapter, SDPMetricCV, TripletSDPMetricCV
from sdpmetric.learning.selection.score_name import score_name


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        (SDPMetricCV(), "held-out rows classified correctly by their 3 nearest"),
        (SDPMetricCV(scoring="triplets"), "held-out triplets answered correctly"),
        (SDPMetricCV(scoring=LogisticRegression()), "held-out score (LogisticRegression)"),
        (TripletSDPMetricCV(), "held-out comparisons answered correctly"),
        (TripletSDPMetricCV(folds="group"), "of held-out participants answered"),
        (EmbeddingAdapter(), "held-out score (ndcg)"),
    ],
    ids=str,
)
def test_score_name(search: Any, expected: str) -> None:
    assert expected in score_name(search)
