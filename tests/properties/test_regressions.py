"""Cases that once went wrong, each named after what it showed."""

from __future__ import annotations

import warnings
from typing import Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import (
    Huber,
    SDPMetric,
    Status,
    TripletSDPMetric,
    TripletSDPMetricCV,
    knn_triplets,
    solve,
)
from sdpmetric.linalg.dense_items import DenseItems
from sdpmetric.linalg.kernels.jit import jit
from tests.support.problems import PAPER, Case, consistent, labelled, random_triplets


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["low-rank", "frank-wolfe"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_direction_on_which_G_vanishes_above_the_dense_limit(make: Any, solver: str) -> None:
    """Every direction but the last hurts, and at the start G knows nothing of the last."""
    D = 60
    E = np.eye(D)
    rows, triplets = [np.zeros(D)], []
    for i in range(D - 1):
        rows += [2 * E[i] * (1 + 1e-3 * i / D), E[i]]
        triplets.append([0, len(rows) - 2, len(rows) - 1])
    rows += [0.05 * E[-1], 0.3 * E[-1]]
    triplets.append([0, len(rows) - 2, len(rows) - 1])
    X, T = np.array(rows), np.array(triplets)
    case = Case(make(X), T, loss="squared_hinge", C=20.0)
    result = case.solve(solver=solver, max_iter=15, solver_options={"dense_limit": 1})
    expected, _ = value_of_last_axis(X, T, 20.0)
    assert result.upper_bound >= expected


def value_of_last_axis(X: Any, T: Any, C: float) -> tuple[float, float]:
    case = Case(X, T, loss="squared_hinge", C=C)
    M = np.zeros((X.shape[1],) * 2)
    M[-1, -1] = 1.0
    rho, value = case.best(M)
    return value, rho


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_direction_of_small_variance_is_a_direction() -> None:
    """The difference of two all but equal columns: near distance 0, far distance above it."""
    X = np.array([[0.0, 0.0], [3.0, 3.0], [1.0, 1.0 + 1e-7]])
    T = np.array([[0, 1, 2]])
    result = solve(X, T, loss="squared_hinge")
    v = np.array([1.0, -1.0]) / np.sqrt(2.0)
    expected = Case(X, T, loss="squared_hinge").best(np.outer(v, v))[1]
    assert expected > 0.0
    assert result.upper_bound >= expected


@pytest.mark.parametrize("ratio", [1e3, 1e4, 1e5])
def test_a_column_in_large_units_counts_at_a_small_share_of_the_trace(ratio: float) -> None:
    X = np.array([[0, 0], [1, 0], [0, 0.5 * ratio], [0, ratio], [0.5, 0]])
    result = solve(X, [[0, 2, 0, 1], [0, 4, 0, 3]], C=10.0, h=0.5)
    assert result.converged


@pytest.mark.slow
@pytest.mark.parametrize("where", ["times", "transposed_times"])
def test_an_interrupt_at_any_product_leaves_a_certified_metric(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    T = consistent(random_triplets(rng, 40, 150), X, np.diag(np.arange(8) < 2).astype(float))
    product = getattr(DenseItems, where)
    for moment in range(8, 60):
        calls = 0

        def interrupted(*args: Any, moment: int = moment, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == moment:
                raise KeyboardInterrupt
            return product(*args, **kwargs)

        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            patch.setattr(DenseItems, where, interrupted)
            result = solve(X, T, tol=1e-6, on_interrupt="return")
        assert result.status in (Status.INTERRUPTED, Status.CONVERGED)
        assert np.isfinite(result.gap)


def test_warm_start_from_a_metric_of_which_nothing_is_left() -> None:
    rng = np.random.default_rng(1)
    first, second = np.zeros((20, 2)), np.zeros((20, 2))
    first[:, 0] = second[:, 1] = rng.normal(size=20)
    T = consistent(random_triplets(rng, 20, 40), first, np.eye(2))
    metric = TripletSDPMetric(warm_start=True).fit(first, T).fit(second, T)
    np.testing.assert_allclose(metric.get_mahalanobis_matrix(), np.diag([0.0, 1.0]), atol=1e-12)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_the_length_of_a_start_does_not_matter(size: float) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 3))
    T = consistent(random_triplets(rng, 20, 40), X, np.eye(3))
    expected = solve(X, T, start=np.eye(3))
    found = solve(X, T, start=size * np.eye(3))
    np.testing.assert_allclose(found.components, expected.components, atol=1e-9)


def test_tiny_values_beside_a_constant_column() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    expected = SDPMetric().fit(np.c_[X, np.ones(30)], y)
    tiny = np.c_[1e-160 * X, np.ones(30)]
    np.testing.assert_array_equal(knn_triplets(tiny, y), knn_triplets(X, y))
    found = SDPMetric().fit(tiny, y)
    np.testing.assert_allclose(
        found.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), atol=1e-6
    )


@pytest.mark.filterwarnings("ignore:.*members:UserWarning")
def test_more_neighbours_than_rows_take_no_more_memory() -> None:
    X, y = np.random.default_rng(4).normal(size=(12, 2)), np.arange(12) % 2
    assert len(knn_triplets(X, y, 10**12, 10**12)) == 12 * 5 * 6


def test_huge_weights_are_only_relative() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 3))
    T = consistent(random_triplets(rng, 20, 40), X, np.eye(3))
    expected = solve(X, T).objective
    assert solve(X, T, sample_weight=np.full(40, 1e307)).objective == pytest.approx(expected)


def test_a_warning_from_a_pipeline_points_at_the_user() -> None:
    X, y = np.random.default_rng(6).normal(size=(30, 4)), np.arange(30) % 2
    model = make_pipeline(StandardScaler(), SDPMetric(max_iter=1, tol=1e-9), KNeighborsClassifier())
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__


class Rising:
    support, max_slope = np.inf, 1.0

    def value(self, t: Any) -> Any:
        return np.logaddexp(0.0, t)

    def slope(self, t: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-t))

    curvature = slope


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"solver": ["x"]}, "solver"),
        ({"callback": 3}, "callback"),
        ({"start": "a"}, "start"),
        ({"C": 1e-300}, "C must be"),
        ({"C": 1e300}, "C must be"),
        ({"loss": Rising()}, "loss must be convex and non-increasing"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], named: str) -> None:
    X = np.random.default_rng(7).normal(size=(5, 2))
    with pytest.raises(ValueError, match=named):
        solve(X, [[0, 1, 2]], **options)


@pytest.mark.parametrize("triplets", [[[0, 1, 2], [0, 1]], [[0, 1, "two"]], None])
def test_ragged_or_mixed_triplets(triplets: Any) -> None:
    with pytest.raises(ValueError, match="triplets"):
        solve(np.random.default_rng(8).normal(size=(5, 2)), triplets)


def interrupting(k: int) -> Any:
    """A Huber loss whose k-th slope is interrupted."""

    class Interrupting(Huber):
        calls = 0

        def slope(self, t: Any, /) -> Any:
            type(self).calls += 1
            if type(self).calls == k:
                raise KeyboardInterrupt
            return super().slope(t)

    return Interrupting(0.02)


@pytest.mark.parametrize("k", [30, 60, 90, 120])
@pytest.mark.parametrize("options", [{"triplets": "all"}, {"n_rounds": 4}])
def test_an_interrupt_ends_every_stage(options: dict[str, Any], k: int) -> None:
    """A loose stage that was good enough, or a round, must not swallow it."""
    X, y = labelled(np.random.default_rng(0), 80, 5)
    loss = interrupting(k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SDPMetric(loss=loss, tol=1e-9, **PAPER | options)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert type(loss).calls >= k
    assert model.status_ == "interrupted"
    assert type(loss).calls < k + 60


def test_rounds_share_the_limits() -> None:
    X, y = labelled(np.random.default_rng(1), 80, 5)
    with pytest.warns(ConvergenceWarning) as caught:
        model = SDPMetric(**PAPER | {"n_rounds": 4}, max_iter=10, tol=1e-9).fit(X, y)
    assert len(caught) == 1
    assert model.n_iter_ < 20
    whole = SDPMetric(n_rounds=2).fit(X, y)
    assert whole.n_iter_ > SDPMetric(n_rounds=1).fit(X, y).n_iter_


@pytest.mark.parametrize("factor", [1e-25, 1.0, 1e19])
def test_approximate_search_in_any_units(factor: float) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(500, 8)), rng.integers(0, 4, size=500)
    expected = knn_triplets(X, y, neighbors="approximate")
    np.testing.assert_array_equal(knn_triplets(X * factor, y, neighbors="approximate"), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_constant_columns_in_tiny_units(dtype: type) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 3, size=60)
    unit, large = (1e-14, 1e30) if dtype is np.float32 else (1e-120, 1e200)
    small: Any = (X * unit).astype(dtype)
    expected = knn_triplets(small, y)
    padded = np.hstack([small, np.full((60, 1), large, dtype)])
    np.testing.assert_array_equal(knn_triplets(padded, y), expected)
    np.testing.assert_array_equal(knn_triplets(sp.csr_array(padded), y), expected)


@pytest.mark.parametrize("size", [1e-20, 1e-22, 1e-23, 1e-30])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_far_smaller_than_the_largest(size: float, form: Any) -> None:
    """Their products are below the smallest float32."""
    rng = np.random.default_rng(4)
    small = np.repeat(rng.normal(size=(20, 50)), 3, axis=0) + 0.1 * rng.normal(size=(60, 50))
    X = np.vstack([np.ones((1, 50)), -np.ones((1, 50)), size * small])
    y = rng.integers(0, 3, size=62)
    alone = knn_triplets(small, y[2:], 2, 2) + 2
    found = knn_triplets(form(X), y, 2, 2)
    np.testing.assert_array_equal(found[found[:, 0] >= 2], alone)


def test_later_rounds_see_through_a_large_offset() -> None:
    rng = np.random.default_rng(5)
    X, y = labelled(rng, 120, 8)
    shifted = (X + 1e5).astype(np.float32)
    expected = SDPMetric(n_rounds=2).fit(shifted.astype(np.float64), y)
    found = SDPMetric(n_rounds=2).fit(shifted, y)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-3)


def test_a_search_whose_folds_leave_no_answer_inside_the_margin() -> None:
    """At rho = 0 no slope was left, and the C from which nothing changes was one over their sum."""
    X = [
        [0, -1, -1, -5, 4, 2, -1, 2, 1, -1, 2, -1, -1, -2, 1, 0, 1, -1, 0, -2, 2, 0],
        [1, 1, -2, 2, 4, -3, -3, -3, 2, 0, 2, 1, 0, 1, 0, 2, -2, -1, 0, 4, -2, -2],
        [-1, 2, 0, 3, -4, 2, 2, -3, 0, 2, 0, 2, 5, 1, -1, -2, 1, 0, 0, 0, 1, -2],
        [-3, -5, 2, 0, 3, 0, -1, 1, 0, -3, -2, 4, 1, 1, -1, -1, 2, 0, -2, 0, -2, 0],
    ]
    T = [[2, 3, 1], [3, 2, 0], [1, 3, 2], [1, 3, 2], [2, 1, 3], [3, 0, 2], [1, 2, 3], [1, 2, 3]]
    search = TripletSDPMetricCV(loss="hinge", folds="comparison", cv=2, Cs=2, prior_weight=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(X, T)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_first_step_of_any_length() -> None:
    """Few distinct rows: the first direction was so long that its square overflowed."""
    X = np.zeros((5, 20))
    X[:, [2, 13, 16]] = 100.0, 1.0, 2.0
    X[3, [13, 16]] = 0.0, 1.0
    T = [[3, 4, 2], [4, 3, 0], [1, 2, 3], [3, 2, 4], [4, 0, 3], [1, 3, 2]]
    search = TripletSDPMetricCV(
        loss="logistic", folds="comparison", cv=2, Cs=2, prior_weight=[0.0, 0.5], max_iter=30
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        search.fit(X, T)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_one_near_pair_can_be_whitened() -> None:
    """A fold of one comparison: scikit-learn warned of a single sample."""
    X = np.random.default_rng(0).normal(size=(4, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TripletSDPMetric(coordinates="within").fit(X, [[2, 3, 1]])


def test_compiled_loops_without_a_place_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    original = numba.njit

    def njit(*args: Any, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return original(*args, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert jit(lambda x: x + 1)(1) == 2


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda X: SDPMetric(triplets="all").fit(X, np.arange(len(X))), "y gives no triplet"),
        (lambda X: knn_triplets(X, np.array(["a", 1] * 10, dtype=object)), "y must hold"),
        (
            lambda X: SDPMetric(class_weight={0: "a", 1: 1}).fit(X, np.arange(20) % 2),
            "class_weight",
        ),
        (
            lambda X: knn_triplets(X, np.arange(20) % 2, progress=np.ones(2)),  # type: ignore[arg-type]
            "progress must be",
        ),
        (lambda X: knn_triplets(X.astype("M8[s]"), np.arange(20) % 2), "X must hold real numbers"),
    ],
)
def test_errors_name_the_argument(work: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work(np.random.default_rng(6).normal(size=(20, 2)))
