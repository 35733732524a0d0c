"""What the scores of a search are scores of, in words."""

from __future__ import annotations

from typing import Any

__all__ = ["score_name"]

_FOLDS = {"group": "comparisons of held-out participants", "item": "comparisons of new items"}


def score_name(search: Any) -> str:
    """Name the score that a search chose by."""
    if hasattr(search, "folds"):
        return f"{_FOLDS.get(search.folds, 'held-out comparisons')} answered correctly"
    if search.scoring == "knn":
        return "held-out rows classified correctly by their 3 nearest"
    if search.scoring == "triplets":
        return "held-out triplets answered correctly"
    # A classifier in place of the vote, or a retrieval score of an adapter.
    return f"held-out score ({_short(search.scoring)})"


def _short(scoring: Any) -> str:
    return scoring if isinstance(scoring, str) else type(scoring).__name__
