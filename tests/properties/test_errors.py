"""Bad input: each error names the argument, and the first offending row where there is one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric import Responses, SDPMetric, TripletSDPMetric, knn_triplets, solve
from sdpmetric.deployment import query_only
from tests.support.problems import Floats

X = np.random.default_rng(0).normal(size=(8, 3))
Y = np.array([0, 1] * 4)
T = [[0, 2, 1], [1, 3, 0], [2, 0, 5]]

Fit = Callable[..., Any]


def by_labels(X: Any = X, y: Any = Y, **settings: Any) -> Any:
    return SDPMetric(**settings).fit(X, y)


def by_triplets(X: Any = X, T: Any = T, sample_weight: Any = None, **settings: Any) -> Any:
    return TripletSDPMetric(**settings).fit(X, T, sample_weight)


def by_solve(X: Any = X, T: Any = T, sample_weight: Any = None, **settings: Any) -> Any:
    return solve(X, T, sample_weight=sample_weight, **settings)


def mined(X: Any = X, y: Any = Y, **settings: Any) -> Any:
    return knn_triplets(X, y, **settings)


ALL = [by_labels, by_triplets, by_solve]
FROM_TRIPLETS = [by_triplets, by_solve]
FROM_LABELS = [by_labels, mined]


def spoiled(value: float) -> Floats:
    bad = X.copy()
    bad[5, 1] = bad[6, 0] = value
    return bad


@pytest.mark.parametrize("fit", [*ALL, mined])
@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(fit: Fit, make: Any, value: float) -> None:
    with pytest.raises(ValueError, match=r"\bX\b.*row 5, column 1"):
        fit(X=make(spoiled(value)))


@pytest.mark.parametrize("fit", [*ALL, mined])
@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((0, 3)), np.zeros((2, 2, 2))])
def test_not_a_table(fit: Fit, bad: Floats) -> None:
    with pytest.raises(ValueError, match=r"X|array"):
        fit(X=bad)


@pytest.mark.parametrize("fit", [by_solve, mined])
def test_not_numbers(fit: Fit) -> None:
    with pytest.raises(ValueError, match=r"X must hold numbers"):
        fit(X=[["a", "b", "c"]] * 8)


@pytest.mark.parametrize("fit", FROM_LABELS)
@pytest.mark.parametrize(
    ("y", "match"),
    [
        (np.zeros(8), r"\by\b.*class"),
        (["only"] * 8, r"\by\b.*class"),
        (np.arange(8), r"\by\b.*no triplet"),
        (np.linspace(0.05, 0.9, 8), r"\by\b.*continuous|continuous.*\by\b"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*single member")
def test_labels(fit: Fit, y: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        fit(y=y)


@pytest.mark.parametrize("y", [Y[:5], Y[:, None] * np.ones((1, 2))])
def test_labels_of_the_wrong_shape(y: Any) -> None:
    with pytest.raises(ValueError, match=r"\by\b must have one label per row"):
        mined(y=y)


@pytest.mark.parametrize("fit", FROM_TRIPLETS)
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0, 1, 8], "below the number of items, 8"),
        ([0, 1, 2**40], "below the number of items, 8"),
        ([0, -1, 2], "not negative"),
        ([0, 1.5, 2], "whole numbers"),
        ([0, np.nan, 2], "whole numbers"),
        ([0, np.inf, 2], "whole numbers"),
        ([3, 3, 2], "other than its near item"),
        ([3, 2, 3], "other than its far item"),
        ([3, 2, 2], "near item other than the far item"),
    ],
)
def test_triplets(fit: Fit, row: list[float], expected: str) -> None:
    """Rows 2 and 3 are bad; row 2 is named."""
    with pytest.raises(ValueError, match=rf"triplets: row 2 is .*{expected}"):
        fit(T=[[0, 2, 1], [1, 3, 0], row, row])


@pytest.mark.parametrize("fit", FROM_TRIPLETS)
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([0, 0, 1, 2], "two different items"),
        ([0, 1, 2, 2], "two different items"),
        ([0, 1, 0, 1], "near pair other than the far pair"),
        ([0, 1, 1, 0], "near pair other than the far pair"),
        ([0, 1, 2, 9], "below the number of items"),
    ],
)
def test_quadruplets(fit: Fit, row: list[int], expected: str) -> None:
    with pytest.raises(ValueError, match=rf"triplets: row 1 is .*{expected}"):
        fit(T=[[0, 1, 0, 2], row])


@pytest.mark.parametrize("fit", FROM_TRIPLETS)
@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (np.empty((0, 3), dtype=int), "no comparison"),
        ([], "shape"),
        ([0, 1, 2], "shape"),
        ([[0, 1]], "shape"),
        ([[0, 1, 2, 3, 4]], "shape"),
        ([["a", "b", "c"]], "integer row indices"),
        ([[True, False, True]], "integer row indices"),
        (None, "shape"),
    ],
)
def test_tables_of_triplets(fit: Fit, bad: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=rf"triplets.*{expected}"):
        fit(T=bad)


@pytest.mark.parametrize("fit", FROM_TRIPLETS)
@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([1.0, -0.5, -1.0], "entry 1 is -0.5"),
        ([1.0, np.nan, 1.0], "entry 1 is nan"),
        ([1.0, 1.0, np.inf], "entry 2 is inf"),
        ([0.0, 0.0, 0.0], "zero everywhere"),
        ([1.0, 1.0], r"shape \(3,\), got shape \(2,\)"),
        ([[1.0, 1.0, 1.0]], r"got shape \(1, 3\)"),
        (2.0, r"got shape \(\)"),
        (["a", "b", "c"], "numbers"),
    ],
)
def test_weights(fit: Fit, weights: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=rf"sample_weight.*{expected}"):
        fit(sample_weight=weights)


@pytest.mark.parametrize("class_weight", [{0: -1.0}, {0: 0.0, 1: 0.0}, {0: np.nan}, "heavy", 3])
def test_class_weights(class_weight: Any) -> None:
    with pytest.raises(ValueError, match=r"class_weight"):
        by_labels(class_weight=class_weight)


NOT_PSD = np.diag([1.0, 1.0, -0.5])

SETTINGS: list[tuple[dict[str, Any], str]] = [
    *(({"C": v}, r"C must be") for v in (0.0, -1.0, np.nan, np.inf, "10", True, None)),
    *(({"C": v, "loss": "squared_hinge"}, r"C must be") for v in (0.0, -2.0)),
    *(({"C": v, "loss": s}, r"C must be greater than 1 ") for v in (0.5, 1.0) for s in ("huber",)),
    *(({"C": 1.0, "loss": s}, r"C must be greater than 1 .*unbounded") for s in ("hinge",)),
    *(({"C": 0.9, "loss": s}, r"C must be greater than 1 .*unbounded") for s in ("logistic",)),
    *(({"h": v}, r"h must be") for v in (0.0, -1.0, np.nan, np.inf, "wide", None)),
    *(({"h": v, "loss": "logistic"}, r"h must be") for v in (0.0, -1.0)),
    *(({"tol": v}, r"tol must be") for v in (0.0, -1e-3, 1.5, np.nan, np.inf, "tight")),
    *(({"max_iter": v}, r"max_iter must be") for v in (0, -1, 10.5, None)),
    *(({"time_limit": v}, r"time_limit must be") for v in (0.0, -1.0, np.nan, "1 h")),
    *(({"n_components": v}, r"n_components must be.*at most 3") for v in (0, -1, 4, 1.5, "2")),
    *(({"n_jobs": v}, r"n_jobs must be") for v in (0, 1.5, "all")),
    ({"loss": "hubr"}, r"loss must be one of .*'hubr'"),
    ({"loss": None}, r"loss must be one of .*lacks value"),
    ({"solver": "simplex"}, r"solver must be one of .*'simplex'"),
    ({"solver": None}, r"solver must be one of"),
    ({"solver_options": {"J": 5}}, r"solver_options .*'J'.*corrections"),
    ({"solver_options": {"tol": 1e-3}}, r"solver_options .*'tol'"),
    ({"solver_options": 5}, r"solver_options must be a dict"),
    ({"solver_options": {"rank": 0}}, r"solver_options\['rank'\]"),
    ({"solver_options": {"corrections": 1.5}}, r"solver_options\['corrections'\]"),
    ({"solver": "frank-wolfe", "solver_options": {"K": 0}}, r"solver_options\['K'\]"),
    ({"solver": "frank-wolfe", "solver_options": {"epsilon": -1.0}}, r"\['epsilon'\]"),
    ({"solver": "frank-wolfe", "solver_options": {"c1": 0.5, "c2": 0.4}}, r"c1 < c2"),
    ({"solver": "frank-wolfe", "solver_options": {"rank": 3}}, r"solver_options .*'rank'"),
    ({"prior": "identity", "prior_weight": -0.1}, r"prior_weight must be"),
    ({"prior": "identity", "prior_weight": 1.1}, r"prior_weight must be"),
    ({"prior": "identity", "prior_weight": np.nan}, r"prior_weight must be"),
    ({"prior": None, "prior_weight": 0.5}, r"prior_weight is 0.5 but prior is None"),
    ({"prior": "euclid", "prior_weight": 0.5}, r"prior must be .*'euclid'"),
    ({"prior": NOT_PSD, "prior_weight": 0.5}, r"prior has a negative eigenvalue \(-0.5\)"),
    ({"prior": np.eye(2), "prior_weight": 0.5}, r"prior must have shape \(3, 3\).*\(2, 2\)"),
    ({"prior": np.ones(3), "prior_weight": 0.5}, r"prior must have shape \(3, 3\)"),
    ({"prior": np.triu(np.ones((3, 3))), "prior_weight": 0.5}, r"prior is not symmetric"),
    ({"prior": np.zeros((3, 3)), "prior_weight": 0.5}, r"prior is zero"),
    ({"prior": np.full((3, 3), np.nan), "prior_weight": 0.5}, r"prior contains NaN"),
    ({"prior": [["a"]], "prior_weight": 0.5}, r"prior must hold numbers"),
]


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be mined or built."""

    def work(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(import_module("sdpmetric.learning.fit.labelled"), "mine", work)
    monkeypatch.setattr("sdpmetric.problem.units.Problem.from_triplets", work)
    monkeypatch.setattr("sdpmetric.problem.units.Problem.of", work)


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize(("settings", "match"), SETTINGS, ids=lambda v: str(v)[:50])
def test_settings(settings: dict[str, Any], match: str) -> None:
    """Before any work."""
    with pytest.raises(ValueError, match=match):
        by_solve(**settings)


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("fit", ALL)
def test_every_door_checks_every_setting(fit: Fit) -> None:
    """The first bad value of each; which values are bad is the same function's business."""
    first: dict[str, tuple[dict[str, Any], str]] = {}
    for settings, match in SETTINGS:
        for name in settings:
            first.setdefault(name, (settings, match))
    assert set(first) >= {"C", "h", "tol", "loss", "solver", "prior", "prior_weight"}
    for settings, match in first.values():
        with pytest.raises(ValueError, match=match):
            fit(**settings)


@pytest.mark.parametrize("fit", FROM_LABELS)
@pytest.mark.parametrize("name", ["n_neighbors", "n_impostors"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "3", None])
def test_neighbours(fit: Fit, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be an integer of at least 1"):
        fit(**{name: value})


@pytest.mark.parametrize("fit", ALL)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_identical_rows(fit: Fit, make: Any) -> None:
    with pytest.raises(ValueError, match=r"\bX\b.*(identical|coincide)"):
        fit(X=make(np.full((8, 3), 2.5)))


@pytest.mark.parametrize("fit", FROM_TRIPLETS)
@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array])
def test_coincident_far_pairs(fit: Fit, make: Any) -> None:
    twins = X.copy()
    twins[1] = twins[0]
    with pytest.raises(ValueError, match=r"\bX\b.*far pair coincide"):
        fit(X=make(twins), T=[[0, 2, 1], [1, 3, 0]])


def test_coincident_far_pairs_from_labels() -> None:
    """Every row has a twin of the other class, and one impostor is asked for."""
    twins = np.repeat(X[:4], 2, axis=0)
    with pytest.raises(ValueError, match=r"\bX\b.*far pair coincide"):
        by_labels(X=twins, n_impostors=1, n_neighbors=1)


@pytest.mark.parametrize(
    ("start", "match"),
    [
        (np.ones((2, 1)), r"start must be .*\(3, d\)"),
        (np.ones(3), r"start must be"),
        (np.full((3, 1), np.nan), r"start contains NaN"),
        (np.zeros((3, 2)), r"start is zero"),
    ],
)
def test_start(start: Floats, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        by_solve(start=start)


def test_accuracy_checks_its_comparisons() -> None:
    metric = by_triplets()
    with pytest.raises(ValueError, match=r"triplets: row 0"):
        metric.triplet_accuracy(X, [[0, 0, 1]])
    with pytest.raises(ValueError, match=r"sample_weight"):
        metric.score(X, T, [1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match=r"X .*row 5, column 1"):
        metric.transform(spoiled(np.nan))


METRIC = by_labels(tol=0.1)
COMPLEX: dict[str, Callable[[Any], Any]] = {
    "sample_weight": lambda one: by_solve(sample_weight=np.full(3, one)),
    "sample_weight of a metric": lambda one: by_triplets(sample_weight=np.full(3, one)),
    "sample_weight of an accuracy": lambda one: METRIC.triplet_accuracy(X, T, np.full(3, one)),
    "weights": lambda one: Responses(np.array(T), np.full(3, one)),
    "start": lambda one: by_solve(start=np.full((3, 3), one)),
    "prior": lambda one: by_solve(prior=np.full((3, 3), one), prior_weight=0.5),
    "pairs": lambda one: METRIC.pair_distance(np.full((2, 2, 3), one)),
    "u": lambda one: METRIC.get_metric()(np.full(3, one), np.ones(3)),
    "v": lambda one: METRIC.get_metric()(np.ones(3), np.full(3, one)),
    "centre": lambda one: query_only(METRIC, X, np.full(3, one)),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_were_cast_to_real_ones(name: str) -> None:
    argument = name.split()[0]
    with pytest.raises(ValueError, match=f"^{argument} must hold real numbers, got dtype complex"):
        COMPLEX[name](1 + 1j)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("value", [10**400, np.longdouble("1e4000"), np.nan, "much"], ids=type)
def test_numbers_that_float64_cannot_hold_were_overflow_errors(name: str, value: Any) -> None:
    argument = name.split()[0]
    with pytest.raises(ValueError, match=f"^{argument}"):
        COMPLEX[name](value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fit", [*ALL, mined])
def test_rows_that_float64_cannot_hold(fit: Fit) -> None:
    with pytest.raises(ValueError, match=r"\bX\b"):
        fit(X=X.astype(np.longdouble) * np.longdouble("1e4000"))
    with pytest.raises(ValueError, match=r"\bX\b"):
        fit(X=[[10**400, 1, 2], *X[1:].tolist()])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1.7e308, 5e-324])
def test_a_prior_of_any_size(size: float) -> None:
    expected = by_solve(prior=np.eye(3), prior_weight=0.5).components
    found = by_solve(prior=size * np.eye(3), prior_weight=0.5).components
    np.testing.assert_allclose(found, expected, rtol=1e-9)
