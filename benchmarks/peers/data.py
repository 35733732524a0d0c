"""The data sets and their splits, the same for every rival.

The small tabular sets are standardised with the training rows' means and deviations, for
everybody: some peers diverge on raw columns of different units. Pixels are brought to [0, 1]
(digits / 16, MNIST / 255): on raw digits NCA stops after two steps where it started, while our
metric does not depend on the scale. Letter, USPS and Banking77 keep their values. PCA is fitted
on the training rows. The seed of a split is its number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.common import Array, data_file, load

Split = tuple[Array, Array, Array, Array]  # X, y, X_test, y_test


@dataclass(frozen=True)
class DataSet:
    rows: int  # of training: with columns, for the order of runs
    columns: int
    splits: int  # unless --splits says otherwise
    make: Callable[[int], Split]
    fixed: bool = False  # comes with its own split, so there is only one


def shares(name: str, *, scale: bool) -> Callable[[int], Split]:
    """70 % for training, stratified."""

    def make(seed: int) -> Split:
        X, y = load(name)
        A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        if scale:
            scaler = StandardScaler().fit(A)
            A, B = scaler.transform(A), scaler.transform(B)
        return A, a, B, b

    return make


def digits(seed: int) -> Split:
    X, y, X_test, y_test = shares("digits", scale=False)(seed)
    return X / 16.0, y, X_test / 16.0, y_test


def indices(name: str) -> tuple[Array, Array]:
    with np.load(data_file(name)) as stored:
        return stored["train_idx"], stored["test_idx"]


def own(name: str) -> Callable[[int], Split]:
    """The split that the set comes with."""

    def make(seed: int) -> Split:
        X, y = load(name)
        train, test = indices(name)
        return X[train], y[train], X[test], y[test]

    return make


def letter(seed: int) -> Split:
    """As in the paper: 10,500 of the 15,000 training rows, all 5,000 test rows."""
    X, y = load("letter")
    train, test = indices("letter")
    train = np.random.default_rng(seed).permutation(train)[:10_500]
    return X[train], y[train], X[test], y[test]


def mnist(seed: int) -> Split:
    """As in the paper: 7,000 and 1,500 other rows of MNIST's test set."""
    X, y = load("mnist_test")
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:7_000], order[7_000:8_500]
    return X[train] / 255.0, y[train], X[test] / 255.0, y[test]


def images(seed: int) -> Split:
    """Few rows for their columns: 3,000 and 1,500 other rows of MNIST's training set."""
    X, y = load("mnist_train")
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:3_000], order[3_000:4_500]
    return X[train] / 255.0, y[train], X[test] / 255.0, y[test]


def reduced(make: Callable[[int], Split]) -> Callable[[int], Split]:
    """The leading 60 principal components."""

    def reduce(seed: int) -> Split:
        X, y, X_test, y_test = make(seed)
        pca = PCA(60, svd_solver="full").fit(X)
        return pca.transform(X), y, pca.transform(X_test), y_test

    return reduce


SETS = {
    "wine": DataSet(124, 13, 5, shares("wine", scale=True)),
    "balance": DataSet(437, 4, 5, shares("balance", scale=True)),
    "breast cancer": DataSet(478, 9, 5, shares("breast_cancer", scale=True)),
    "diabetes": DataSet(537, 8, 5, shares("diabetes", scale=True)),
    "vehicle": DataSet(592, 18, 5, shares("vehicle", scale=True)),
    "digits": DataSet(1_257, 64, 1, digits),
    "USPS PCA-60": DataSet(7_291, 60, 1, reduced(own("usps")), fixed=True),
    "MNIST 3k": DataSet(3_000, 784, 1, images),
    "MNIST PCA-60": DataSet(7_000, 60, 1, reduced(mnist)),
    "Letter": DataSet(10_500, 16, 1, letter),
    "USPS": DataSet(7_291, 256, 1, own("usps"), fixed=True),
    "Banking77": DataSet(10_003, 384, 1, own("banking77_minilm"), fixed=True),
    "MNIST": DataSet(7_000, 784, 1, mnist),
}


def find(name: str) -> str:
    """A data set by its name in any case, so that "letter" will do."""
    for full in SETS:
        if name.lower() == full.lower():
            return full
    raise SystemExit(f"no data set is called {name!r}; there are {', '.join(SETS)}.")


def expected_cost(name: str, slowness: float) -> float:
    """Pairs of rows times columns, in arbitrary units: only the order matters."""
    return slowness * SETS[name].rows ** 2 * SETS[name].columns
