"""A bound that contradicts the objective is withdrawn, never masked; NaN is no gap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import SDPMetric, Status, solve
from sdpmetric.solvers import certificate
from sdpmetric.solvers.certificate import bracket, relative
from sdpmetric.spectraplex.factors import unit
from sdpmetric.spectraplex.oracle import Leading, Oracle
from tests.support.problems import consistent, labelled, random_triplets

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("value", "gap", "best", "expected"),
    [
        (1.0, 0.5, INF, (1.5, 0.5)),
        (1.0, 0.5, 1.2, (1.2, 0.5)),
        (1.0, 0.0, INF, (1.0, 0.0)),
        (1.0, -1e-10, INF, (1.0, 0.0)),  # rounding
        (1.0, 0.5, 1.0 - 1e-10, (1.0, 0.5)),
        (1.0, -1e-8, INF, (INF, INF)),  # contradictions
        (1.0, 0.5, 1.0 - 1e-8, (INF, INF)),
        (1.0, NAN, INF, (INF, INF)),
        (NAN, 0.5, INF, (INF, INF)),
        (1.0, 0.5, NAN, (INF, INF)),
    ],
)
def test_bracket(value: float, gap: float, best: float, expected: tuple[float, float]) -> None:
    assert bracket(value, gap, best, 1e-9) == expected


@pytest.mark.parametrize(
    ("gap", "far_weight", "expected"),
    [
        (1.0, 2.0, 0.5),
        (0.0, 0.0, 0.0),
        (1e-3, 0.0, INF),
        (NAN, 1.0, INF),
        (NAN, 0.0, INF),
        (0.0, NAN, INF),
        (INF, 1.0, INF),
    ],
)
def test_relative_gap(gap: float, far_weight: float, expected: float) -> None:
    assert relative(gap, far_weight, 1.0) == expected


@pytest.mark.parametrize("wrong", [-10.0, NAN])
@pytest.mark.parametrize(
    "settings",
    [{}, {"solver": "frank-wolfe"}, {"loss": "hinge"}, {"triplets": "all"}, {"n_rounds": 2}],
)
def test_a_bound_below_the_objective_is_withdrawn(
    settings: dict[str, Any], wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    leading = Oracle.leading

    def lower(self: Oracle, *args: Any, **kwargs: Any) -> Leading:
        found = leading(self, *args, **kwargs)
        return replace(found, bound=found.bound + wrong * float(np.abs(found.values).max()))

    monkeypatch.setattr(Oracle, "leading", lower)
    X, y = labelled(np.random.default_rng(0), 40, 4)
    with pytest.warns(ConvergenceWarning, match="no gap is proven"):
        metric = SDPMetric(max_iter=40, **settings).fit(X, y)
    assert not metric.converged_
    assert metric.upper_bound_ == metric.gap_ == INF
    assert np.isfinite(metric.components_).all()


def test_an_earlier_bound_below_the_objective_is_withdrawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first certificate is wrong by so little that it contradicts only later objectives."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    T = consistent(random_triplets(rng, 30, 80), X, np.diag([1.0, 0.0, 0.0, 0.0]))
    leading, calls = Oracle.leading, 0

    def lower(self: Oracle, G: Any, *args: Any, **kwargs: Any) -> Leading:
        nonlocal calls
        calls += 1
        found = leading(self, G, *args, **kwargs)
        return replace(found, bound=G.inner_GM + 1e-6) if calls == 1 else found

    honest = solve(X, T, C=10.0, tol=1e-8)  # another C may end at the second certificate
    monkeypatch.setattr(Oracle, "leading", lower)
    found = solve(X, T, C=10.0, tol=1e-8)
    assert calls > 2  # the second certificate contradicts the first, later ones stand alone
    assert honest.objective > honest.history["objective"][0] + 1e-5
    assert honest.objective <= found.upper_bound <= honest.upper_bound + 1e-6
    assert np.isinf(found.history["gap"][1])


def test_an_interrupt_inside_a_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The point counted as certified while its certificate was not yet kept: AssertionError."""
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(30, 4)), random_triplets(rng, 30, 60)
    expected = solve(X, T, tol=0.5)
    pressed: list[bool] = []

    def unit_once(P: Any) -> Any:
        if not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        return unit(P)

    monkeypatch.setattr(certificate, "unit", unit_once)
    result = solve(X, T, tol=0.5, on_interrupt="return")
    assert result.status is Status.INTERRUPTED
    assert result.objective <= result.upper_bound
    assert result.objective <= expected.upper_bound
