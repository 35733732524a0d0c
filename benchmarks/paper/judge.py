"""What a map is worth: 3-NN errors, and for Face-Background the retrieval of figure 3.

A vote of 3-NN that is tied goes to the smallest label, as in scikit-learn, for every method.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.common import Array
from benchmarks.paper.rows import Part, Split

TOP = 20
FACE = 1


def mapped(X: Array, L: Array | None) -> Array:
    return X if L is None else X @ L.T


def mistakes(data: Split, part: Part, L: Array | None) -> Array:
    """Indices of the rows of `part` that three training rows vote wrong."""
    vote = KNeighborsClassifier(3).fit(mapped(data.train.X, L), data.train.y)
    return np.flatnonzero(vote.predict(mapped(part.X, L)) != part.y)


def error(data: Split, part: Part, L: Array | None) -> float:
    return len(mistakes(data, part, L)) / len(part.y)


def retrieval(part: Part, L: Array | None) -> list[float]:
    """The share of faces among the top 1 to 20, every face asking the rest of `part`."""
    distances = pairwise_distances(mapped(part.X, L))
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances[part.y == FACE], axis=1, kind="stable")[:, :TOP]
    faces = part.y[nearest] == FACE
    shares = faces.cumsum(axis=1) / np.arange(1, TOP + 1)
    return [round(float(share), 6) for share in shares.mean(axis=0)]


def verdict(row: str, data: Split, L: Array | None) -> dict[str, Any]:
    """The only place where the test rows are looked at."""
    wrong = mistakes(data, data.test, L)
    record: dict[str, Any] = {
        "validation": error(data, data.validation, L),
        "error": len(wrong) / len(data.test.y),
        "mistakes": wrong.tolist(),
        "rank": data.train.X.shape[1] if L is None else len(L),
    }
    if row == "faces":
        record["retrieval"] = retrieval(data.test, L)
    return record
