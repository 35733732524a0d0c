"""Steps along a line, against both of Wolfe's conditions and known peaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric.solvers.line_search import best_step, wolfe_step


def parabola(peak: float) -> Any:
    return lambda alpha: (-((alpha - peak) ** 2), -2 * (alpha - peak))


def kink(peak: float, up: float, down: float) -> Any:
    """A smooth roof: steep on both sides of a narrow top."""
    width = 1e-3

    def line(alpha: float) -> tuple[float, float]:
        u = (alpha - peak) / width
        mean, half = (up - down) / 2, (up + down) / 2
        return mean * u * width - half * width * np.logaddexp(u, -u), mean - half * np.tanh(u)

    return line


@pytest.mark.parametrize("c1", [1e-4, 0.05])
@pytest.mark.parametrize("c2", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    "line",
    [
        *(parabola(p) for p in (1e-4, 0.1, 0.3, 0.6, 0.9)),
        *(kink(p, 1.0, 30.0) for p in (0.01, 0.3, 0.7)),
        kink(0.4, 30.0, 1.0),
    ],
)
def test_both_wolfe_conditions_hold(line: Any, c1: float, c2: float) -> None:
    value, slope = line(0.0)
    alpha = wolfe_step(line, value, slope, c1, c2)
    reached, flat = line(alpha)
    assert 0.0 < alpha <= 1.0
    assert reached >= value + c1 * alpha * slope
    assert abs(flat) <= c2 * slope


def test_halving_alone_would_jump_over_the_second_condition() -> None:
    line, c2 = parabola(0.7), 0.1
    value, slope = line(0.0)
    halvings = [0.5**i for i in range(40)]
    assert not any(abs(line(a)[1]) <= c2 * slope for a in halvings)
    alpha = wolfe_step(line, value, slope, 1e-4, c2)
    assert abs(line(alpha)[1]) <= c2 * slope


@pytest.mark.parametrize(
    ("peak", "expected"), [(-0.5, 0.0), (0.0, 0.0), (2.0, 1.0), (1.0, 1.0), (0.25, 0.25)]
)
def test_best_step(peak: float, expected: float) -> None:
    assert best_step(parabola(peak)) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("peak", "expected"), [(-0.5, 0.0), (0.0, 0.0), (2.0, 1.0)])
def test_wolfe_step_at_the_ends(peak: float, expected: float) -> None:
    line = parabola(peak)
    value, slope = line(0.0)
    assert wolfe_step(line, value, slope, 1e-4, 0.9) == expected


def test_wolfe_step_gives_up_where_nothing_rises() -> None:
    """A slope that rounding made up: no trial is accepted, and the step is none at all."""
    assert wolfe_step(kink(-1.0, 1.0, 1.0), 0.0, 1e-3, 1e-4, 0.9) == 0.0
