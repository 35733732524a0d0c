"""The estimators: attributes, methods and what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from sdpmetric import Huber, Logistic, SDPMetric, Status, TripletSDPMetric, knn_triplets, solve
from sdpmetric.problem.prior import Prior
from sdpmetric.spectraplex.factors import spectrum
from tests.support.problems import (
    LOSSES,
    PAPER,
    SOLVERS,
    Case,
    Floats,
    Ints,
    consistent,
    labelled,
    random_triplets,
)

Blobs = tuple[Floats, Ints]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_attributes(loss: str, solver: str, blobs: Blobs) -> None:
    X, y = blobs
    metric = SDPMetric(loss=loss, solver=solver, tol=1e-2, max_iter=200, **PAPER).fit(X, y)
    k, D = metric.components_.shape
    assert D == 5
    M = metric.components_.T @ metric.components_
    assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(metric.get_mahalanobis_matrix(), M)
    expected = np.linalg.eigvalsh(M)[::-1]
    np.testing.assert_allclose(metric.eigenvalues_, expected[: len(metric.eigenvalues_)], atol=1e-9)
    assert k == len(metric.eigenvalues_) == np.linalg.matrix_rank(M, tol=1e-11)
    case = Case(X, knn_triplets(X, y), loss=loss, C=metric.C, h=metric.h)
    expected_rho, expected_objective = case.best(M)
    assert metric.objective_ == pytest.approx(expected_objective, abs=1e-8)
    assert metric.rho_ == pytest.approx(expected_rho, abs=1e-4)
    assert metric.scale_ == pytest.approx(case.scale, rel=1e-12)
    assert metric.objective_ <= metric.upper_bound_
    assert metric.n_triplets_ == 540
    assert metric.retained_ == pytest.approx(1.0, abs=1e-12)
    assert metric.n_features_in_ == 5
    assert isinstance(metric.status_, Status)
    assert metric.converged_ is (metric.status_ is Status.CONVERGED)
    assert 1 <= metric.n_iter_ <= 212
    assert metric.history_.dtype.names == ("objective", "gap", "seconds")
    assert metric.history_["gap"][-1] == metric.gap_


def test_the_mean_far_distance_under_identity_is_one(blobs: Blobs) -> None:
    X, y = blobs
    metric = SDPMetric(**PAPER).fit(X, y)
    T = knn_triplets(X, y)
    far = np.sum((X[T[:, 0]] - X[T[:, 2]]) ** 2, axis=1) / 5
    assert metric.scale_ * far.mean() == pytest.approx(1.0, rel=1e-12)


def test_three_doors_to_one_problem(blobs: Blobs) -> None:
    X, y = blobs
    T = knn_triplets(X, y)
    labels = SDPMetric(**PAPER).fit(X, y)
    triplets, result = TripletSDPMetric(coordinates="raw").fit(X, T), solve(X, T)
    np.testing.assert_array_equal(labels.components_, triplets.components_)
    np.testing.assert_array_equal(labels.components_, result.components)


def test_documented_defaults_are_live(blobs: Blobs) -> None:
    X, y = blobs
    spelled = SDPMetric(
        None,
        loss="huber",
        C=7.0,
        h=0.05,
        coordinates="auto",
        n_neighbors=5,
        n_impostors=10,
        n_rounds=2,
        prior="identity",
        prior_weight=0.0,
        solver="low-rank",
        solver_options={"rank": 64, "corrections": 15, "dense_limit": 1024},
        tol=1e-4,
        max_iter=3000,
    ).fit(X, y)
    np.testing.assert_array_equal(SDPMetric().fit(X, y).components_, spelled.components_)


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": "squared_hinge"},
        {"loss": "hinge"},
        {"loss": "logistic"},
        {"C": 2.0},
        {"h": 0.2},
        {"n_neighbors": 1},
        {"n_impostors": 1},
        {"class_weight": {0: 5.0}},
        {"prior": "identity", "prior_weight": 0.5},
        {"tol": 1e-1},
    ],
)
def test_every_setting_acts(changes: dict[str, Any], blobs: Blobs) -> None:
    X, y = blobs
    default, changed = SDPMetric().fit(X, y), SDPMetric(**changes).fit(X, y)
    assert not np.array_equal(default.get_mahalanobis_matrix(), changed.get_mahalanobis_matrix())


def test_the_seed_acts_where_the_scatter_is_sketched(blobs: Blobs) -> None:
    """With as many columns as features nothing is random."""
    thin, whole = (
        [SDPMetric(random_state=r, solver_options={"rank": k}).fit(*blobs) for r in (0, 5)]
        for k in (2, 64)
    )
    assert not np.array_equal(thin[0].components_, thin[1].components_)
    np.testing.assert_array_equal(whole[0].components_, whole[1].components_)


@pytest.mark.parametrize(("name", "loss"), [("huber", Huber(0.2)), ("logistic", Logistic(0.2))])
def test_a_name_and_h_stand_for_the_object(name: str, loss: Any, blobs: Blobs) -> None:
    named, given = (SDPMetric(loss=which, h=0.2).fit(*blobs) for which in (name, loss))
    np.testing.assert_array_equal(named.components_, given.components_)


def test_class_weight_is_a_weight_by_anchor(blobs: Blobs) -> None:
    X, y = blobs
    X, y = X[:50], np.where(y[:50] == 2, 1, y[:50])
    T = knn_triplets(X, y)
    by_anchor = {"balanced": 50 / (2 * np.bincount(y)), "dict": np.array([3.0, 0.5])}
    for class_weight, weights in zip(
        ("balanced", {0: 3.0, 1: 0.5}), by_anchor.values(), strict=True
    ):
        expected = TripletSDPMetric(coordinates="raw")
        expected.fit(X, T, sample_weight=weights[y[T[:, 0]]])
        metric = SDPMetric(class_weight=class_weight, **PAPER).fit(X, y)
        np.testing.assert_array_equal(metric.components_, expected.components_)


def test_a_class_of_weight_zero_is_left_out(blobs: Blobs) -> None:
    X, y = blobs
    T = knn_triplets(X, y)
    expected = TripletSDPMetric(coordinates="raw").fit(X, T[y[T[:, 0]] != 1])
    metric = SDPMetric(class_weight={1: 0.0}, **PAPER).fit(X, y)
    np.testing.assert_allclose(metric.components_, expected.components_, atol=1e-10)
    assert metric.n_triplets_ == expected.n_triplets_ == 360


@pytest.mark.parametrize("k", [1, 2, 4, 6])
@pytest.mark.parametrize("prior", [None, "identity"])
def test_n_components(k: int, prior: str | None) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    X[:, 4:] = X[:, :2] @ rng.normal(size=(2, 2))  # rank 4: zero rows beyond it
    T = consistent(random_triplets(rng, 40, 300), X, np.eye(6))
    settings: dict[str, Any] = {"prior": prior, "prior_weight": 0.2} if prior else {}
    whole = TripletSDPMetric(**settings).fit(X, T)
    cut = TripletSDPMetric(k, **settings).fit(X, T)
    e, U = np.linalg.eigh(whole.get_mahalanobis_matrix())
    e, U = np.maximum(e[::-1][:k], 0.0), U[:, ::-1][:, :k]
    expected = (U * e) @ U.T / e.sum()
    M = cut.get_mahalanobis_matrix()
    assert cut.components_.shape == (k, 6)
    np.testing.assert_allclose(M, expected, atol=1e-9)
    assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
    assert cut.retained_ == pytest.approx(e.sum(), abs=1e-9)
    rank = 6 if prior else 4
    np.testing.assert_array_equal(cut.components_.any(axis=1), np.arange(k) < rank)
    assert (cut.objective_, cut.gap_) == (whole.objective_, whole.gap_)
    np.testing.assert_allclose(cut.eigenvalues_, whole.eigenvalues_, atol=1e-12)
    assert cut.transform(X).shape == (40, k)
    assert len(cut.get_feature_names_out()) == k


def wide_sparse(D: int) -> tuple[Any, Ints]:
    """Six items of three features each in D dimensions."""
    rng = np.random.default_rng(1)
    X = sp.lil_array((6, D))
    for row in range(6):
        X[[row], rng.choice(D, 3, replace=False)] = rng.normal(size=3)
    return sp.csr_array(X), np.array([[0, 1, 2], [3, 1, 4], [5, 0, 3], [2, 4, 5]])


@pytest.mark.slow
def test_identity_prior_in_many_dimensions_needs_n_components() -> None:
    X, T = wide_sparse(20_001)
    settings: dict[str, Any] = {"prior": "identity", "prior_weight": 0.5}
    with pytest.raises(ValueError, match=r"n_components .*20001"):
        TripletSDPMetric(**settings).fit(X, T)
    metric = TripletSDPMetric(2, **settings, solver_options={"rank": 4}).fit(X, T)
    assert metric.components_.shape == (2, 20_001)
    assert metric.converged_
    assert float(np.sum(metric.components_**2)) == pytest.approx(1.0, abs=1e-12)
    weightless = TripletSDPMetric(prior="identity", solver_options={"rank": 4})
    assert weightless.fit(X, T).converged_


@pytest.mark.slow
def test_identity_prior_needs_no_square_array() -> None:
    """A rank-one optimum cut to two rows in a dimension whose square does not fit anywhere."""
    D = 1_000_000
    P = np.zeros((D, 1))
    P[7] = 2.0
    found = spectrum(P, Prior(D, 0.5).mix, 2)
    assert found.components.shape == (2, D)
    expected = [0.5 + 0.5 / D, 0.5 / D]
    np.testing.assert_allclose(found.eigenvalues[:2], expected, rtol=1e-12)
    assert found.components[0, 7] ** 2 == pytest.approx(expected[0] / sum(expected), rel=1e-9)
    np.testing.assert_allclose(found.components[0] @ found.components[1], 0.0, atol=1e-12)


def test_distances_by_hand() -> None:
    X = np.array([[0.0, 0.0], [0.0, 3.0], [2.0, 0.0], [2.0, 3.0]])
    metric = TripletSDPMetric(1).fit(X, [[0, 1, 2], [2, 3, 0]])
    np.testing.assert_allclose(metric.get_mahalanobis_matrix(), np.diag([1.0, 0.0]), atol=1e-9)
    pairs = X[[[0, 2], [0, 3], [0, 1], [1, 2]]]
    expected = [2.0, 2.0, 0.0, 2.0]  # distances, not squared
    np.testing.assert_allclose(metric.pair_distance(pairs), expected, atol=1e-6)
    distance = metric.get_metric()
    assert distance(X[0], X[3]) == pytest.approx(2.0, abs=1e-6)
    assert distance(X[0], X[3], squared=True) == pytest.approx(4.0, abs=1e-6)


def test_distances_agree_with_scipy(blobs: Blobs) -> None:
    """On correlated data with a factor that is not square."""
    X, y = blobs
    X = X @ np.random.default_rng(2).normal(size=(5, 5))
    metric = SDPMetric(2).fit(X, y)
    M = metric.get_mahalanobis_matrix()
    expected = np.sqrt(
        np.array([[max((u - v) @ M @ (u - v), 0.0) for v in X[10:20]] for u in X[:10]])
    )
    np.testing.assert_allclose(metric.pairwise_distances(X[:10], X[10:20]), expected, atol=1e-9)
    np.testing.assert_allclose(
        metric.pair_distance(np.stack([X[:10], X[10:20]], axis=1)), np.diag(expected), atol=1e-9
    )
    one = metric.get_metric()(X[0], X[10])
    assert one == pytest.approx(expected[0, 0], abs=1e-9)
    mapped = metric.transform(X)
    np.testing.assert_allclose(mapped, X @ metric.components_.T)
    np.testing.assert_allclose(metric.pairwise_distances(X), cdist(mapped, mapped), atol=1e-9)


def test_get_metric_is_not_changed_by_a_later_fit(blobs: Blobs) -> None:
    X, y = blobs
    metric = SDPMetric().fit(X, y)
    distance = metric.get_metric()
    before = distance(X[0], X[1])
    metric.set_params(C=2.0).fit(X, y)
    assert distance(X[0], X[1]) == before


def test_accuracy_by_hand() -> None:
    """The first feature alone counts; item 4 is a copy of item 2, so that they tie."""
    X = np.array([[0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [1.0, 3.0], [1.0, 0.0]])
    metric = TripletSDPMetric(1).fit(X, [[0, 1, 2], [2, 3, 0]])
    asked = [[0, 1, 2], [0, 2, 1], [1, 0, 3], [0, 2, 4]]
    expected = [1.0, 0.0, 1.0, 0.0]  # right, wrong, right, a tie
    assert [metric.triplet_accuracy(X, [row]) for row in asked] == expected
    assert metric.score(X, asked) == 0.5
    assert metric.triplet_accuracy(X, asked, sample_weight=[1, 0, 2, 1]) == 0.75
    assert metric.triplet_accuracy(X, [[0, 1, 2, 1], [0, 2, 3, 2]]) == 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_transform_keeps_the_precision(dtype: Any, sparse: bool, blobs: Blobs) -> None:
    X, y = blobs
    metric = SDPMetric().fit(X, y)
    given = sp.csr_array(X.astype(dtype)) if sparse else X.astype(dtype)
    mapped = metric.transform(given)
    assert isinstance(mapped, np.ndarray)
    assert mapped.dtype == dtype
    np.testing.assert_allclose(mapped, X @ metric.components_.T, rtol=1e-4, atol=1e-4)


def test_integers_are_taken(blobs: Blobs) -> None:
    X, y = blobs
    whole = (10 * X).astype(int)
    expected = SDPMetric().fit(whole.astype(float), y)
    np.testing.assert_array_equal(SDPMetric().fit(whole, y).components_, expected.components_)


def test_fit_does_not_touch_its_input(blobs: Blobs) -> None:
    X, y = blobs
    X.setflags(write=False)
    y.setflags(write=False)
    T = knn_triplets(X, y)
    T.setflags(write=False)
    weights = np.ones(len(T))
    weights.setflags(write=False)
    SDPMetric().fit(X, y)
    TripletSDPMetric().fit(X, T, weights)


def test_n_jobs_changes_nothing_but_rounding() -> None:
    X, y = labelled(np.random.default_rng(3), 60, 5)
    first = SDPMetric(n_jobs=1).fit(X, y)
    for n_jobs in (2, -1):
        other = SDPMetric(n_jobs=n_jobs).fit(X, y)
        assert other.objective_ == pytest.approx(first.objective_, abs=1e-4)


@pytest.mark.parametrize("bad", [np.zeros((3, 5)), np.zeros((3, 2, 4)), np.zeros((3, 3, 5))])
def test_pair_distance_wants_pairs(bad: Floats, blobs: Blobs) -> None:
    with pytest.raises(ValueError, match=r"pairs must have shape \(n, 2, 5\)"):
        SDPMetric().fit(*blobs).pair_distance(bad)


def test_get_metric_wants_vectors(blobs: Blobs) -> None:
    distance = SDPMetric().fit(*blobs).get_metric()
    with pytest.raises(ValueError, match=r"length 5"):
        distance([0.0] * 4, [0.0] * 4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_plain_rows_need_no_look_of_scikit_learn(
    dtype: type, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And give the same fit as those that have one."""
    y = blobs[1]
    X: Floats = blobs[0].astype(dtype)
    expected = SDPMetric(**PAPER).fit(X, y.astype(str))
    named = SDPMetric(**PAPER).fit(X, y)
    named.feature_names_in_ = np.array(list("abcde"))  # of an earlier fit to a data frame
    monkeypatch.setattr("sdpmetric.learning.estimators.validate.validate_data", None)
    found = named.fit(X, y)
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert found.n_features_in_ == 5
    assert not hasattr(found, "feature_names_in_")
