"""triplets="all" against a list of every triplet."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import (
    Comparisons,
    Huber,
    Logistic,
    SDPMetric,
    SquaredHinge,
    knn_triplets,
    solve,
)
from sdpmetric.learning.estimators import sdp_metric
from sdpmetric.linalg.items import items_of
from sdpmetric.linalg.mapped import WeightedTables
from sdpmetric.problem.margin import best_rho
from sdpmetric.triplets.all_triplets import AllTriplets
from sdpmetric.triplets.knn import mine
from sdpmetric.triplets.nearest import nearest_by_class
from tests.support.lanes import some
from tests.support.problems import PAPER, Floats, Ints, labelled


def every_triplet(X: Floats, y: Ints, k: int) -> Ints:
    """Each row, each of its k targets, each row of another class, by loops."""
    near, _ = nearest_by_class(items_of(X), y, k, 1)
    return np.array(
        [
            [i, j, far]
            for i in range(len(y))
            for j in near[i]
            if j >= 0
            for far in np.flatnonzero(y != y[i])
        ]
    )


def units(X: Floats, triplets: Ints, weights: Any = None) -> float:
    """The scale of the given triplets: the mean far distance under I/D becomes 1."""
    far = np.sum((X[triplets[:, 0]] - X[triplets[:, 2]]) ** 2, axis=1)
    return float(X.shape[1] / np.average(far, weights=weights))


def value_and_gap(
    X: Floats, M: Floats, triplets: Ints, c: Floats, scale: float, loss: Any, t: float, M0: Any
) -> tuple[float, float, float]:
    """F, rho and the relative gap over listed triplets, from the definitions."""
    far = X[triplets[:, 0]] - X[triplets[:, 2]]
    near = X[triplets[:, 0]] - X[triplets[:, 1]]
    d_far = scale * np.einsum("ri,ij,rj->r", far, M, far)
    z = d_far - scale * np.einsum("ri,ij,rj->r", near, M, near)
    rho = best_rho(z, c, loss)
    w = -c * loss.slope(z - rho)
    G = scale * ((far * w[:, None]).T @ far - (near * w[:, None]).T @ near)
    learned = M if t == 0.0 else (M - t * M0) / (1.0 - t)
    gap = (1.0 - t) * (np.linalg.eigvalsh(G)[-1] - np.sum(G * learned))
    return rho - float(c @ loss.value(z - rho)), rho, gap / float(w @ d_far)


CASES: list[dict[str, Any]] = [
    {},
    {"C": 0.5},
    {"C": 0.1, "h": 0.5},
    {"loss": "squared_hinge", "C": 20.0},
    {"loss": "squared_hinge", "C": 0.05},
    {"C": 2.0, "prior": "identity", "prior_weight": 0.3},
    {"C": 2.0, "class_weight": {0: 1.0, 1: 3.0, 2: 0.5}},
    {"C": 2.0, "class_weight": {0: 1.0, 1: 0.0, 2: 0.5}},
    {"C": 1.0, "solver": "frank-wolfe", "tol": 0.05, "h": 0.5},
    {"C": 1.0, "n_neighbors": 1, "n_impostors": 5},
]


@pytest.mark.parametrize("form", some([np.asarray, sp.csr_array], 1))
@pytest.mark.parametrize("options", CASES, ids=str)
def test_certificate_covers_every_triplet(options: dict[str, Any], form: Any) -> None:
    X, y = labelled(np.random.default_rng(0), 60, 5)
    m = SDPMetric(**PAPER | {"triplets": "all", "C": 10.0} | options).fit(form(X), y)
    k, f = options.get("n_neighbors", 3), options.get("n_impostors", 3)
    triplets, knn = every_triplet(X, y, k), knn_triplets(X, y, k, f)
    of_class = options.get("class_weight", {0: 1.0, 1: 1.0, 2: 1.0})
    s = np.array([of_class[y[a]] for a in triplets[:, 0]])
    s_knn = np.array([of_class[y[a]] for a in knn[:, 0]])
    scale = units(X, knn, s_knn)
    loss = (
        SquaredHinge() if options.get("loss") == "squared_hinge" else Huber(options.get("h", 0.05))
    )
    c = options.get("C", 10.0) * s / s_knn.sum()
    M = m.get_mahalanobis_matrix()
    value, rho, gap = value_and_gap(
        X, M, triplets, c, scale, loss, options.get("prior_weight", 0.0), np.eye(5) / 5
    )
    assert m.converged_
    assert m.n_triplets_ == np.count_nonzero(s)
    assert m.scale_ == pytest.approx(scale, rel=1e-12)
    assert m.objective_ == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert m.rho_ == pytest.approx(rho, rel=1e-7, abs=1e-9)
    assert m.gap_ == pytest.approx(gap, rel=1e-3, abs=1e-9)
    assert m.gap_ <= options.get("tol", 1e-4)


def test_the_optimum_is_that_of_the_listed_triplets() -> None:
    X, y = labelled(np.random.default_rng(1), 50, 4)
    triplets, knn = every_triplet(X, y, 3), knn_triplets(X, y)
    ratio = units(X, knn) / units(X, triplets)
    m = SDPMetric(triplets="all", C=2.0, h=0.1, tol=1e-7, **PAPER).fit(X, y)
    # Distances of the list are in units of their own mean: h and F change with them, C as well.
    listed = solve(X, triplets, C=2.0 * len(triplets) / len(knn), h=0.1 / ratio, tol=1e-7)
    assert m.objective_ == pytest.approx(ratio * listed.objective, rel=1e-5)
    np.testing.assert_allclose(
        m.get_mahalanobis_matrix(), listed.get_mahalanobis_matrix(), atol=1e-3
    )


def test_hinge_over_every_triplet() -> None:
    X, y = labelled(np.random.default_rng(2), 40, 4)
    triplets, knn = every_triplet(X, y, 3), knn_triplets(X, y)
    ratio = units(X, knn) / units(X, triplets)
    m = SDPMetric(triplets="all", loss="hinge", C=2.0, **PAPER).fit(X, y)
    listed = solve(X, triplets, loss="hinge", C=2.0 * len(triplets) / len(knn))
    assert m.converged_
    assert m.objective_ == pytest.approx(ratio * listed.objective, rel=3e-4)
    assert ratio * listed.objective <= m.upper_bound_ + 1e-9
    assert m.objective_ <= ratio * listed.upper_bound + 1e-9


@pytest.mark.parametrize("limit", [{"max_iter": 3}, {"max_iter": 12}, {"time_limit": 1e-9}])
def test_a_limit_still_certifies_every_triplet(limit: dict[str, Any]) -> None:
    X, y = labelled(np.random.default_rng(3), 60, 5)
    with pytest.warns(ConvergenceWarning):
        m = SDPMetric(triplets="all", C=10.0, **limit, **PAPER).fit(X, y)
    triplets, knn = every_triplet(X, y, 3), knn_triplets(X, y)
    c = np.full(len(triplets), 10.0 / len(knn))
    value, rho, gap = value_and_gap(
        X, m.get_mahalanobis_matrix(), triplets, c, units(X, knn), Huber(0.05), 0.0, None
    )
    assert m.objective_ == pytest.approx(value, rel=1e-9)
    assert m.rho_ == pytest.approx(rho, rel=1e-7, abs=1e-9)
    assert m.gap_ == pytest.approx(gap, rel=1e-3)
    assert not m.converged_


def test_only_a_part_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdpmetric.triplets import working_triplets as pool

    sizes: list[int] = []
    original = pool.WorkingTriplets.objective

    def watched(self: pool.WorkingTriplets) -> Any:
        sizes.append(len(self.codes))
        return original(self)

    monkeypatch.setattr(pool.WorkingTriplets, "objective", watched)
    X, y = labelled(np.random.default_rng(4), 300, 5)
    m = SDPMetric(triplets="all", **PAPER).fit(X, y)
    assert m.converged_
    assert len(sizes) > 1
    assert max(sizes) < 0.1 * m.n_triplets_


@pytest.mark.parametrize("loss", ["logistic", Logistic(0.1)])
def test_losses_without_support_are_refused(loss: Any) -> None:
    X, y = labelled(np.random.default_rng(5), 30, 3)
    with pytest.raises(ValueError, match=r"loss must be zero beyond a finite support"):
        SDPMetric(triplets="all", loss=loss, **PAPER).fit(X, y)


def test_smallest_C() -> None:
    """What counts is C times all triplets over the k-nearest ones."""
    X, y = labelled(np.random.default_rng(6), 45, 3)
    least = len(knn_triplets(X, y)) / len(every_triplet(X, y, 3))
    with pytest.raises(ValueError, match=rf"C must be greater than {least:.3g}"):
        SDPMetric(triplets="all", C=0.999 * least, **PAPER).fit(X, y)
    assert SDPMetric(triplets="all", C=1.05 * least, **PAPER).fit(X, y).converged_


def test_inside_lists_exactly_the_margins_below_the_limit() -> None:
    X, y = labelled(np.random.default_rng(7), 40, 3)
    near, far = mine(items_of(X), y, 2, 2)
    everything = AllTriplets(y, near, np.ones(40))
    triplets = every_triplet(X, y, 2)
    assert everything.count() == len(triplets)
    z = np.sum((X[triplets[:, 0]] - X[triplets[:, 2]]) ** 2, axis=1)
    z -= np.sum((X[triplets[:, 0]] - X[triplets[:, 1]]) ** 2, axis=1)
    for limit in (-1.0, 0.3, 5.0, np.inf):
        found = everything.indices(everything.inside(WeightedTables((1.0, items_of(X))), limit))[0]
        assert sorted(map(tuple, found)) == sorted(map(tuple, triplets[z < limit]))
    codes = everything.codes(far)
    assert sorted(map(tuple, everything.indices(codes)[0])) == sorted(
        map(tuple, knn_triplets(X, y, 2, 2))
    )


def test_small_and_single_classes() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(14, 3)), np.repeat([0, 1, 2, 3], [7, 4, 2, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        m = SDPMetric(triplets="all", C=3.0, **PAPER).fit(X, y)
    assert m.n_triplets_ == 7 * 3 * 7 + 4 * 3 * 10 + 2 * 1 * 12


def test_rounds_choose_neighbours_under_the_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdp_metric, "EARLY_TOL", 0.0)  # the first round as exact as `first`
    rng = np.random.default_rng(9)
    X, y = labelled(rng, 90, 4)
    first = SDPMetric(**PAPER).fit(X, y)
    second = SDPMetric(**PAPER | {"n_rounds": 2}).fit(X, y)
    triplets = knn_triplets(first.transform(X), y)
    by_hand = solve(X, triplets)
    assert second.objective_ == pytest.approx(by_hand.objective, rel=2e-4)
    assert second.scale_ == pytest.approx(by_hand.scale)
    assert second.scale_ != pytest.approx(first.scale_)


def test_an_array_as_prior() -> None:
    rng = np.random.default_rng(10)
    X, y = labelled(rng, 50, 4)
    A = rng.normal(size=(4, 4))
    M0 = A @ A.T / np.sum(A**2)
    m = SDPMetric(triplets="all", C=2.0, prior=M0, prior_weight=0.4, **PAPER).fit(X, y)
    triplets, knn = every_triplet(X, y, 3), knn_triplets(X, y)
    c = np.full(len(triplets), 2.0 / len(knn))
    M = m.get_mahalanobis_matrix()
    value, rho, gap = value_and_gap(X, M, triplets, c, units(X, knn), Huber(0.05), 0.4, M0)
    assert m.objective_ == pytest.approx(value, rel=1e-9)
    assert m.rho_ == pytest.approx(rho, rel=1e-7, abs=1e-9)
    assert m.gap_ == pytest.approx(gap, rel=1e-3, abs=1e-9)


def test_idle_edges_join_what_the_nearest_triplets_leave_apart() -> None:
    c = Comparisons.from_indices(np.array([[0, 1, 2], [5, 4, 6]]), np.array([1.0, 2.0]))
    joined = c.joined(8)
    np.testing.assert_array_equal(joined.edges[joined.near], c.edges[c.near])
    np.testing.assert_array_equal(joined.edges[joined.far], c.edges[c.far])
    assert len(joined.edges) == len(c.edges) + 3  # items 3 and 7, and the two groups
    assert joined.edges.tolist() == sorted(joined.edges.tolist())
    assert joined.joined(8) is joined


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupted_search_keeps_the_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdpmetric.triplets import working_triplets as pool

    original, calls = pool.WorkingTriplets.add, []

    def add(self: Any, factor: Floats, rho: float) -> int:
        calls.append(rho)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, factor, rho)

    monkeypatch.setattr(pool.WorkingTriplets, "add", add)
    X, y = labelled(np.random.default_rng(11), 60, 5)
    m = SDPMetric(triplets="all", C=10.0, **PAPER)
    with pytest.raises(KeyboardInterrupt):
        m.fit(X, y)
    assert m.status_ == "interrupted"
    assert len(calls) == 3
    triplets, knn = every_triplet(X, y, 3), knn_triplets(X, y)
    c = np.full(len(triplets), 10.0 / len(knn))
    M = m.get_mahalanobis_matrix()
    value, _, gap = value_and_gap(X, M, triplets, c, units(X, knn), Huber(0.05), 0.0, None)
    assert m.objective_ == pytest.approx(value, rel=1e-9)
    assert m.gap_ == pytest.approx(gap, rel=1e-3)
