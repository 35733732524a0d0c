"""sdpmetric: learn a Mahalanobis distance from comparisons, with a certificate of optimality."""

from __future__ import annotations

from .check_loss import check_loss
from .comparisons import Comparisons
from .estimators import SDPMetric, TripletSDPMetric
from .exports import export
from .losses import Huber, Logistic, Loss, SquaredHinge
from .mining import knn_triplets
from .models.files import load
from .responses.agreement import NoiseCeiling, noise_ceiling
from .responses.answers import Responses
from .responses.bootstrap import AccuracyInterval, accuracy_interval
from .responses.folds import ResponseKFold
from .responses.sign_flip import SignFlipTest, sign_flip_test
from .responses.suggest import suggest_triplets
from .result import Progress, Result, Status
from .retrieval.scorers import retrieval_scorer
from .retrieval.scores import RetrievalScores, retrieval_scores
from .selection.estimators import SDPMetricCV, TripletSDPMetricCV
from .solve import solve

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
