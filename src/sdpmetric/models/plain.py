"""Estimators as plain data and back: what JSON holds, and arrays beside it. Nothing is run.

JSON's own values stand for themselves. Everything else is an object with one key that starts with
"$", which says what it is; arrays are put aside under the path that leads to them.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from .._typing import Dense
from ..adapters import AdapterReport, EmbeddingAdapter
from ..estimators import SDPMetric, TripletSDPMetric
from ..losses import Hinge, Huber, Logistic, SquaredHinge
from ..result import Status
from ..selection.coordinates import Coordinates
from ..selection.estimators import SDPMetricCV, TripletSDPMetricCV

__all__ = ["Arrays", "from_plain", "to_plain"]

Arrays = dict[str, Dense]

ESTIMATORS = (
    *(SDPMetric, TripletSDPMetric, SDPMetricCV, TripletSDPMetricCV, EmbeddingAdapter),
    Coordinates,
)
_ESTIMATORS: dict[str, Any] = {kind.__name__: kind for kind in ESTIMATORS}
_LOSSES: dict[str, Any] = {kind.__name__: kind for kind in (Hinge, Huber, Logistic, SquaredHinge)}
_KINDS = "biuf"  # of arrays: truth values and real numbers


def to_plain(value: Any, arrays: Arrays, path: str = "") -> Any:
    """A value as JSON; its arrays are added to ``arrays``.

    What is neither plain data nor ours (a loss or a splitter of the user's) becomes its text.
    """
    kind = type(value).__name__
    if isinstance(value, Status):
        return {"$status": str(value)}
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, (list, tuple)):
        items = [to_plain(item, arrays, _join(path, i)) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if isinstance(value, dict):  # of any keys
        pairs = [[k, to_plain(v, arrays, _join(path, k))] for k, v in value.items()]
        return {"$dict": [[to_plain(k, arrays, path), v] for k, v in pairs]}
    if isinstance(value, Pipeline):
        steps = [step for _, step in value.steps]
        return {"$pipeline": [to_plain(s, arrays, _join(path, i)) for i, s in enumerate(steps)]}
    if _ESTIMATORS.get(kind) is type(value):
        return {"$estimator": estimator_to_plain(value, arrays, path)}
    if isinstance(value, AdapterReport):
        return {"$report": value.to_dict()}
    if _LOSSES.get(kind) is type(value):
        return {"$loss": [kind, asdict(value)]}
    if hasattr(value, "__array__"):
        return _array_to_plain(np.asarray(value), arrays, path)
    return {"$text": repr(value)}


def estimator_to_plain(estimator: Any, arrays: Arrays, path: str = "") -> dict[str, Any]:
    """Class, parameters and fitted attributes of one of our estimators."""
    params = estimator.get_params(deep=False)
    fitted = {name: value for name, value in vars(estimator).items() if _is_fitted(name)}
    return {
        "class": type(estimator).__name__,
        "params": {n: to_plain(v, arrays, _join(path, n)) for n, v in params.items()},
        "fitted": {n: to_plain(v, arrays, _join(path, n)) for n, v in fitted.items()},
    }


def from_plain(value: Any, arrays: Arrays) -> Any:
    """The value that `to_plain` was given."""
    if isinstance(value, list):
        return [from_plain(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    [(tag, held)] = value.items()
    match tag:
        case "$status":
            return Status(held)
        case "$float":
            return float(held)
        case "$tuple":
            return tuple(from_plain(held, arrays))
        case "$dict":
            return {from_plain(k, arrays): from_plain(v, arrays) for k, v in held}
        case "$pipeline":
            return make_pipeline(*from_plain(held, arrays))
        case "$estimator":
            return estimator_from_plain(held, arrays)
        case "$report":
            return AdapterReport.from_dict(held)
        case "$loss":
            return _LOSSES[held[0]](**held[1])
        case "$array":
            array = arrays[held[0]]
            return np.asfortranarray(array) if held[1] == "F" else array
        case "$records":
            return _records({name: from_plain(column, arrays) for name, column in held.items()})
        case "$strings":
            return np.array(held, dtype=str)
        case "$objects":
            objects = np.empty(len(held), dtype=object)
            objects[:] = from_plain(held, arrays)
            return objects
        case "$text":
            return str(held)
    raise ValueError(f"{tag!r} is not known")


def estimator_from_plain(held: dict[str, Any], arrays: Arrays) -> Any:
    """An estimator of ours; parameters that the file does not mention take their defaults."""
    params = {name: from_plain(value, arrays) for name, value in held["params"].items()}
    estimator = _ESTIMATORS[held["class"]](**params)
    for name, value in held["fitted"].items():
        if not _is_fitted(name):
            raise ValueError(f"{name!r} is not a fitted attribute")
        setattr(estimator, name, from_plain(value, arrays))
    return estimator


def _array_to_plain(array: Dense, arrays: Arrays, path: str) -> Any:
    if array.dtype.names is not None:
        columns = {name: array[name] for name in array.dtype.names}
        return {"$records": {n: to_plain(c, arrays, _join(path, n)) for n, c in columns.items()}}
    if array.dtype.kind in _KINDS:
        # The order in memory is kept, since BLAS rounds differently on the other one.
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        arrays[path] = np.ascontiguousarray(array)
        return {"$array": [path, order]}
    if array.ndim == 1:
        tag = "$strings" if array.dtype.kind == "U" else "$objects"
        return {tag: to_plain(array.tolist(), arrays, path)}
    return {"$text": repr(array)}


def _records(columns: Arrays) -> Dense:
    [length] = {len(column) for column in columns.values()}
    records = np.empty(length, dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        records[name] = column
    return records


def _is_fitted(name: str) -> bool:
    return name == "_factor" or (name.endswith("_") and not name.startswith("_"))


def _join(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
