"""sdpmetric: learn a Mahalanobis distance from comparisons, with a certificate of optimality."""

from __future__ import annotations

from .agreement import NoiseCeiling, noise_ceiling
from .bootstrap import AccuracyInterval, accuracy_interval
from .check_loss import check_loss
from .comparisons import Comparisons
from .estimators import SDPMetric, TripletSDPMetric
from .exports import export
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
from .solve import solve
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
