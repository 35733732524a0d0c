"""Hypothesis strategies for rows, comparisons, weights and settings at the ends of their ranges.

`examples(n)` is the settings of a test: n examples, always the same ones, in `make test`, and n
times SDPMETRIC_EXAMPLES new ones in `make soak`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.support.problems import LOSSES, Floats, Ints, random_psd

__all__ = [
    "Drawn",
    "Table",
    "comparisons",
    "examples",
    "labels",
    "problems",
    "tables",
    "unless_refused",
    "weights",
]

T = TypeVar("T")

_MANY = int(os.environ.get("SDPMETRIC_EXAMPLES", "1"))

SEEDS = st.integers(0, 2**32 - 1)
FLAWS = ["twins", "constant", "collinear", "zeros", "units", "offset"]


def examples(n: int) -> settings:
    """How often a test is run."""
    return settings(
        max_examples=n * _MANY,
        derandomize=_MANY == 1,  # a change is to blame if the daily tests fail, not chance
        deadline=None,  # the first example compiles
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def unless_refused(pattern: str, call: Callable[[], T]) -> T | None:
    """What a call returns, or None if it raised a ValueError whose message starts like this."""
    try:
        return call()
    except ValueError as error:
        if not re.match(pattern, str(error)):
            raise
        return None


@dataclass(frozen=True)
class Table:
    """Rows in the form in which they are given, and as float64 numbers of the same value."""

    given: Any
    rows: Floats

    def __repr__(self) -> str:
        kind = type(self.given).__name__
        return f"<{kind} of {self.given.dtype}>\n{self.rows!r}"


@dataclass(frozen=True)
class Drawn:
    """A problem for `solve`."""

    table: Table
    triplets: Ints
    weights: Floats | None
    settings: dict[str, Any]


@st.composite
def tables(draw: st.DrawFn, least: int = 4, most: int = 14) -> Table:
    """Rows of any dtype, form and size, with all that makes a matrix deficient."""
    n = draw(st.integers(least, most))
    D = draw(st.one_of(st.integers(1, 6), st.integers(20, 40)))  # fewer than n, and many more
    rng = np.random.default_rng(draw(SEEDS))
    dtype = draw(st.sampled_from(["float64", "float32", "int64", "int8", "bool"]))
    X: Any = rng.normal(size=(n, D))
    if dtype in ("int64", "int8", "bool") or draw(st.booleans()):
        X = np.round(2.0 * X)  # ties, duplicates and zeros
    X = _spoiled(draw, rng, X)
    if dtype == "bool":
        X = X > 0
    elif dtype.startswith("int"):
        X = np.clip(X, -100, 100)
    else:
        largest = float(np.finfo(dtype).max)
        X = np.clip(X * _unit(draw, dtype), -largest, largest)  # "units" may lead out of float32
    X = X.astype(dtype)
    return Table(_in_form(draw, X), X.astype(np.float64))


def _spoiled(draw: st.DrawFn, rng: np.random.Generator, X: Floats) -> Floats:
    n, D = X.shape
    flaws = draw(st.sets(st.sampled_from(FLAWS)))
    if "twins" in flaws:
        X = X[rng.integers(0, max(2, n // 2), size=n)]
    if "zeros" in flaws:
        X = np.where(rng.random(X.shape) < 0.7, 0.0, X)
    if "collinear" in flaws:
        X[:, -1] = X[:, 0] - 2.0 * X[:, D // 2]
    if "units" in flaws:
        X = X * 10.0 ** rng.integers(-4, 5, size=D)
    if "offset" in flaws:
        X = X + 10.0 ** rng.integers(0, 8, size=D) * np.abs(X).max(axis=0)
    if "constant" in flaws:
        X[:, D // 2] = rng.normal() * 10.0 ** rng.integers(-3, 4)
    return X


def _unit(draw: st.DrawFn, dtype: str) -> float:
    most = 150 if dtype == "float64" else 30
    return float(10.0 ** draw(st.one_of(st.just(0), st.integers(-most, most))))


def _in_form(draw: st.DrawFn, X: Any) -> Any:
    form = draw(st.sampled_from(["rows", "columns", "strided", "csr", "csc"]))
    if form == "csr":
        return sp.csr_array(X)
    if form == "csc":
        return sp.csc_matrix(X)
    if form == "columns":
        return np.asfortranarray(X)
    return np.repeat(X, 2, axis=0)[::2] if form == "strided" else X


@st.composite
def comparisons(draw: st.DrawFn, n: int) -> Ints:
    """Triplets or quadruplets; some contradict each other, some are given twice."""
    rng = np.random.default_rng(draw(SEEDS))
    m, width = draw(st.integers(1, 30)), draw(st.sampled_from([3, 4]))
    width = min(width, n)
    drawn = np.array([rng.choice(n, width, replace=False) for _ in range(m)], dtype=np.int64)
    turned = drawn[:, [0, 2, 1] if width == 3 else [2, 3, 0, 1]]
    more = draw(st.sampled_from(["none", "twice", "contradictory"]))
    added = {"none": drawn[:0], "twice": drawn[: m // 2], "contradictory": turned}
    return np.vstack([drawn, added[more]])


@st.composite
def weights(draw: st.DrawFn, m: int) -> Floats | None:
    """None, or weights of which some are zero and others differ by many powers of ten."""
    kind = draw(st.sampled_from(["none", "ordinary", "zeros", "powers", "extreme"]))
    if kind == "none":
        return None
    rng = np.random.default_rng(draw(SEEDS))
    w = rng.uniform(0.1, 3.0, size=m)
    if kind == "zeros":
        w[rng.random(m) < 0.5] = 0.0
    elif kind == "powers":
        w *= 10.0 ** rng.integers(-8, 9, size=m)
    elif kind == "extreme":
        w *= 10.0 ** rng.choice([-300.0, 0.0, 300.0], size=m)
    w[0] = max(w[0], 1e-300)
    return w


@st.composite
def problems(draw: st.DrawFn) -> Drawn:
    """Rows, comparisons, weights, and the settings of `solve`."""
    table = draw(tables())
    n, D = table.rows.shape
    triplets = draw(comparisons(n))
    loss = draw(st.sampled_from(LOSSES))
    C = 10.0 ** draw(st.floats(0.05, 3.0))
    if loss == "squared_hinge":
        C = 10.0 ** draw(st.floats(-2.0, 3.0))
    prior: Any = draw(st.sampled_from([None, None, "identity", "matrix"]))
    if prior == "matrix":
        rank = draw(st.integers(1, D))
        prior = random_psd(np.random.default_rng(draw(SEEDS)), D, rank)
    solver = draw(st.sampled_from(["low-rank", "low-rank", "frank-wolfe"]))
    return Drawn(
        table,
        triplets,
        draw(weights(len(triplets))),
        {
            "loss": loss,
            "C": C,
            "h": 10.0 ** draw(st.floats(-3.0, 1.0)),
            "prior": prior,
            "prior_weight": 0.0 if prior is None else draw(st.sampled_from([0.0, 0.1, 0.7, 1.0])),
            "solver": solver,
            "tol": draw(st.sampled_from([1e-2, 1e-4, 1e-7])),
            "max_iter": 300 if solver == "low-rank" else 20,
        },
    )


@st.composite
def labels(draw: st.DrawFn, n: int) -> Ints:
    """Classes of which one may have nearly all rows, or a single one."""
    k = draw(st.integers(2, max(2, n // 3)))
    rng = np.random.default_rng(draw(SEEDS))
    shares = 4.0 ** -np.arange(k) if draw(st.booleans()) else np.ones(k)
    y = rng.choice(k, size=n, p=shares / shares.sum())
    y[:3] = [0, 0, 1]  # at least one triplet
    return y.astype(np.int64)
