"""The thirteen rows: data, the paper's split sizes, and what is done to the inputs.

A split's seed is its number. USPS and Letter keep their own test rows; all others are divided at
random. PCA and standardisation are fitted to the training rows. Pixels are divided by 255, which
changes neither the Euclidean metric's neighbours nor ours, but some peers do not start otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from benchmarks.common import Array, load
from benchmarks.paper.printed import PRINTED, Printed
from benchmarks.peers.data import indices

RAW, STANDARDISED = "raw", "standardised"
INPUTS = (RAW, STANDARDISED)
WORDS = 100  # of the codebook for Face-Background
SAMPLE = 20_000  # descriptors that it is fitted to


class Part(NamedTuple):
    X: Array
    y: Array


class Split(NamedTuple):
    train: Part
    validation: Part
    test: Part


@dataclass(frozen=True)
class Row:
    key: str
    source: str
    pixels: float | None = None  # the largest value; such rows have no standardised table
    own_test: bool = False
    sizes: tuple[int, int, int] = (0, 0, 0)  # where ours cannot be the paper's
    lmnn_neighbors: int = 3
    words: tuple[int, int] | None = None

    @property
    def printed(self) -> Printed:
        return PRINTED[self.key]

    @property
    def parts(self) -> tuple[int, int, int]:
        a, b, c = self.sizes if any(self.sizes) else self.printed.sizes
        return a, b, c

    @property
    def neighbors(self) -> int:
        """Table 1 counts n triplets where one neighbour was used, and 9 n where three were."""
        return 1 if self.printed.triplets == self.printed.sizes[0] else 3

    @property
    def inputs(self) -> tuple[str, ...]:
        return INPUTS if self.pixels is None else (RAW,)

    @property
    def cost(self) -> float:
        """For the order of runs alone."""
        return self.parts[0] ** 2 * float(self.printed.pca or self.printed.dimension)

    def definition(self) -> dict[str, object]:
        """What decides the numbers of a split; part of a cell's key."""
        return {
            "sizes": list(self.parts),
            "pca": self.printed.pca,
            "neighbors": self.neighbors,
            "lmnn_neighbors": self.lmnn_neighbors,
            **({"words": list(self.words)} if self.words else {}),
        }


def order(row: Row, n: int, run: int) -> tuple[Array, Array, Array]:
    """Indices of the three parts."""
    a, b, c = row.parts
    rng = np.random.default_rng(run)
    if row.own_test:
        train, test = indices(row.source)
        train = rng.permutation(train)
        return train[:a], train[a : a + b], test
    shuffled = rng.permutation(n)
    return shuffled[:a], shuffled[a : a + b], shuffled[a + b : a + b + c]


@cache
def stored(source: str) -> tuple[Array, Array]:
    return load(source)


def split(row: Row, run: int, inputs: str = RAW) -> Split:
    if row.key == "faces":
        from benchmarks.paper import faces  # OpenCV is needed here and nowhere else

        y = faces.descriptors()[2]
        chosen = order(row, len(y), run)
        X = faces.bags(chosen[0], run)
    else:
        X, y = stored(row.source)
        chosen = order(row, len(X), run)
    parts = [X[i] / (row.pixels or 1.0) for i in chosen]
    change = transform(row, inputs, parts[0])
    return Split(*(Part(change(p), y[i]) for p, i in zip(parts, chosen, strict=True)))


def transform(row: Row, inputs: str, X: Array) -> Callable[[Array], Array]:
    if row.printed.pca:
        change = PCA(row.printed.pca, svd_solver="full").fit(X).transform
    elif inputs == STANDARDISED:
        change = StandardScaler().fit(X).transform
    else:
        change = np.asarray
    return lambda part: np.ascontiguousarray(change(part), dtype=np.float64)


ROWS = {
    row.key: row
    for row in (
        Row("usps-pca", "usps", pixels=1.0, own_test=True),
        Row("usps", "usps", pixels=1.0, own_test=True),
        Row("mnist-pca", "mnist_test", pixels=255.0),
        Row("mnist", "mnist_test", pixels=255.0),
        Row("letter", "letter", own_test=True),
        Row("orl", "orl_faces", pixels=255.0, lmnn_neighbors=1),
        Row("twin-peaks", "twin_peaks", lmnn_neighbors=1),
        Row("wine", "wine"),
        Row("balance", "balance"),
        Row("vehicle", "vehicle"),
        Row("breast-cancer", "breast_cancer"),
        Row("diabetes", "diabetes"),
        # 468 of the paper's 520 background images are public: its proportions of what there is.
        Row("faces", "caltech_face_background", sizes=(446, 96, 361), words=(WORDS, SAMPLE)),
    )
}
