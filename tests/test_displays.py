"""Pictures show the numbers of the estimator that they are made from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from sdpmetric import SDPMetricCV
from sdpmetric.displays import PathDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_path() -> None:
    search = SDPMetricCV(
        [2.0, 4.0, 8.0], n_neighbors=[3, 5], n_impostors=3, n_rounds=1, prior_weight=0.0, cv=3
    ).fit(*load_wine(return_X_y=True))
    results = search.cv_results_
    display = PathDisplay.from_estimator(search).plot()
    np.testing.assert_array_equal(display.C, [2.0, 4.0, 8.0])
    score, rho = display.ax_.get_lines()[0], display.figure_.axes[1].get_lines()[0]
    np.testing.assert_array_equal(score.get_ydata(), display.score)
    assert set(display.score) <= set(results["mean_test_score"])
    assert np.all(np.diff(rho.get_ydata()) <= 1e-6)  # the margin falls along the path
    assert display.prior_score in results["mean_test_score"][results["param_prior_weight"] == 1.0]
    axes = matplotlib.figure.Figure().subplots()
    assert PathDisplay.from_estimator(search).plot(axes).ax_ is axes


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(SDPMetricCV())
