"""What `sdpmetric evaluate` measures, for labels and for comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from .._typing import Items
from ..responses import accuracy_interval, noise_ceiling, sign_flip_test
from ..retrieval import retrieval_scores
from .answers import read_answers
from .reading import read
from .rows import labels_of, rows_for

__all__ = ["EUCLIDEAN", "LEARNED", "STANDARD", "Judgement", "by_labels", "by_triplets"]

EUCLIDEAN, STANDARD, LEARNED = "Euclidean", "Euclidean, standardised", "learned metric"
_ENOUGH = 30  # repeated questions before their agreement says anything


@dataclass(frozen=True, eq=False)
class Judgement:
    """Scores of each distance; X and y are what pictures are drawn of."""

    facts: dict[str, Any]
    scores: dict[str, dict[str, float]]
    notes: list[str]
    X: Items
    y: Any

    def text(self) -> str:
        names = list(self.scores[LEARNED])
        width = max(map(len, self.scores)) + 2
        lines = [" " * width + "".join(f"{name:>15}" for name in names)]
        for row, values in self.scores.items():
            lines.append(f"{row:{width}}" + "".join(f"{values[name]:15.3f}" for name in names))
        return "\n".join([*lines, *(["", *self.notes] if self.notes else [])])


def by_labels(
    metric: Any,
    names: list[str] | None,
    data: str,
    label: str,
    gallery: str | None,
    k: int,
    drop: Sequence[str],
) -> Judgement:
    """Votes of the k nearest, and retrieval scores."""
    X, y = _labelled(metric, names, data, label, drop)
    G, y_g = (None, None) if gallery is None else _labelled(metric, names, gallery, label, drop)
    size = len(y) - 1 if y_g is None else len(y_g)
    if k > size:
        raise ValueError(f"-k is {k}, but there are only {size} rows to search in.")
    there: Mapping[str, int] = Counter(y) if y_g is None else dict.fromkeys(y_g, 2)
    if not any(there.get(one, 0) > 1 for one in y):
        where = "another row" if gallery is None else f"a row of {gallery}"
        raise ValueError(f"{data}: no row has {where} of the same {label!r}, expected some.")
    scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X if G is None else G)
    scores = {}
    for name, way in {EUCLIDEAN: None, STANDARD: scaler, LEARNED: metric}.items():
        A, B = (R if way is None or R is None else way.transform(R) for R in (X, G))
        found = retrieval_scores(A, y, B, y_g, k=1)
        scores[name] = {
            f"{k}-NN accuracy": _knn(A, y, B, y_g, k),
            "hit@1": found["hit@1"],
            "map": found["map"],
        }
    facts = {"data": data, "n_rows": len(y), "n_classes": len(set(y)), "gallery": gallery}
    where = f"neighbours in {gallery}" if gallery else "each row searches the others"
    notes = [f"{len(y)} rows, {where}; hit@1: the nearest row is of the same class;"]
    notes += ["map: mean average precision of all rows, nearest first."]
    return Judgement(facts, scores, notes, X, np.array(y))


def by_triplets(
    metric: Any,
    names: list[str] | None,
    data: str,
    triplets: str,
    id_: str | None,
    drop: Sequence[str],
) -> Judgement:
    """The share of answers that are predicted, how sure it is, and what people leave to predict."""
    table = read(data)
    X = rows_for(metric, names, table, {*drop, *([id_] if id_ else [])})
    answers = read_answers(triplets, table.ids(id_) if id_ else None, len(table))
    scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X)
    who = answers.participants
    by = "participant" if who is not None and len(set(who.tolist())) > 1 else "answer"
    scores = {}
    for name, way in {EUCLIDEAN: None, STANDARD: scaler, LEARNED: metric}.items():
        found = accuracy_interval(X, answers, way, by=by)
        scores[name] = {"accuracy": found.accuracy, "low": found.low, "high": found.high}
    test = sign_flip_test(X, answers, metric, by=by)
    facts: dict[str, Any] = {"data": data, "triplets": triplets, "n_comparisons": len(answers)}
    facts |= {"p_value": test.p_value, "resampled": by, "noise_ceiling": None}
    notes = [
        f"{len(answers):,} comparisons of {found.n_units} {by}s; low and high: 95 % interval over "
        f"{by}s.",
        f"If it were no better than Euclidean distance: p = {test.p_value:.2g} (sign-flip test).",
    ]
    try:
        ceiling = noise_ceiling(answers, by=by)
    except ValueError:  # no question was asked twice
        pass
    else:
        n = ceiling.n_questions
        facts["noise_ceiling"] = {"lower": ceiling.lower, "upper": ceiling.upper, "n_questions": n}
        notes += [
            f"People's own agreement allows {ceiling.lower:.3f} to {ceiling.upper:.3f} "
            f"({n} questions answered twice or more)."
        ] * (n >= _ENOUGH)
    return Judgement(facts, scores, notes, X, answers.triplets)


def _labelled(
    metric: Any, names: list[str] | None, data: str, label: str, drop: Sequence[str]
) -> tuple[Items, list[str]]:
    table = read(data)
    y = labels_of(table, label)
    return rows_for(metric, names, table, {*drop, label} & set(table.columns)), y


def _knn(X: Items, y: list[str], G: Items | None, y_g: list[str] | None, k: int) -> float:
    vote = KNeighborsClassifier(k)
    if G is None or y_g is None:
        return float(vote.fit(X, y).score(None, y))  # each row leaves itself out
    return float(vote.fit(G, y_g).score(X, y))
