"""`check_loss` accepts what keeps its promises and says what is wrong with the rest."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sdpmetric import Huber, Logistic, Loss, SquaredHinge, check_loss, solve
from sdpmetric.problem.losses import Hinge
from tests.support.problems import Case, UserLoss, best_margin, random_case

GOOD = [SquaredHinge(), UserLoss(), *(k(h) for k in (Huber, Logistic) for h in (0.02, 0.5, 4.0))]


@pytest.mark.parametrize("loss", GOOD)
def test_accepts(loss: Loss) -> None:
    check_loss(loss)


def zero(t: Any) -> Any:
    return np.zeros_like(t)


def without(member: str) -> SimpleNamespace:
    members = ("value", "slope", "curvature", "support", "max_slope")
    return SimpleNamespace(**{m: getattr(Huber(), m) for m in members if m != member})


@pytest.mark.parametrize(
    ("loss", "match"),
    [
        pytest.param(
            UserLoss(value_of=np.exp, slope_of=np.exp, curvature_of=np.exp),
            "slope is .* > 0 .* increases",
            id="increasing",
        ),
        pytest.param(UserLoss(value_of=lambda t: 1e-2 * t), "value increases", id="value rises"),
        pytest.param(
            UserLoss(
                math.inf,
                1.0,
                lambda t: -t - 0.5 * np.sin(t),
                lambda t: -1.0 - 0.5 * np.cos(t),
                lambda t: 0.5 * np.sin(t),
            ),
            "not convex",
            id="not convex",
        ),
        pytest.param(
            UserLoss(slope_of=lambda t: 1.1 * UserLoss().slope(t)),
            "slope is .* but value changes",
            id="wrong slope",
        ),
        pytest.param(
            UserLoss(slope_of=lambda t: -UserLoss().slope(t)), "slope is .* > 0", id="slope's sign"
        ),
        pytest.param(
            UserLoss(curvature_of=lambda t: 1.1 * UserLoss().curvature(t)),
            "curvature is .* but slope changes",
            id="wrong curvature",
        ),
        pytest.param(UserLoss(curvature_of=lambda t: zero(t) - 1.0), "curvature is -1 < 0"),
        pytest.param(UserLoss(curvature_of=zero), "curvature is 0", id="no curvature"),
        pytest.param(UserLoss(support=0.9), "support is 0.9, but slope", id="support too small"),
        pytest.param(UserLoss(support=-20.0), "support is -20, but slope", id="support far off"),
        pytest.param(UserLoss(max_slope=1.9), "max_slope is 1.9, but", id="max_slope too small"),
        pytest.param(UserLoss(max_slope=2.1), "max_slope is 2.1, but", id="max_slope too large"),
        pytest.param(UserLoss(max_slope=math.inf), "max_slope is inf, but", id="max_slope inf"),
        pytest.param(Hinge(), "not differentiable", id="hinge"),
        pytest.param(UserLoss(value_of=lambda t: t[:1]), "value.* has shape", id="shape"),
        pytest.param(UserLoss(value_of=lambda t: zero(t) + np.nan), "value.* not finite", id="NaN"),
        pytest.param(Huber, "class", id="a class"),
        pytest.param(without("value"), "lacks value", id="no value"),
        pytest.param(without("slope"), "lacks slope", id="no slope"),
        pytest.param(without("curvature"), "lacks curvature", id="no curvature()"),
        pytest.param(without("support"), "lacks support", id="no support"),
        pytest.param(without("max_slope"), "lacks max_slope", id="no max_slope"),
    ],
)
def test_rejects(loss: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        check_loss(loss)


def test_hinge_away_from_the_grid_is_not_differentiable() -> None:
    at = 0.123456
    kinked = UserLoss(
        at,
        1.0,
        lambda t: np.maximum(at - t, 0.0),
        lambda t: np.where(t < at, -1.0, 0.0),
        zero,
    )
    with pytest.raises(ValueError, match=r"not differentiable"):
        check_loss(kinked)


@pytest.mark.parametrize("prior", [None, "identity"])
def test_user_loss_fits_end_to_end(prior: str | None) -> None:
    """u^2 up to u = 1, then 2 u - 1, with u = 1 - t, is twice Huber(1/2) moved by 1/2."""
    case: Case = random_case(2, prior=prior, t=0.3 if prior else 0.0)
    result = solve(case.X, case.triplets, loss=UserLoss(), C=3.0, prior=prior, prior_weight=case.t)
    z = case.but(weights=None).margins(result.get_mahalanobis_matrix())
    _, expected = best_margin(z - 0.5, np.full(len(z), 6.0 / len(z)), "huber", 0.5)
    assert result.converged
    assert result.objective == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("h", [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("kind", [Huber, Logistic])
def test_shipped_losses_of_any_width_are_accepted(
    kind: type[Huber] | type[Logistic], h: float
) -> None:
    check_loss(kind(h))


def test_the_name_of_a_loss_is_not_a_loss() -> None:
    with pytest.raises(ValueError, match="got the name 'huber'"):
        check_loss("huber")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("member", ["value", "slope", "curvature"])
@pytest.mark.parametrize("calls", [0, 3, 9])
def test_complex_numbers_of_a_loss_were_cast_to_real_ones(member: str, calls: int) -> None:
    """In the check before a fit, at its first evaluations, and later."""

    class Complex(UserLoss):
        called = 0

    def returned(self: Any, t: Any) -> Any:
        found = getattr(UserLoss, member)(self, t)
        Complex.called += 1
        return found + 1j if Complex.called > calls else found

    setattr(Complex, member, returned)
    case = random_case(2)
    with pytest.raises(ValueError, match=rf"^loss\.{member} of .* must hold real numbers"):
        solve(case.X, case.triplets, loss=Complex(), C=3.0, tol=1e-9)
    with pytest.raises(ValueError, match=rf"^{member}\(t\) must hold real numbers"):
        check_loss(Complex())


@pytest.mark.parametrize("member", ["support", "max_slope"])
@pytest.mark.parametrize("value", [None, math.nan, "1", 1j, [], np.ones(2), 10**400], ids=type)
def test_promises_that_are_no_numbers_are_named(member: str, value: Any) -> None:
    """They were TypeErrors, and errors of Numba, from somewhere inside a fit."""
    loss = UserLoss(**{member: value})
    case = random_case(2)
    for check in (check_loss, lambda loss: solve(case.X, case.triplets, loss=loss, C=3.0)):
        with pytest.raises(ValueError, match=rf"^loss\.{member} must be a number or infinity"):
            check(loss)
