"""sdpmetric: learn a Mahalanobis distance from comparisons, with a certificate of optimality.

Public names are imported when first used: scikit-learn and Numba take a second or more, and
`sdpmetric --help` should not wait for them. No module has the name of a public function, or its
import would hide it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._support.lazy import load_name
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .deployment.exports import export
    from .deployment.load import load
    from .evaluation.scorers import retrieval_scorer
    from .evaluation.scores import RetrievalScores, retrieval_scores
    from .learning.embeddings import AdapterReport, EmbeddingAdapter
    from .learning.estimators import SDPMetric, SDPMetricClassifier, TripletSDPMetric
    from .learning.fit.solve import solve
    from .learning.selection import SDPMetricCV, TripletSDPMetricCV
    from .problem.comparisons import Comparisons
    from .problem.loss_check import check_loss
    from .problem.losses import Huber, Logistic, Loss, SquaredHinge
    from .problem.result import Progress, Result, Status
    from .responses.ceiling import NoiseCeiling, noise_ceiling
    from .responses.folds import ResponseKFold
    from .responses.intervals import AccuracyInterval, accuracy_interval
    from .responses.responses import Responses
    from .responses.sign_flip import SignFlipTest, sign_flip_test
    from .responses.suggest import suggest_triplets
    from .triplets.knn import knn_triplets

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
    "SDPMetricClassifier",
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

_MODULES = {
    "deployment.exports": ("export",),
    "deployment.load": ("load",),
    "evaluation.scorers": ("retrieval_scorer",),
    "evaluation.scores": ("RetrievalScores", "retrieval_scores"),
    "learning.embeddings": ("AdapterReport", "EmbeddingAdapter"),
    "learning.estimators": ("SDPMetric", "SDPMetricClassifier", "TripletSDPMetric"),
    "learning.fit.solve": ("solve",),
    "learning.selection": ("SDPMetricCV", "TripletSDPMetricCV"),
    "problem.comparisons": ("Comparisons",),
    "problem.loss_check": ("check_loss",),
    "problem.losses": ("Huber", "Logistic", "Loss", "SquaredHinge"),
    "problem.result": ("Progress", "Result", "Status"),
    "responses.ceiling": ("NoiseCeiling", "noise_ceiling"),
    "responses.folds": ("ResponseKFold",),
    "responses.intervals": ("AccuracyInterval", "accuracy_interval"),
    "responses.responses": ("Responses",),
    "responses.sign_flip": ("SignFlipTest", "sign_flip_test"),
    "responses.suggest": ("suggest_triplets",),
    "triplets.knn": ("knn_triplets",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    return load_name(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
