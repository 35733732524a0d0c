"""Retrieval scores as scikit-learn scorers, for ``scoring=``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .scores import AT_RANK, OVERALL, RANK, retrieval_scores


def retrieval_scorer(score: str, *, G: Any = None, y_g: Any = None) -> RetrievalScorer:
    """Make a scikit-learn scorer ``scorer(estimator, X, y)`` for transformers.

    Parameters
    ----------
    score : "map", "mrr", or "precision@k", "recall@k", "hit@k", "ndcg@k" with a number for k, as
        in `retrieval_scores`
    G, y_g : a gallery that the rows of X search, and its labels. None: the rows of X search each
        other, and none finds itself

    Returns
    -------
    callable for ``scoring=`` in cross_val_score, GridSearchCV and the like; it can be pickled

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sdpmetric import SDPMetric, retrieval_scorer
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SDPMetric())
    >>> bool(cross_val_score(model, X, y, scoring=retrieval_scorer("map")).mean() > 0.8)
    True
    """
    check_score("score", score)
    return RetrievalScorer(score, G, y_g)


@dataclass(frozen=True, eq=False)
class RetrievalScorer:
    """A scorer made by `retrieval_scorer`: a class, not a closure, so that it can be pickled."""

    score: str
    G: Any = field(default=None, repr=False)
    y_g: Any = field(default=None, repr=False)

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        # retrieval_scores wants some k; for "map" and "mrr" it has no effect.
        k, kind = check_score("score", self.score) or 1, self.score.partition("@")[0]
        found = retrieval_scores(X, y, self.G, self.y_g, k=k, scores=[kind], metric=estimator)
        return found[self.score]


def check_score(name: str, score: object, others: tuple[str, ...] = ()) -> int | None:
    """Return the k in the name of a score ("hit@k"), None for a name without one; else raise.

    ``others``: further names that are allowed.
    """
    if isinstance(score, str):
        kind, at, rank = score.partition("@")
        if score in OVERALL or score in others:
            return None
        if at and kind in AT_RANK and RANK.fullmatch(rank):
            return int(rank)
    at_rank = ", ".join(f"'{kind}@k'" for kind in AT_RANK)
    whole = ", ".join(repr(kind) for kind in (*others, *OVERALL))
    raise ValueError(f"{name} must be {whole}, or {at_rank} with a number, got {score!r}.")
