"""Check what a model file holds, so that no method of the loaded metric can fail on it later."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._support.registry import METRICS, TRANSFORMERS
from ..problem.result import HISTORY, Status
from .certificate import last_fit

# Entries of the header that stand beside the metric: numbers of its certificate.
NUMBERS = ("objective", "upper_bound", "gap", "rho", "scale")


def check_header(header: dict[str, Any]) -> None:
    """Raise unless the header has the entries that `read_header` promises, each of its type."""
    _require(isinstance(header["params"], dict), "its params are not named")
    for name in ("library_version", "class", "status"):
        _require(isinstance(header[name], str), f"its {name} is no text")
    _require(_is_count(header["n_features"]), "its n_features is no number")
    names = header["feature_names"]
    named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    _require(named or names is None, "its feature_names are no texts")
    for name in NUMBERS:
        _require(_is_number(header[name]), f"its {name} is no number")


def check_metric(metric: Any, header: dict[str, Any]) -> None:
    """Raise unless a loaded metric has the attributes that its methods need.

    Raises
    ------
    ValueError, AttributeError, TypeError : the file is damaged
    """
    D = metric.n_features_in_
    _require(_is_count(D), "its n_features_in_ is no number")
    _check_components(metric, D)
    names = getattr(metric, "feature_names_in_", None)
    if names is not None:
        _require(isinstance(names, np.ndarray) and names.shape == (D,), _UNMATCHED)
        _require(all(isinstance(name, str) for name in names), "its feature names are no texts")
        # A table is as wide as this list: one column, named often, would fill the memory.
        _require(len(set(names)) == D, "its feature names are not different from each other")
    coordinates, last = last_fit(metric)
    _require(type(last) in METRICS.values(), f"its last fit is a {type(last).__name__}")
    _check_fit(last, D)
    if coordinates is not None:
        _check_coordinates(coordinates, D)
    chooser = getattr(metric, "metric_", metric)
    if chooser is not metric:
        _check_classifier(metric)
    if last is not chooser:
        _check_search(chooser)
    told = None if names is None else names.tolist()
    _require((header["n_features"], header["feature_names"]) == (D, told), _HEADER)
    _require(header["status"] == str(last.status_), _HEADER)
    for name in NUMBERS:
        _require(header[name] == getattr(last, f"{name}_"), _HEADER)


_UNMATCHED = "its components_ do not match its features"
_HEADER = "its header does not say what its metric says"


def _check_fit(metric: Any, D: int) -> None:
    """Check the attributes of a single fit."""
    _require(metric.n_features_in_ == D, _UNMATCHED)
    _check_components(metric, D)
    _require(isinstance(metric.status_, Status), "its status_ is not a Status")
    for name in (*(f"{name}_" for name in NUMBERS), "retained_", "tol"):
        _require(_is_number(getattr(metric, name)), f"its {name} is no number")
    for name in ("n_iter_", "n_triplets_"):
        _require(_is_integer(getattr(metric, name)), f"its {name} is no number")
    _require(isinstance(metric.converged_, bool), "its converged_ is neither true nor false")
    e = metric.eigenvalues_
    _require(_is_floats(e, 1) and len(e) > 0 and e.min() >= 0.0, "its eigenvalues_ are none")
    factor = getattr(metric, "_factor", None)
    whole = factor is None or (_is_floats(factor, 2) and len(factor) == D and factor.size > 0)
    _require(whole, "its factor does not match its features")
    history = metric.history_
    whole = isinstance(history, np.ndarray) and history.dtype == HISTORY and history.ndim == 1
    _require(whole and len(history) > 0, "its history_ is no table of certificates")


def _check_components(metric: Any, D: int) -> None:
    components = metric.components_
    whole = _is_floats(components, 2, finite=False) and components.size > 0
    _require(whole, "its components_ are not a table of float64")
    _require(np.isfinite(components).all(), "its components_ are not finite")
    _require(components.any(), "its components_ are all zero")
    _require(components.shape[1] == D, _UNMATCHED)


def _check_coordinates(coordinates: Any, D: int) -> None:
    _require(type(coordinates) in TRANSFORMERS.values(), "its coordinates are none")
    _require(isinstance(coordinates.kind, str), "the kind of its coordinates is no text")
    _require(coordinates.n_features_in_ == D, _UNMATCHED)
    shapes = ((D,), (D, D))
    found = coordinates.map_
    whole = any(_is_floats(found, len(shape)) and found.shape == shape for shape in shapes)
    _require(whole, "its coordinates do not match its features")


def _check_classifier(metric: Any) -> None:
    """Check the attributes that predictions need."""
    rows, starts, k = metric.rows_, metric.starts_, len(metric.components_)
    _require(_is_floats(rows, 2) and rows.shape[1] == k, "its rows_ do not match its components_")
    _require(_is_floats(metric.centre_, 1) and metric.centre_.shape == (k,), "its centre_ is none")
    whole = isinstance(starts, np.ndarray) and starts.dtype == np.int64 and starts.ndim == 1
    _require(whole and len(starts) > 1, "its starts_ are none")
    ascending = starts[0] == 0 and starts[-1] == len(rows) and (np.diff(starts) > 0).all()
    _require(ascending, "its starts_ do not match its rows_")
    classes = metric.classes_
    whole = isinstance(classes, np.ndarray) and classes.shape == (len(starts) - 1,)
    _require(whole, "its classes_ do not match its starts_")
    p = metric.perimeters_
    _require(_is_floats(p, 1) and len(p) == len(rows), "its perimeters_ do not match its rows_")
    for name in ("margin_", "unit_", "temperature_"):
        value = getattr(metric, name)
        _require(_is_number(value) and 0.0 < value < np.inf, f"its {name} is not positive")
    # Older files have no rule_: there was no choice.
    rule = getattr(metric, "rule_", metric.rule)
    _require(rule in ("energy", "mean", "vote"), "its rule is not known")
    _require(_is_count(metric.n_neighbors), "its n_neighbors is no number")


def _check_search(metric: Any) -> None:
    """Check the attributes that describe a choice."""
    best, results = metric.best_params_, metric.cv_results_
    for held in (best, results):
        named = isinstance(held, dict) and all(isinstance(name, str) for name in held)
        _require(named, "the settings of its search have no names")
    sizes = {np.shape(column) for column in results.values()}
    _require(len(sizes) == 1, "the columns of its cv_results_ differ in length")
    [shape] = sizes
    at, n = metric.best_index_, metric.n_splits_
    whole = len(shape) == 1 and _is_count(n) and n <= len(results)
    _require(whole, "its cv_results_ are no table")
    _require(_is_integer(at) and 0 <= at < shape[0], "its best_index_ is not among them")
    names = ["param_C", "param_prior_weight", "param_coordinates", "mean_rho", "mean_rank"]
    for name in (*names, *(f"split{i}_test_score" for i in range(n))):
        kind = results[name].dtype.kind
        _require(kind in ("U" if name == "param_coordinates" else "fiu"), f"its {name} are none")
    _require(_is_number(best["C"]) and _is_number(best["prior_weight"]), "its best_params_ lack C")
    _require(_is_number(metric.best_score_), "its best_score_ is no number")


def _require(holds: Any, reason: str) -> None:
    if not holds:
        raise ValueError(reason)


def _is_number(value: Any) -> bool:
    # NaN, too, is no number: no certificate has one.
    plain = isinstance(value, Real) and not isinstance(value, bool)
    return plain and bool(value == value)  # noqa: PLR0124


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_count(value: Any) -> bool:
    return _is_integer(value) and value > 0


def _is_floats(array: Any, ndim: int, *, finite: bool = True) -> bool:
    """Whether this is an array of float64 with so many dimensions."""
    found = isinstance(array, np.ndarray) and array.ndim == ndim and array.dtype == np.float64
    return found and (not finite or bool(np.isfinite(array).all()))
