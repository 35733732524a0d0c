"""sdpmetric: learn a Mahalanobis distance from comparisons, with a certificate of optimality.

Public names are imported when first used: scikit-learn and Numba take a second or more, and
`sdpmetric --help` should not wait for them. No module has the name of a public function, or its
import would hide it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .agreement import NoiseCeiling, noise_ceiling
    from .bootstrap import AccuracyInterval, accuracy_interval
    from .comparisons import Comparisons
    from .estimators import SDPMetric, TripletSDPMetric
    from .exports import export
    from .loss_check import check_loss
    from .losses import Huber, Logistic, Loss, SquaredHinge
    from .mining import knn_triplets
    from .model_file import load
    from .model_selection import SDPMetricCV, TripletSDPMetricCV
    from .response_folds import ResponseKFold
    from .responses import Responses
    from .result import Progress, Result, Status
    from .retrieval import RetrievalScores, retrieval_scores
    from .scorers import retrieval_scorer
    from .sign_flip import SignFlipTest, sign_flip_test
    from .solving import solve
    from .suggest import suggest_triplets

__all__ = [
    "AccuracyInterval",
    "Comparisons",
    "Huber",
    "Logistic",
    "Loss",
    "NoiseCeiling",
    "Progress",
    "ResponseKFold",
    "Responses",
    "Result",
    "RetrievalScores",
    "SDPMetric",
    "SDPMetricCV",
    "SignFlipTest",
    "SquaredHinge",
    "Status",
    "TripletSDPMetric",
    "TripletSDPMetricCV",
    "accuracy_interval",
    "check_loss",
    "export",
    "knn_triplets",
    "load",
    "noise_ceiling",
    "retrieval_scorer",
    "retrieval_scores",
    "sign_flip_test",
    "solve",
    "suggest_triplets",
]

__version__ = "0.1.0"

_HOMES = {
    "NoiseCeiling": "agreement",
    "noise_ceiling": "agreement",
    "AccuracyInterval": "bootstrap",
    "accuracy_interval": "bootstrap",
    "Comparisons": "comparisons",
    "SDPMetric": "estimators",
    "TripletSDPMetric": "estimators",
    "export": "exports",
    "check_loss": "loss_check",
    "Huber": "losses",
    "Logistic": "losses",
    "Loss": "losses",
    "SquaredHinge": "losses",
    "knn_triplets": "mining",
    "load": "model_file",
    "SDPMetricCV": "model_selection",
    "TripletSDPMetricCV": "model_selection",
    "ResponseKFold": "response_folds",
    "Responses": "responses",
    "Progress": "result",
    "Result": "result",
    "Status": "result",
    "RetrievalScores": "retrieval",
    "retrieval_scores": "retrieval",
    "retrieval_scorer": "scorers",
    "SignFlipTest": "sign_flip",
    "sign_flip_test": "sign_flip",
    "solve": "solving",
    "suggest_triplets": "suggest",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value  # not asked for again
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
