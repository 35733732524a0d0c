"""A bound by a factorisation is a bound of the true matrix, and is close; when it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from sdpmetric._support.deadline import Deadline
from sdpmetric.problem.edge_points import EdgePoint
from sdpmetric.spectraplex import formed
from sdpmetric.spectraplex.formed import Forming, cholesky_bound, leading_pairs
from sdpmetric.spectraplex.oracle import Oracle
from tests.properties.test_certificate import KINDS, objective_of, spectrum, tall_case
from tests.support.lanes import some
from tests.support.problems import Floats


@dataclass
class Array:
    """A matrix that may be formed; ``formings`` counts how often that was done."""

    A: Floats
    rounding: float = 0.0
    may_form: bool = True
    cache: dict[Any, Any] = field(default_factory=dict)
    formings: int = 0

    @property
    def n_features(self) -> int:
        return len(self.A)

    @property
    def n_edges(self) -> int:
        return len(self.A)

    def scatter(self, V: Floats) -> Floats:
        return V

    def scatter_roots(self) -> list[Floats]:
        return [np.eye(len(self.A))]

    def times(self, V: Floats) -> Floats:
        return np.asarray(self.A @ V)

    def formed(self, check: Callable[[], None]) -> tuple[Floats, float]:
        check()
        self.formings += 1
        return self.A, self.rounding


def array(e: Floats, rng: np.random.Generator) -> Floats:
    Q = np.linalg.qr(rng.normal(size=(len(e), len(e))))[0]
    A: Floats = (Q * e) @ Q.T
    return np.asarray(0.5 * (A + A.T))


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_and_bound_on_prescribed_spectra(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for D in (24, 90, 300):
        e = spectrum(kind, D, 1e-5, rng)
        A = array(e, rng)
        values, V, bound = leading_pairs(A, 6)
        top, size = float(e.max()), float(np.abs(e).max())
        assert len(values) == 6
        np.testing.assert_allclose(values, np.sort(e)[:-7:-1], atol=1e-12 * size)
        np.testing.assert_allclose(A @ V, values * V, atol=1e-11 * size)
        assert top <= bound + 1e-14 * size
        assert bound <= top + 1e-9 * size


def test_an_eigenvalue_that_is_too_low_is_no_bound() -> None:
    """A thousandth, a millionth and 1e-9 below the largest eigenvalue."""
    rng = np.random.default_rng(1)
    for kind in KINDS:
        e = spectrum(kind, 120, 1e-5, rng)
        A, top = array(e, rng), float(e.max())
        assert cholesky_bound(A, top) is not None
        for share in (1e-3, 1e-6, 1e-9):
            assert cholesky_bound(A, top - share * float(np.abs(e).max())) is None


def test_a_cluster_that_the_partial_solver_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The factorisation finds it, and the solver for the whole spectrum makes up for it."""
    e = np.append(np.full(5, 2.0), np.linspace(-1.0, 1.0, 45))
    A = array(e, np.random.default_rng(2))

    def missing(A: Floats, **options: Any) -> Any:
        values, V = eigh(A, **options)
        return (values[:-5], V[:, :-5]) if "subset_by_index" in options else (values, V)

    monkeypatch.setattr(formed, "eigh", missing)
    values, _, bound = leading_pairs(A, 8)
    np.testing.assert_allclose(values[:5], np.full(5, 2.0))
    assert 2.0 - 1e-14 <= bound <= 2.0 + 1e-9


def test_a_wrong_value_of_the_right_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    A = array(np.linspace(0.0, 1.0, 40), np.random.default_rng(3))

    def low(A: Floats, **options: Any) -> Any:
        values, V = eigh(A, **options)
        return (0.999 * values, V) if "subset_by_index" in options else (values, V)

    monkeypatch.setattr(formed, "eigh", low)
    assert leading_pairs(A, 4)[2] >= 1.0 - 1e-14


def test_vectors_alone_take_any_proven_bound() -> None:
    """A tolerance of zero was never met: matrices were decomposed in vain, once and never again."""
    rng = np.random.default_rng(6)
    G = Array(array(rng.uniform(-1.0, 1.0, size=60), rng), rounding=1e-9)
    forming, top = Forming(60, 60), float(np.linalg.eigvalsh(G.A)[-1])
    for tol in (0.0, 1e-5):
        found = forming.pairs(G, 3, tol, Deadline())
        assert found is not None
        assert top <= found[2] <= top + 1e-8


def test_the_krylov_method_first_then_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    G = Array(array(rng.normal(size=200), rng))
    expected = float(np.linalg.eigvalsh(G.A)[-1])
    # Enough columns: nothing is formed.
    oracle = Oracle(G, dense_limit=1)
    few = oracle.leading(G, 3, most=20, tol=1e-6)
    assert (G.formings, len(few.values)) == (0, 3)
    # Too few, at the first call: from then on matrices alone.
    monkeypatch.setattr(formed, "_LEAST", 0)
    oracle = Oracle(G, dense_limit=1)
    found = oracle.leading(G, 3, most=20, tol=1e-6)
    spent = oracle.products
    again = oracle.leading(G, 3, most=20, tol=1e-6)
    assert G.formings == 2
    assert oracle.products == spent + 200
    for some_ in (few, found, again):
        assert expected - 1e-13 <= some_.bound <= expected * (1.0 + 1e-6)
    assert len(found.values) == len(again.values) == 20
    np.testing.assert_allclose(G.A @ found.vectors, found.vectors * found.values, atol=1e-12)


def crossed(G: Array, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Oracle:
    monkeypatch.setattr(formed, "_LEAST", 0)
    return Oracle(G, dense_limit=1, **options)


@pytest.mark.parametrize("reason", ["limit", "items", "memory", "time", "rounding", "negative"])
def test_the_krylov_method_where_no_matrix_will_do(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    e = rng.uniform(-1.0, 1.0, size=80) - (2.0 if reason == "negative" else 0.0)
    G = Array(array(e, rng), may_form=reason != "items")
    options: dict[str, Any] = {"formed_limit": 79} if reason == "limit" else {}
    if reason == "memory":
        monkeypatch.setattr(formed, "available_memory", lambda: (1e5, "a limit"))
    if reason == "time":
        monkeypatch.setattr(formed, "_seconds", lambda A, deadline: np.inf)
    if reason == "rounding":
        G.rounding = 1e-5
    oracle = crossed(G, monkeypatch, **options)
    for _ in range(2):
        found = oracle.leading(G, 3, tol=1e-6)
        top = float(e.max())
        assert top - 1e-13 <= found.bound <= top + 1e-6
    assert G.formings == {"time": 2, "rounding": 1, "negative": 2}.get(reason, 0)


def test_a_deadline_leaves_a_loose_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    G = Array(array(rng.normal(size=150), rng))
    oracle = crossed(G, monkeypatch, deadline=Deadline(limit=0.0))
    assert oracle.leading(G, 3, tol=1e-6).bound >= float(np.linalg.eigvalsh(G.A)[-1])
    assert G.formings == 0
    # One that took longer than what is left is not begun again.
    forming = Forming(150, 150)
    forming.seconds = 1e9
    assert forming.pairs(G, 3, 1e-6, Deadline(limit=1e8)) is None
    assert G.formings == 0


@pytest.mark.parametrize("seed", some(range(6), 2))
def test_points_are_what_their_products_say(seed: int) -> None:
    case = tall_case(seed)
    objective = objective_of(case)
    D = objective.n_features
    point = objective.at(np.random.default_rng(seed).normal(size=(D, 4)))
    assert isinstance(point, EdgePoint)
    G, rounding = point.formed(lambda: None)
    expected = point.times(np.eye(D))
    assert rounding <= 1e-11 * np.linalg.norm(expected)
    assert np.linalg.norm(G - expected, 2) <= 2.0 * rounding


@pytest.mark.parametrize("seed", some(range(6), 2))
def test_fits_end_at_the_same_optimum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = tall_case(seed)
    expected = case.solve(tol=1e-6)
    monkeypatch.setattr(formed, "_LEAST", 0)
    found = case.solve(tol=1e-6, solver_options={"dense_limit": 1})
    assert found.converged
    assert found.objective <= expected.upper_bound
    assert expected.objective <= found.upper_bound
    assert case.relative_gap(found.get_mahalanobis_matrix(), found.rho) <= found.gap + 1e-12


def test_a_bound_that_is_a_thousandth_too_low_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above would notice it."""
    monkeypatch.setattr(formed, "_LEAST", 0)
    form = EdgePoint.formed

    def low(self: EdgePoint, check: Callable[[], None]) -> tuple[Floats, float]:
        G, rounding = form(self, check)
        return 0.999 * G, rounding

    monkeypatch.setattr(EdgePoint, "formed", low)
    case = tall_case(1)
    found = case.solve(tol=1e-2, solver_options={"dense_limit": 1})
    assert case.relative_gap(found.get_mahalanobis_matrix(), found.rho) > found.gap + 1e-12
