"""`best_rho` against scipy."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric import Huber, Logistic, Loss, SquaredHinge
from sdpmetric.linalg.kernels.margins import parabola_rho, parabola_slopes
from sdpmetric.problem.losses import Hinge, parabola
from sdpmetric.problem.margin import best_rho, weighted_slopes, weighted_sums
from tests.support.lanes import some
from tests.support.problems import SMOOTH, Floats, best_margin

H = 0.3
OURS: dict[str, Loss] = {
    "squared_hinge": SquaredHinge(),
    "huber": Huber(H),
    "logistic": Logistic(H),
    "hinge": Hinge(),
}


def draw(seed: int) -> tuple[Floats, Floats]:
    """Margins around a centre that moves from violated to satisfied, and coefficients."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 60))
    z = rng.normal(size=m) * rng.uniform(0.05, 2.0) + rng.uniform(-2.0, 2.0)
    c = rng.uniform(0.01, 1.0, size=m)
    return z, c * rng.uniform(1.1, 30.0) / c.sum()


@pytest.mark.slow
@pytest.mark.parametrize("guess", some([0.0, -5.0, 0.3, 1e3, 1e8], 1))
@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("compiled", [0, 1 << 15])
def test_against_scipy(
    name: str, guess: float, compiled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdpmetric.problem.margin._COMPILED", compiled)
    kinds = set()
    for seed in range(60):
        z, c = draw(seed)
        expected_rho, expected = best_margin(z, c, name, H)
        rho = best_rho(z, c, OURS[name], guess)
        assert rho >= 0.0
        value = rho - float(c @ OURS[name].value(z - rho))
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert value >= expected - 1e-12 * (1 + abs(expected))
        if name != "hinge":
            assert rho == pytest.approx(expected_rho, rel=1e-4, abs=1e-4)
        kinds.add(rho == 0.0)
    assert kinds == {True, False}


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_sum_to_one_or_rho_is_zero(name: str) -> None:
    """What the dual bound needs: ``sum w >= 1``, with equality where rho > 0."""
    for seed in range(200):
        z, c = draw(seed)
        rho = best_rho(z, c, OURS[name])
        total = -float(c @ OURS[name].slope(z - rho))
        assert total >= 1.0 - 1e-11
        if rho > 0.0:
            assert total == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize(
    ("loss", "z", "c", "expected"),
    [
        (SquaredHinge(), [1.0], [0.25], 3.0),  # 2 c (rho - 1) = 1
        (SquaredHinge(), [-3.0], [0.25], 0.0),
        (Huber(0.5), [1.0], [2.0], 1.0),  # half the slope of 2 at t = 0
        (Huber(0.5), [1.0], [4.0], 0.75),
        (Logistic(0.5), [1.0], [2.0], 1.0),
        (Logistic(0.5), [1.0], [4.0], 1.0 - 0.5 * np.log(3.0)),
        (Hinge(), [1.0, 2.0, 3.0], [0.6, 0.6, 0.6], 2.0),
    ],
)
def test_closed_forms(loss: Loss, z: list[float], c: list[float], expected: float) -> None:
    rho = best_rho(np.array(z), np.array(c), loss)
    assert rho == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e12])
def test_margins_of_any_size(unit: float) -> None:
    z, c = draw(5)
    loss, scaled = Huber(H), Huber(H * unit)
    expected = unit * best_rho(z, c, loss)
    assert best_rho(unit * z, c, scaled) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.7])
@pytest.mark.parametrize("loss", [SquaredHinge(), Huber(H), Huber(1e-12), Huber(1e9)])
def test_compiled_sums_are_those_of_the_plain_functions(loss: Loss, rho: float) -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=100_000) * rng.choice([1e-12, 0.1, 10.0], size=100_000)
    z[:3] = rho, rho + loss.support, rho - loss.support  # the ends of the parabola
    for c in (rng.uniform(size=len(z)), np.broadcast_to(0.5, len(z))):
        expected = [float(c @ f(z - rho)) for f in (loss.value, loss.slope, loss.curvature)]
        assert weighted_sums(z, c, rho, loss) == pytest.approx(expected, rel=1e-11)


def test_a_class_of_its_own_is_asked_itself() -> None:
    class Steeper(Huber):
        def slope(self, t: Floats, /) -> Floats:
            return 2.0 * super().slope(t)

    z, c = draw(5)
    plain, steeper = (weighted_sums(z, c, 0.5, loss) for loss in (Huber(H), Steeper(H)))
    assert steeper[1] == pytest.approx(2.0 * plain[1])
    assert steeper[0] == pytest.approx(plain[0])


@pytest.mark.parametrize("loss", [SquaredHinge(), Huber(H)])
def test_compiled_slopes_are_rounded_as_plain_ones(loss: Loss) -> None:
    """Wherever an entry stands: or equal fits would differ by where their arrays lie."""
    rng = np.random.default_rng(4)
    shape = parabola(loss)
    assert shape is not None
    knee, width, scale = shape
    z, c = rng.normal(size=1003), rng.uniform(size=1003)
    for low, high in [(0, 1003), (1, 1000), (17, 18)]:
        w = np.zeros(1003)
        part = slice(low, high)
        parabola_slopes(z[part], c[part], 0.37, shape, w[part])
        expected = np.zeros(1003)
        expected[part] = c[part] * (2.0 * np.clip(knee - (z[part] - 0.37), 0.0, width) / scale)
        np.testing.assert_array_equal(w, expected)
        np.testing.assert_allclose(w[part], -c[part] * loss.slope(z[part] - 0.37), atol=1e-15)


@pytest.mark.parametrize("name", ["squared_hinge", "huber"])
def test_the_best_rho_comes_with_its_sums(name: str) -> None:
    for seed in range(50):
        z, c = draw(seed)
        rho, value, curvature = parabola_rho(z, c, 0.1, parabola(OURS[name]))
        expected = weighted_sums(z, c, rho, OURS[name])
        assert (value, curvature) == pytest.approx((expected[0], expected[2]), rel=1e-12)


@pytest.mark.parametrize("name", ["squared_hinge", "huber"])
@pytest.mark.parametrize("compiled", [0, 1 << 15])
def test_equal_coefficients_behind_a_view_count_like_listed_ones(
    name: str, compiled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdpmetric.problem.margin._COMPILED", compiled)
    z = draw(3)[0]
    view, loss = np.broadcast_to(0.3, len(z)), OURS[name]
    listed = view.copy()
    rho = best_rho(z, view, loss, 0.1)
    assert rho == best_rho(z, listed, loss, 0.1)
    assert weighted_sums(z, view, rho, loss) == weighted_sums(z, listed, rho, loss)
    expected = weighted_slopes(z, listed, rho, loss)
    np.testing.assert_array_equal(weighted_slopes(z, view, rho, loss), expected)
