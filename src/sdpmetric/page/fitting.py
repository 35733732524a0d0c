"""The fit that runs while people answer: warm-started, with a prior that fades as answers come."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from .._support.typing import Floats
from ..learning.estimators.triplet_sdp_metric import TripletSDPMetric
from ..responses.responses import Responses

TOL = 1e-3  # relative gap: tighter ones do not change the next question
_TIME_LIMIT = 5.0  # seconds; a fit that needs more is certified as it is then
_PRIOR_ANSWERS = 2.0  # answers per feature at which prior and answers weigh the same


def new_metric() -> TripletSDPMetric:
    """An estimator that goes on from its last fit."""
    return TripletSDPMetric(
        h=0.5, prior="identity", warm_start=True, tol=TOL, time_limit=_TIME_LIMIT
    )


def prior_weight(n_answers: int, n_features: int) -> float:
    """The weight of Euclidean distance beside the answers: 1 without answers, then ever less."""
    enough = _PRIOR_ANSWERS * n_features
    return enough / (enough + n_answers)


def fit(metric: TripletSDPMetric, X: Floats, responses: Responses) -> TripletSDPMetric:
    """Fit a metric again; the dashboard says if it did not reach the tolerance."""
    n_answers = len(set(responses.answers.tolist()))
    metric.set_params(prior_weight=prior_weight(n_answers, X.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return metric.fit(X, *responses.merged())
