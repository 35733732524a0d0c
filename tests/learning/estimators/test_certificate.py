"""The guide's table of the certificate holds for every estimator that learns a metric."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdpmetric import (
    EmbeddingAdapter,
    SDPMetricClassifier,
    SDPMetricCV,
    TripletSDPMetricCV,
    load,
)
from sdpmetric.displays import ConvergenceDisplay
from tests.support.problems import random_triplets

ROOT = Path(__file__).parents[3]
FILES = ROOT / "tests" / "files"
SMALL: dict[str, Any] = {"Cs": [2.0], "prior_weight": 0.5, "cv": 2, "tol": 1e-2, "doubt": 0.0}


def attributes() -> list[str]:
    """Those of the first column of the table in the guide."""
    page = (ROOT / "docs" / "guide" / "certificate.md").read_text(encoding="utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`(\w+_)`", cell)]


def labelled(X: Any, y: Any) -> SDPMetricCV:
    return SDPMetricCV(**SMALL, n_neighbors=2, n_impostors=2, n_rounds=1).fit(X, y)


def compared(X: Any, y: Any) -> TripletSDPMetricCV:
    T = random_triplets(np.random.default_rng(0), len(X), 100)
    return TripletSDPMetricCV(**SMALL, coordinates="raw").fit(X, T)


def adapted(X: Any, y: Any) -> EmbeddingAdapter:
    pairs = {"query": np.arange(30), "positive": np.arange(30) + 30}
    mining: dict[str, Any] = {"skip": 0, "n_negatives": 2, "n_rounds": 1, "n_resamples": 50}
    return EmbeddingAdapter(**SMALL, **mining).fit(X, pairs)


def classified(X: Any, y: Any) -> SDPMetricClassifier:
    metric = SDPMetricCV(**SMALL, n_neighbors=2, n_impostors=2, n_rounds=1)
    return SDPMetricClassifier(metric).fit(X, y)


@pytest.mark.parametrize("fit", [labelled, compared, adapted, classified])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_searches_and_classifiers_have_the_certificate_of_their_last_fit(
    fit: Any, blobs: tuple[Any, Any]
) -> None:
    found = fit(*blobs)
    names = attributes()
    assert {"status_", "rho_", "upper_bound_", "history_", "n_triplets_"} <= set(names)
    search = getattr(found, "metric_", found)
    for name in (*names, "converged_", "scale_", "retained_", "coordinates_"):
        assert not hasattr(type(found)(), name)
        assert getattr(found, name) is getattr(search.best_estimator_, name)
    assert ConvergenceDisplay.from_estimator(found).gap[-1] == found.gap_


@pytest.mark.parametrize("version", [1, 2])
def test_a_search_in_a_file_of_an_earlier_version_has_the_whole_certificate(version: int) -> None:
    search = load(FILES / f"version-{version}-search.json")
    assert search.objective_ <= search.upper_bound_
    assert len(search.history_) > 0
    assert search.coordinates_.kind == search.best_params_["coordinates"]
