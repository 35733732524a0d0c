"""scikit-learn's own checks, all of them."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sdpmetric import SDPMetric, SDPMetricClassifier, SDPMetricCV
from sdpmetric.learning.estimators.coordinates import Coordinates

SLOW = [
    SDPMetric(loss="squared_hinge", n_components=1),
    Coordinates("within"),
    SDPMetricCV(2, n_neighbors=2, n_impostors=2, n_rounds=1, prior_weight=0.0, cv=2),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([SDPMetric(), SDPMetricClassifier(), Coordinates("standard")])
def test_common_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(SLOW)
def test_common_checks_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)
