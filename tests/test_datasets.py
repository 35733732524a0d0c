"""The generated data sets, against what is printed about them."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric.datasets import make_balance, make_twin_peaks


def test_balance_is_that_of_uci() -> None:
    """625 instances: 46.08 % tip left, 7.84 % are balanced, 46.08 % tip right."""
    X, y = make_balance()
    assert len(np.unique(X, axis=0)) == 625
    np.testing.assert_allclose(np.bincount(y) / 625, [0.4608, 0.0784, 0.4608])
    left, right = X[:, 0] * X[:, 1], X[:, 2] * X[:, 3]
    np.testing.assert_array_equal(y == 0, left > right)
    np.testing.assert_array_equal(y == 1, left == right)


def test_twin_peaks_lie_on_their_sheet() -> None:
    X, y = make_twin_peaks(500, random_state=0)
    a, b, height = X.T
    np.testing.assert_allclose(height, 10.0 * np.sin(np.pi * a) * np.tanh(3.0 * b), atol=1e-12)
    np.testing.assert_array_equal(y, np.maximum(np.rint(height), 0.0))


def test_noise_and_seeds() -> None:
    exact, _ = make_twin_peaks(500, random_state=0)
    noisy, _ = make_twin_peaks(500, noise=0.1, random_state=0)
    assert np.std((noisy - exact)[:, :2]) == pytest.approx(0.1, rel=0.1)
    np.testing.assert_array_equal(exact, make_twin_peaks(500, random_state=0)[0])
    assert not np.array_equal(exact, make_twin_peaks(500, random_state=1)[0])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="n_samples must be"):
        make_twin_peaks(0)
    with pytest.raises(ValueError, match="noise must be"):
        make_twin_peaks(noise=-1.0)
