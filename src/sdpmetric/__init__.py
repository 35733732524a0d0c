"""sdpmetric: learn a Mahalanobis distance from comparisons, with a certificate of optimality.

Public names are imported when first used: scikit-learn and Numba take a second or more, and
`sdpmetric --help` should not wait for them. No module has the name of a public function, or its
import would hide it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .adapters import AdapterReport, EmbeddingAdapter
    from .comparisons import Comparisons
    from .estimators import SDPMetric, TripletSDPMetric
    from .exports import export
    from .loss_check import check_loss
    from .losses import Huber, Logistic, Loss, SquaredHinge
    from .mining import knn_triplets
    from .models import load
    from .responses import (
        AccuracyInterval,
        NoiseCeiling,
        ResponseKFold,
        Responses,
        SignFlipTest,
        accuracy_interval,
        noise_ceiling,
        sign_flip_test,
        suggest_triplets,
    )
    from .result import Progress, Result, Status
    from .retrieval import RetrievalScores, retrieval_scorer, retrieval_scores
    from .selection import SDPMetricCV, TripletSDPMetricCV
    from .solving import solve

__all__ = [
    "AccuracyInterval",
    "AdapterReport",
    "Comparisons",
    "EmbeddingAdapter",
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

_MODULES = {
    "adapters": ("AdapterReport", "EmbeddingAdapter"),
    "comparisons": ("Comparisons",),
    "estimators": ("SDPMetric", "TripletSDPMetric"),
    "exports": ("export",),
    "loss_check": ("check_loss",),
    "losses": ("Huber", "Logistic", "Loss", "SquaredHinge"),
    "mining": ("knn_triplets",),
    "models": ("load",),
    "responses": (
        *("AccuracyInterval", "NoiseCeiling", "ResponseKFold", "Responses", "SignFlipTest"),
        *("accuracy_interval", "noise_ceiling", "sign_flip_test", "suggest_triplets"),
    ),
    "result": ("Progress", "Result", "Status"),
    "retrieval": ("RetrievalScores", "retrieval_scorer", "retrieval_scores"),
    "selection": ("SDPMetricCV", "TripletSDPMetricCV"),
    "solving": ("solve",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value  # not asked for again
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
