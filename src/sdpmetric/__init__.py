"""sdpmetric: learn a Mahalanobis distance from comparisons, with a certificate of optimality."""

from __future__ import annotations

from .check_loss import check_loss
from .comparisons import Comparisons
from .estimators import SDPMetric, TripletSDPMetric
from .exports import export
from .losses import Huber, Logistic, Loss, SquaredHinge
from .mining import knn_triplets
from .model_file import load
from .model_selection import SDPMetricCV, TripletSDPMetricCV
from .result import Progress, Result, Status
from .retrieval import RetrievalScores, retrieval_scores
from .scorers import retrieval_scorer
from .solve import solve

__all__ = [
    "Comparisons",
    "Huber",
    "Logistic",
    "Loss",
    "Progress",
    "Result",
    "RetrievalScores",
    "SDPMetric",
    "SDPMetricCV",
    "SquaredHinge",
    "Status",
    "TripletSDPMetric",
    "TripletSDPMetricCV",
    "check_loss",
    "export",
    "knn_triplets",
    "load",
    "retrieval_scorer",
    "retrieval_scores",
    "solve",
]

__version__ = "0.1.0"
