"""Fit and validation rows for choosing settings: training rows alone, and made-up data.

A set that comes with test rows gives its training rows only; MNIST gives rows of its training set,
while the other benchmarks use its test set. Small sets without a split of their own are split at
random with seeds that no other benchmark uses, so that rows, but not splits, are shared with them.
Inputs are as users have them: columns in their own units, pixels, embeddings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.common import Array, data_file
from sdpmetric.datasets import make_twin_peaks

Split = tuple[Array, Array, Array, Array]  # X, y to fit, X, y to validate
Make = Callable[[int], Split]

_SEED = 1000  # no other benchmark has seeds from here on
_HELD = 2000  # validation rows at most


@cache
def rows(name: str) -> tuple[Array, Array]:
    """The training rows of a file in the data folder, or a set that scikit-learn ships."""
    if hasattr(datasets, f"load_{name}"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y
    with np.load(data_file(name.removesuffix(" (UCI)"))) as stored:
        X, y = stored["X"], stored["y"]
        train = stored["train_idx"] if "train_idx" in stored else slice(None)
        return X[train].astype(np.float64), y[train]


def split(X: Array, y: Array, seed: int, n: int | None = None) -> Split:
    held = 0.3 if n is None else min(_HELD, len(y) - n)
    A, B, a, b = train_test_split(
        X, y, train_size=n, test_size=held, random_state=_SEED + seed, stratify=y
    )
    return A, a, B, b


def stored(name: str, n: int | None = None) -> Make:
    """``n`` rows to fit, 70 % if None."""
    return lambda seed: split(*rows(name), seed, n)


def standardised(make: Make) -> Make:
    def scale(seed: int) -> Split:
        A, a, B, b = make(seed)
        scaler = StandardScaler().fit(A)
        return scaler.transform(A), a, scaler.transform(B), b

    return scale


def reduced(make: Make, k: int) -> Make:
    def reduce(seed: int) -> Split:
        A, a, B, b = make(seed)
        pca = PCA(k, svd_solver="full").fit(A)
        return pca.transform(A), a, pca.transform(B), b

    return reduce


def twin_peaks(seed: int) -> Split:
    return split(*make_twin_peaks(4000, random_state=_SEED + seed), seed, 2000)


def clusters(*, units: bool) -> Make:
    """Three clusters a class in 4 of 20 columns; rotated, or each column in a unit of its own."""

    def make(seed: int) -> Split:
        rng = np.random.default_rng(_SEED + seed)
        y = rng.integers(4, size=2400)
        X = rng.normal(size=(2400, 20))
        centres = 2.0 * rng.normal(size=(12, 4))
        X[:, :4] = centres[3 * y + rng.integers(3, size=2400)] + 0.7 * X[:, :4]
        rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
        X = X * np.exp(1.5 * rng.normal(size=20)) if units else X @ rotation
        return split(X, y, seed, 900)

    return make


def correlated(seed: int) -> Split:
    """Eight classes behind strongly correlated noise in 40 columns."""
    rng = np.random.default_rng(_SEED + seed)
    y = rng.integers(8, size=4000)
    noise = np.linalg.qr(rng.normal(size=(40, 40)))[0] * np.geomspace(3.0, 0.3, 40)
    X = 0.45 * rng.normal(size=(8, 40))[y] + rng.normal(size=(4000, 40)) @ noise.T
    return split(X, y, seed, 2000)


def many_classes(seed: int) -> Split:
    """A hundred classes of unit vectors, like sentence embeddings."""
    rng = np.random.default_rng(_SEED + seed)
    y = np.arange(4500) % 100
    noise = np.linalg.qr(rng.normal(size=(64, 64)))[0] * np.geomspace(3.5, 0.5, 64)
    X = rng.normal(size=(100, 64))[y] + rng.normal(size=(4500, 64)) @ noise.T
    return split(X / np.linalg.norm(X, axis=1, keepdims=True), y, seed, 2500)


def word_counts(seed: int) -> Split:
    rng = np.random.default_rng(_SEED + seed)
    common = rng.dirichlet(np.full(300, 0.1))
    topics = [0.7 * common + 0.3 * rng.dirichlet(np.full(300, 0.05)) for _ in range(6)]
    y = rng.integers(6, size=3000)
    X = np.array([rng.multinomial(rng.integers(20, 60), topics[c]) for c in y], dtype=np.float64)
    return split(X, y, seed, 1500)


def ball(seed: int) -> Split:
    """Inside or outside of a ball: Euclidean distance is right, and nothing can be learned."""
    rng = np.random.default_rng(_SEED + seed)
    X = rng.normal(size=(2100, 10))
    return split(X, (np.linalg.norm(X, axis=1) > 3.06).astype(int), seed, 600)


SETS: dict[str, Make] = {
    "wine": stored("wine"),
    "wine z": standardised(stored("wine")),
    "balance": stored("balance"),
    "vehicle": stored("vehicle"),
    "vehicle z": standardised(stored("vehicle")),
    "breast cancer": stored("breast_cancer (UCI)"),
    "diabetes": stored("diabetes (UCI)"),
    "diabetes z": standardised(stored("diabetes (UCI)")),
    "iris": stored("iris"),
    "wdbc": stored("breast_cancer"),
    "digits": stored("digits"),
    "face words": stored("caltech_face_background_bow"),
    "ORL PCA-42": reduced(stored("orl_faces"), 42),
    "Letter": stored("letter", 4000),
    "USPS": stored("usps", 1200),
    "USPS PCA-60": reduced(stored("usps", 3000), 60),
    "MNIST": stored("mnist_train", 1200),
    "MNIST PCA-60": reduced(stored("mnist_train", 3000), 60),
    "Banking77": stored("banking77_minilm", 2000),
    "twin peaks": twin_peaks,
    "clusters": clusters(units=False),
    "clusters, units": clusters(units=True),
    "correlated": correlated,
    "many classes": many_classes,
    "word counts": word_counts,
    "ball": ball,
}
