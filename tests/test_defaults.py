"""A parameter of several public functions and classes has one default, or a reason to differ."""

from __future__ import annotations

import inspect
from enum import EnumType
from typing import Any

import pytest

import sdpmetric

# What all share, and who differs from it. Searches try several values where a fit takes one.
OWN: dict[str, dict[str, Any]] = {
    "Cs": {"EmbeddingAdapter": 2},
    "coordinates": {"SDPMetric": "auto", "TripletSDPMetric": "auto"},
    "doubt": {"SDPMetricCV": 1.0},  # chosen on labelled sets alone
    "by": {"ResponseKFold": "participant"},
    "h": {"Huber": 0.5, "Logistic": 0.5, "EmbeddingAdapter": 0.02},
    "n_impostors": {"SDPMetricCV": (10, 30), "knn_triplets": 3},
    "n_neighbors": {"SDPMetricCV": (5, 10), "knn_triplets": 3, "SDPMetricClassifier": 3},
    "n_rounds": {"SDPMetricCV": (2, 4, 1), "EmbeddingAdapter": (1, 2)},
    "n_splits": {"noise_ceiling": 100},
    "prior_weight": {
        "EmbeddingAdapter": (0.8, 0.5, 0.0),
        "SDPMetricCV": (0.0, 0.3),
        "TripletSDPMetricCV": (0.0, 0.2, 0.6),
    },
    "scoring": {"EmbeddingAdapter": "ndcg", "AdapterReport": None},
}


def defaults() -> dict[str, dict[str, Any]]:
    """By parameter, then by public name."""
    found: dict[str, dict[str, Any]] = {}
    for name in sdpmetric.__all__:
        public = getattr(sdpmetric, name)
        if not isinstance(public, EnumType):
            for p in inspect.signature(public).parameters.values():
                if p.default is not p.empty:
                    found.setdefault(p.name, {})[name] = p.default
    return found


@pytest.mark.parametrize("parameter", sorted(defaults()))
def test_one_default(parameter: str) -> None:
    everyone, own = defaults()[parameter], OWN.get(parameter, {})
    assert {name: everyone[name] for name in own} == own
    shared = {name: value for name, value in everyone.items() if name not in own}
    values = list(shared.values())
    assert all(type(v) is type(values[0]) and v == values[0] for v in values), shared
    assert not [name for name, value in own.items() if values and value == values[0]]


def test_every_entry_is_a_parameter() -> None:
    assert set(OWN) <= set(defaults())


def test_the_settings_of_a_fit_are_shared() -> None:
    """So that the test above has something to compare."""
    fits = {"SDPMetric", "TripletSDPMetric", "SDPMetricCV", "TripletSDPMetricCV", "solve"}
    shared = {name for name, owners in defaults().items() if owners.keys() >= fits}
    assert shared >= {"loss", "h", "tol", "max_iter", "time_limit", "solver", "prior", "n_jobs"}
