"""Without `sklearn.callback`, that is before scikit-learn 1.9, everything but callbacks works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FITS = """
import numpy as np
from sdpmetric import EmbeddingAdapter, SDPMetric, SDPMetricCV, TripletSDPMetric, TripletSDPMetricCV

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 5))
y = (X[:, 0] > 0).astype(int)
T = np.array([rng.choice(60, 3, replace=False) for _ in range(150)])
pairs = {"query": np.arange(30), "positive": np.arange(30, 60)}
small = {"Cs": [2.0], "cv": 2, "random_state": 0}
fitted = {
    "SDPMetric": SDPMetric(n_rounds=2).fit(X, y),
    "TripletSDPMetric": TripletSDPMetric().fit(X, T),
    "SDPMetricCV": SDPMetricCV(**small).fit(X, y),
    "TripletSDPMetricCV": TripletSDPMetricCV(**small).fit(X, T),
    "EmbeddingAdapter": EmbeddingAdapter(**small, prior_weight=0.5, n_negatives=5).fit(X, pairs),
}
components = {name: estimator.components_ for name, estimator in fitted.items()}
"""
# None in sys.modules makes an import fail as if the module did not exist. scikit-learn's own
# modules need the real one, so they are imported first.
HIDE = """
import sys
import sklearn.covariance, sklearn.decomposition, sklearn.model_selection
import sklearn.neighbors, sklearn.pipeline, sklearn.preprocessing
sys.modules["sklearn.callback"] = None
"""
SAVE = """
assert not any(hasattr(estimator, "set_callbacks") for estimator in fitted.values())
np.savez(sys.argv[1], **components)
"""


@pytest.mark.slow
def test_fits_are_the_same(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(FITS, names)
    file = tmp_path / "components.npz"
    subprocess.run([sys.executable, "-c", HIDE + FITS + SAVE, str(file)], check=True)
    with np.load(file) as found:
        assert set(found) == set(names["components"])
        for name, expected in names["components"].items():
            np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-12)
