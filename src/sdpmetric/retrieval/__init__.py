"""Scores of retrieval: who is near, who should be."""

from .scorers import retrieval_scorer
from .scores import RetrievalScores, retrieval_scores

__all__ = ["RetrievalScores", "retrieval_scorer", "retrieval_scores"]
