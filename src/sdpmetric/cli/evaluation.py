"""The scores of `sdpmetric evaluate`, for labels and for comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from .._support.typing import Rows
from ..evaluation.scores import retrieval_scores
from ..responses.ceiling import noise_ceiling
from ..responses.intervals import accuracy_interval
from ..responses.judging import predicted
from ..responses.sign_flip import sign_flip_test
from .people import AtOdds, Participant, at_odds, participants
from .tables.answers import read_all_answers
from .tables.model_rows import Model, labels_of
from .tables.reading import once, read

EUCLIDEAN, STANDARD, LEARNED = "Euclidean", "Euclidean, standardised", "learned metric"
_AT_ODDS = 10  # answers that a report lists
_ENOUGH = 30  # repeated questions from which the noise ceiling is printed: fewer are all noise


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of three distances, and the data that a report draws.

    Attributes
    ----------
    facts : the files, sizes and further numbers of the evaluation, for JSON
    scores : scores by name, for each distance
    notes : sentences that explain the scores
    X, y : rows, and their labels or (m, 3) comparisons
    names : names of the rows; None: they have none
    people : the participants; empty for labels, or if the file names none
    odds : the answers that the metric contradicts most clearly
    """

    facts: dict[str, Any]
    scores: dict[str, dict[str, float]]
    notes: list[str]
    X: Rows
    y: Any
    names: list[str] | None = None
    people: Sequence[Participant] = ()
    odds: Sequence[AtOdds] = ()

    def text(self) -> str:
        """The scores as a table, with the notes below."""
        names = list(self.scores[LEARNED])
        width = max(map(len, self.scores)) + 2
        lines = [" " * width + "".join(f"{name:>15}" for name in names)]
        for row, values in self.scores.items():
            lines.append(f"{row:{width}}" + "".join(f"{values[name]:15.3f}" for name in names))
        return "\n".join([*lines, *(["", *self.notes] if self.notes else [])])


def by_labels(
    model: Model, data: str, label: str, gallery: Sequence[str], k: int, drop: Sequence[str]
) -> Evaluation:
    """Score the vote of the k nearest rows, and retrieval."""
    X, y = _labelled(model, data, label, drop)
    G, y_g = _gallery(model, gallery, label, drop) if gallery else (None, None)
    # Without a gallery a row cannot find itself, hence one row less.
    size = len(y) - 1 if y_g is None else len(y_g)
    if k > size:
        raise ValueError(f"-k is {k}, but there are only {size} rows to search in.")
    # A row needs another row of its class to find: a second one in DATA, or any in the gallery.
    there: Mapping[str, int] = Counter(y) if y_g is None else dict.fromkeys(y_g, 2)
    if not any(there.get(one, 0) > 1 for one in y):
        where = f"a row of {', '.join(gallery)}" if gallery else "another row"
        raise ValueError(f"{data}: no row has {where} of the same {label!r}, expected some.")
    scores = {}
    for name, transformer in _distances(model, X if G is None else G).items():
        A, B = (R if transformer is None or R is None else transformer.transform(R) for R in (X, G))
        found = retrieval_scores(A, y, B, y_g, k=1)
        scores[name] = {
            f"{k}-NN accuracy": _knn(A, y, B, y_g, k),
            "hit@1": found["hit@1"],
            "map": found["map"],
        }
    facts = {"data": data, "n_rows": len(y), "n_classes": len(set(y)), "gallery": list(gallery)}
    where = f"neighbours in {', '.join(gallery)}" if gallery else "each row searches the others"
    notes = [f"{len(y)} rows, {where}; hit@1: the nearest row is of the same class;"]
    notes += ["map: mean average precision of all rows, nearest first."]
    return Evaluation(facts, scores, notes, X, np.array(y))


def by_triplets(
    model: Model, data: str, triplets: Sequence[str], id_: str | None, drop: Sequence[str]
) -> Evaluation:
    """Score the share of answers predicted, with intervals, a test and the noise ceiling."""
    table = read(data)
    X = model.rows(table, (id_, *drop))
    answers = read_all_answers(triplets, table.ids(id_) if id_ else None, len(table))
    who = answers.participants
    # A single participant cannot be resampled; then answers are.
    by = "participant" if who is not None and len(set(who.tolist())) > 1 else "answer"
    scores, right = {}, {}
    distances = _distances(model, X)
    for name, transformer in distances.items():
        found = accuracy_interval(X, answers, transformer, by=by)
        scores[name] = {"accuracy": found.accuracy, "low": found.low, "high": found.high}
        right[name] = predicted(X, answers, transformer)
    # Against the standardised rival: to be better than raw columns, it is enough to repair units.
    test = sign_flip_test(X, answers, model.metric, distances[STANDARD], by=by)
    facts: dict[str, Any] = {
        "data": data,
        "triplets": list(triplets),
        "n_comparisons": len(answers),
    }
    facts |= {"p_value": test.p_value, "p_against": STANDARD, "resampled": by}
    facts["noise_ceiling"] = None
    notes = [
        f"{len(answers):,} comparisons of {found.n_units} {by}s; low and high: 95 % interval over "
        f"{by}s.",
        f"If it were no better than standardised Euclidean distance: p = {test.p_value:.2g} "
        "(sign-flip test).",
    ]
    try:
        ceiling = noise_ceiling(answers, by=by)
    except ValueError:  # no question has two answers
        pass
    else:
        n = ceiling.n_questions
        facts["noise_ceiling"] = {"lower": ceiling.lower, "upper": ceiling.upper, "n_questions": n}
        if n >= _ENOUGH:
            notes.append(
                f"People's own agreement allows {ceiling.lower:.3f} to {ceiling.upper:.3f} "
                f"({n} questions answered twice or more)."
            )
    names = table.ids(id_) if id_ else [f"row {i}" for i in range(len(table))]
    people = participants(answers, right)
    facts["participants"] = [asdict(one) for one in people]
    mapped = model.metric.transform_array(X)
    odds = at_odds(answers, mapped, names, right[LEARNED], _AT_ODDS)
    return Evaluation(facts, scores, notes, X, answers.triplets, names, people, odds)


def _distances(model: Model, X: Rows) -> dict[str, Any]:
    """The distances that are compared, as transformers; None: rows as they are."""
    # Standardised as well: a metric that only repairs units should not look like a gain.
    scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X)  # centred rows are not sparse
    return {EUCLIDEAN: None, STANDARD: scaler, LEARNED: model.metric}


def _labelled(model: Model, data: str, label: str, drop: Sequence[str]) -> tuple[Rows, list[str]]:
    table = read(data)
    # Labels may come from a file of their own: then no column of the table is left out for them.
    y = labels_of(table, label)
    return model.rows(table, {*drop, label} & set(table.columns)), y


def _gallery(
    model: Model, files: Sequence[str], label: str, drop: Sequence[str]
) -> tuple[Rows, list[str]]:
    """The rows of all files, one after another, and their labels."""
    found = [_labelled(model, file, label, drop) for file in once(files)]
    if len(found) == 1:
        return found[0]
    rows = [X for X, _ in found]
    if len({sp.issparse(X) for X in rows}) > 1:
        raise ValueError(f"{', '.join(files)}: found dense and sparse rows, expected one kind.")
    X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    return X, [one for _, y in found for one in y]


def _knn(X: Rows, y: list[str], G: Rows | None, y_g: list[str] | None, k: int) -> float:
    vote = KNeighborsClassifier(k)
    if G is None or y_g is None:
        # scikit-learn's X=None: no row is its own neighbour.
        return float(vote.fit(X, y).score(None, y))
    return float(vote.fit(G, y_g).score(X, y))
