"""scikit-learn's own checks, all of them."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sdpmetric import SDPMetric


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([SDPMetric(), SDPMetric(loss="squared_hinge", n_components=1)])
def test_common_checks(estimator: Any, check: Any) -> None:
    check(estimator)
