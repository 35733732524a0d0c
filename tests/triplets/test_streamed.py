"""All triplets streamed by tiles, against the same triplets in a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import Huber, SDPMetric, SquaredHinge, Status
from sdpmetric.engines.threads import map_parts, thread_pool
from sdpmetric.linalg.items import items_of
from sdpmetric.linalg.kernels.margins import fill_margins
from sdpmetric.problem.losses import Hinge
from sdpmetric.problem.prior import as_prior
from sdpmetric.problem.units import Problem
from sdpmetric.triplets import all_triplets, streamed, working_triplets
from sdpmetric.triplets import remembered as remembered_tiles
from sdpmetric.triplets.all_triplets import AllTriplets
from sdpmetric.triplets.knn import mine
from sdpmetric.triplets.working_triplets import WorkingTriplets
from tests.support.clock import Clock
from tests.support.problems import PAPER, SOLVERS, Floats, labelled


class CubedHinge:
    """A user's own loss, without compiled loops."""

    support, max_slope = 0.0, np.inf

    def value(self, t: Floats) -> Floats:
        return np.maximum(-t, 0.0) ** 3

    def slope(self, t: Floats) -> Floats:
        return -3.0 * np.maximum(-t, 0.0) ** 2

    def curvature(self, t: Floats) -> Floats:
        return 6.0 * np.maximum(-t, 0.0)


def both(
    loss: Any,
    C: float = 2.0,
    *,
    weighted: bool = False,
    prior: Any = None,
    t: float = 0.0,
    form: Any = np.asarray,
) -> tuple[Any, Any]:
    """The streamed objective of a small set with small classes, and the listed one."""
    rng = np.random.default_rng(0)
    X, _ = labelled(rng, 50, 6)
    y = np.repeat([0, 1, 2, 3], [25, 20, 3, 2])  # rows with fewer targets than three
    weights = rng.choice([0.0, 0.3, 1.0], 50) if weighted else np.ones(50)
    items = items_of(form(X + 3.0))
    with pytest.warns(UserWarning, match=r"fewer than n_neighbors"):
        near, far = mine(items, y, 3, 3)
    assert (near < 0).any()
    triplets = AllTriplets(y, near, weights)
    codes = triplets.codes(far)
    problem = Problem.from_triplets(
        items,
        *triplets.indices(codes),
        loss=loss,
        C=C,
        prior=as_prior(prior, t, 6),
        every_item=True,
    )
    working = WorkingTriplets(problem, triplets, codes, 0)
    working.listed = False
    everything = working.objective()
    working.codes = triplets.inside(problem.mapped(np.eye(6)), np.inf)
    working.listed = True
    assert len(working.codes) == triplets.count()
    return everything, working.objective()


def prior_matrix() -> Floats:
    A = np.random.default_rng(5).normal(size=(6, 6))
    return A @ A.T


LOSSES = [SquaredHinge(), Huber(0.05), Huber(0.5), CubedHinge()]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"C": 0.3},  # nearly all are inside the margin
    {"C": 100.0},  # rho = 0
    {"weighted": True},
    {"prior": "identity", "t": 0.3},
    {"prior": prior_matrix(), "t": 0.6, "weighted": True},
    {"form": sp.csr_array},
]


def assert_alike(point: Any, expected: Any, V: Floats) -> None:
    size = abs(expected.value) + expected.rho + expected.far_weight
    for name in ("value", "rho", "inner_GM", "inner_GM0", "far_weight", "slack"):
        found = getattr(point, name)
        assert found == pytest.approx(getattr(expected, name), rel=1e-10, abs=1e-10 * size)
    assert point.curvature == pytest.approx(expected.curvature, rel=1e-6)
    assert 0.0 <= point.rounding < 1e-10 * size
    GV = expected.times(V)
    np.testing.assert_allclose(point.times(V), GV, atol=1e-10 * np.abs(GV).max())
    np.testing.assert_allclose(point.gradient(), expected.gradient(), atol=1e-10 * np.abs(GV).max())


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(s) or "plain")
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_a_streamed_point_is_that_of_the_list(loss: Any, settings: dict[str, Any]) -> None:
    everything, listed = both(loss, **settings)
    rng = np.random.default_rng(1)
    P, V = rng.normal(size=(6, 2)), rng.normal(size=(6, 4))
    assert_alike(everything.at(P), listed.at(P, exact=True), V)
    assert everything.n_comparisons == listed.n_comparisons


@pytest.mark.parametrize("remembered", [0, 50**2])
@pytest.mark.parametrize("formed", [0, 6])
def test_many_tiles_threads_and_wide_rows(
    formed: int, remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered_tiles, "_MOST", remembered)
    monkeypatch.setattr(all_triplets, "_TILE", (7, 11))
    monkeypatch.setattr(all_triplets, "map_parts", lambda n, work, _: map_parts(n, work, 5))
    monkeypatch.setattr(streamed, "_FORMED", formed)
    everything, listed = both(Huber(0.1), weighted=True)
    P, V = np.eye(6, 3), np.random.default_rng(2).normal(size=(6, 4))
    with thread_pool(2):
        point = everything.at(P)
        assert_alike(point, listed.at(P, exact=True), V)
    assert bool(point.tiles.parts) is (remembered > 0)


@pytest.mark.parametrize("C", [0.3, 2.0, 100.0])
def test_the_margin_of_the_hinge_is_a_quantile(C: float) -> None:
    everything, listed = both(Huber(0.1), C, weighted=True)
    P = np.random.default_rng(3).normal(size=(6, 2))
    point = everything.with_loss(Hinge()).at(P)
    expected = listed.with_loss(Hinge()).at(P, exact=True)
    assert point.value == pytest.approx(expected.value, rel=1e-10)
    assert point.rho == pytest.approx(expected.rho, rel=1e-10, abs=1e-10)


def test_a_streamed_point_certifies_and_does_not_move() -> None:
    everything, _ = both(Huber(0.1))
    point = everything.at(np.eye(6))
    assert everything.screened() is everything
    assert point.with_rho(None) is point.with_rho(point.rho) is point
    with pytest.raises(TypeError, match=r"to certify"):
        point.toward(np.eye(6, 1))
    with pytest.raises(TypeError, match=r"to certify"):
        point.with_rho(point.rho + 1.0)


def test_nan_never_passes_for_a_satisfied_triplet() -> None:
    products = np.array([[np.nan, 0.0, 0.0]])
    labels, rows = np.array([0, 1, 0]), np.array([2])
    out = np.empty((1, 3))
    tile = products, np.array([1.0, 5.0, 1.0]), np.zeros((1, 1)), np.ones(1), labels, rows, 0
    fill_margins(tile, 0, 0.5, 2.0, out)
    assert out.tolist() == [[2.0, 2.0, 2.0]]  # its own class, beyond, its own class
    fill_margins((*tile[:4], np.array([1, 1, 0]), rows, 0), 0, 0.5, 9.0, out)
    assert np.isnan(out[0, 0])
    assert out[0, 1:].tolist() == [4.5, 9.0]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of triplets in each list that is made from now on."""
    sizes: list[int] = []
    original = AllTriplets.inside

    def inside(*args: Any) -> Any:
        found = original(*args)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(AllTriplets, "inside", inside)
    return sizes


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 0.2},
        {"loss": "squared_hinge", "C": 5.0},
        {"loss": "hinge", "C": 2.0},
        {"C": 2.0, "prior": "identity", "prior_weight": 0.3},
        {"C": 2.0, "class_weight": {0: 1.0, 1: 3.0, 2: 0.0}},
    ],
    ids=str,
)
def test_the_certificate_brackets_the_optimum(
    options: dict[str, Any], solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working_triplets, "_SHORT", 0.0)  # even short lists are not made
    sizes = counted(monkeypatch)
    X, y = labelled(np.random.default_rng(4), 60, 5)
    given = PAPER | {"triplets": "all"} | options
    best = SDPMetric(**given).fit(X, y)
    sizes.clear()
    with pytest.warns(ConvergenceWarning, match=r"increase time_limit") as caught:
        m = SDPMetric(**given, solver=solver, time_limit=1e-9).fit(X, y)
    assert sizes == []
    assert len(caught) == 1
    assert m.status_ is Status.TIME_LIMIT
    assert m.objective_ <= best.objective_ <= m.upper_bound_
    assert best.gap_ < m.gap_ < np.inf
    assert m.n_triplets_ == best.n_triplets_


def test_nearly_all_triplets_inside_the_margin_took_a_minute_beyond_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """5,000 images, C = 0.01 and a limit of 2 seconds: 112 million triplets were listed twice."""
    X, y = labelled(np.random.default_rng(6), 200, 5)
    sizes = counted(monkeypatch)
    clock = Clock(monkeypatch)
    # The list of nearly all 80,000 triplets would take 8 seconds.
    monkeypatch.setattr(working_triplets, "_SECONDS", 1e-4)
    with pytest.warns(ConvergenceWarning, match=r"increase time_limit"):
        m = SDPMetric(triplets="all", C=0.05, h=0.5, time_limit=2.0, **PAPER).fit(X, y)
    assert m.n_triplets_ > 70_000
    assert m.status_ is Status.TIME_LIMIT
    assert sizes == []
    assert m.n_iter_ == 1
    assert clock.after(0.0, "at") == 0


def test_a_list_that_grows_too_long_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(np.random.default_rng(7), 120, 5)
    sizes = counted(monkeypatch)
    best = SDPMetric(triplets="all", **PAPER).fit(X, y)
    assert len(sizes) > 2
    sizes.clear()

    limit = AllTriplets.limit
    monkeypatch.setattr(AllTriplets, "limit", lambda *args: (limit(*args)[0], 1e12))
    with pytest.warns(ConvergenceWarning, match=r"increase time_limit"):
        m = SDPMetric(triplets="all", time_limit=1000.0, **PAPER).fit(X, y)
    assert len(sizes) == 1
    assert m.objective_ <= best.objective_ <= m.upper_bound_
    assert m.n_iter_ > 1
    assert m.gap_ < np.inf


def test_a_short_list_is_made_after_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes less time than to certify by tiles."""
    X, y = labelled(np.random.default_rng(4), 300, 5)
    sizes = counted(monkeypatch)
    with pytest.warns(ConvergenceWarning, match=r"increase time_limit"):
        m = SDPMetric(triplets="all", time_limit=1e-9, **PAPER).fit(X, y)
    assert 0 < sum(sizes) < 0.1 * m.n_triplets_


def test_a_limit_far_away_changes_nothing() -> None:
    X, y = labelled(np.random.default_rng(8), 90, 5)
    m = SDPMetric(triplets="all", **PAPER).fit(X, y)
    limited = SDPMetric(triplets="all", time_limit=1e6, **PAPER).fit(X, y)
    np.testing.assert_array_equal(m.components_, limited.components_)
    assert m.upper_bound_ == limited.upper_bound_
