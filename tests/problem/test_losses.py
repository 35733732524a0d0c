"""Losses against hand-computed numbers and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sdpmetric import Huber, Logistic, Loss, SquaredHinge
from sdpmetric.problem.losses import Hinge
from tests.support.problems import LOSSES, loss_slope, loss_value

SHIPPED = [SquaredHinge(), Huber(), Huber(0.1), Huber(2.0), Logistic(), Logistic(0.05), Logistic(3)]


@pytest.mark.parametrize(
    ("loss", "t", "value", "slope", "curvature"),
    [
        (SquaredHinge(), -3.0, 9.0, -6.0, 2.0),
        (SquaredHinge(), 0.0, 0.0, 0.0, 0.0),
        (SquaredHinge(), 2.0, 0.0, 0.0, 0.0),
        (Huber(0.5), -2.0, 2.0, -1.0, 0.0),
        (Huber(0.5), -0.5, 0.5, -1.0, 0.0),
        (Huber(0.5), 0.0, 0.125, -0.5, 1.0),
        (Huber(0.5), 0.25, 0.03125, -0.25, 1.0),
        (Huber(0.5), 0.5, 0.0, 0.0, 0.0),
        (Huber(0.5), 7.0, 0.0, 0.0, 0.0),
        (Huber(2.0), 0.0, 0.5, -0.5, 0.25),
        (Logistic(2.0), 0.0, 2.0 * math.log(2.0), -0.5, 0.125),
        (Logistic(1.0), math.log(3.0), math.log(4.0 / 3.0), -0.25, 0.1875),
        (Logistic(0.5), -1e4, 1e4, -1.0, 0.0),
        (Logistic(0.5), 1e4, 0.0, 0.0, 0.0),
        (Hinge(), -3.0, 3.0, -1.0, 0.0),
        (Hinge(), 1.0, 0.0, 0.0, 0.0),
    ],
)
def test_values_by_hand(loss: Loss, t: float, value: float, slope: float, curvature: float) -> None:
    at = np.array([t])
    expected = pytest.approx([value, slope, curvature], rel=1e-14, abs=1e-300)
    assert [loss.value(at)[0], loss.slope(at)[0], loss.curvature(at)[0]] == expected


@pytest.mark.parametrize("loss", SHIPPED)
def test_finite_differences(loss: Loss) -> None:
    t = np.random.default_rng(0).uniform(-4.0, 4.0, 500)
    step = 1e-5
    kink = np.array([getattr(loss, "h", 0.0), -getattr(loss, "h", 0.0)])
    t = t[np.abs(t[:, None] - kink).min(axis=1) > 1e-3]
    expected = (loss.value(t + step) - loss.value(t - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(t), expected, atol=1e-6)
    expected = (loss.slope(t + step) - loss.slope(t - step)) / (2 * step)
    np.testing.assert_allclose(loss.curvature(t), expected, atol=1e-4)


@pytest.mark.parametrize("h", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("name", LOSSES)
def test_against_the_formulas_of_the_paper(name: str, h: float) -> None:
    losses: dict[str, Loss] = {"squared_hinge": SquaredHinge(), "huber": Huber(h), "hinge": Hinge()}
    loss = losses.get(name, Logistic(h))
    t = np.random.default_rng(1).normal(size=1000) * 3
    np.testing.assert_allclose(loss.value(t), loss_value(name, h, t), rtol=1e-12, atol=1e-15)
    if name != "hinge":
        np.testing.assert_allclose(loss.slope(t), loss_slope(name, h, t), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("loss", "support", "max_slope"),
    [
        (SquaredHinge(), 0.0, math.inf),
        (Huber(0.3), 0.3, 1.0),
        (Logistic(0.3), math.inf, 1.0),
        (Hinge(), 0.0, 1.0),
    ],
)
def test_promises(loss: Loss, support: float, max_slope: float) -> None:
    assert (loss.support, loss.max_slope) == (support, max_slope)
    assert isinstance(loss, Loss)


def test_default_width_is_a_half() -> None:
    assert (Huber(), Logistic()) == (Huber(0.5), Logistic(0.5))


@pytest.mark.parametrize("kind", [Huber, Logistic])
@pytest.mark.parametrize("h", [0.0, -1.0, math.inf, math.nan, 1e-323, 1e16])
def test_width_must_be_in_its_range(kind: type[Huber | Logistic], h: float) -> None:
    with pytest.raises(ValueError, match=r"h must be a number from 1e-15 to 1e\+15, got"):
        kind(h)
