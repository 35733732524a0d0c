"""Convert estimators to plain data and back: JSON values, and a dict of arrays beside them.

JSON's own values stand for themselves. Any other value is an object with one key that starts with
"$" and names its type. Arrays go into the dict, under the path of names that leads to them. Loading
builds values of a fixed set of types and runs no code of the file.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from inspect import signature
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from .._support.registry import METRICS, REPORTS, TRANSFORMERS
from .._support.typing import Dense
from ..problem import losses
from ..problem.loss_names import LOSSES
from ..problem.result import Status

Arrays = dict[str, Dense]

_LOSSES: dict[str, Any] = {name: getattr(losses, name) for name in LOSSES.values()}
_REPORT = "AdapterReport"  # the one class that the tag "$report" has stood for
_TEXT_BYTES = 100_000_000  # of one array of texts: names of settings, of which there are few
# Of the process that made the fit, and of no use to any other: a folder, and what was shown.
_OWN = ("checkpoint", "progress")
_KINDS = "biuf"  # NumPy's kinds that safetensors holds: booleans, integers, floats


def to_plain(value: Any, arrays: Arrays, path: str = "") -> Any:
    """Convert a value to JSON values; its arrays are added to ``arrays``.

    A user's own object (a loss or a splitter) is stored as its ``repr``: a file that could rebuild
    it would have to run code.
    """
    kind = type(value).__name__
    # Before str: a Status is one as well, and would come back as plain text.
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
    if isinstance(value, dict):  # as pairs, since JSON has no keys other than strings
        pairs = [[k, to_plain(v, arrays, _join(path, k))] for k, v in value.items()]
        return {"$dict": [[to_plain(k, arrays, path), v] for k, v in pairs]}
    if isinstance(value, Pipeline):
        steps = [step for _, step in value.steps]
        return {"$pipeline": [to_plain(s, arrays, _join(path, i)) for i, s in enumerate(steps)]}
    if type(value) in (METRICS.get(kind), TRANSFORMERS.get(kind)):
        return {"$estimator": estimator_to_plain(value, arrays, path)}
    if REPORTS.get(kind) is type(value):
        return {"$report": value.to_dict()}
    if _LOSSES.get(kind) is type(value):
        return {"$loss": [kind, asdict(value)]}
    if hasattr(value, "__array__"):
        return _array_to_plain(np.asarray(value), arrays, path)
    return {"$text": repr(value)}


def estimator_to_plain(estimator: Any, arrays: Arrays, path: str = "") -> dict[str, Any]:
    """Convert an estimator of this library: its class, parameters and fitted attributes."""
    # Not deep: the parameters of a nested estimator are stored with that estimator.
    params = {n: v for n, v in estimator.get_params(deep=False).items() if n not in _OWN}
    fitted = {name: value for name, value in vars(estimator).items() if _is_fitted(name)}
    return {
        "class": type(estimator).__name__,
        "params": {n: to_plain(v, arrays, _join(path, n)) for n, v in params.items()},
        "fitted": {n: to_plain(v, arrays, _join(path, n)) for n, v in fitted.items()},
    }


def from_plain(value: Any, arrays: Arrays) -> Any:
    """Convert JSON values back to the value that `to_plain` was given."""
    if isinstance(value, list):
        return [from_plain(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    # Exactly one key: anything else is a damaged file, and raises.
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
            return REPORTS[_REPORT].from_dict(held)
        case "$loss":
            return _LOSSES[held[0]](**held[1])
        case "$array":
            # Taken out: a file that names one array often would fill the memory with copies.
            array = arrays.pop(held[0])
            if array.dtype.kind not in _KINDS:
                raise ValueError(f"{array.dtype} is not the type of a number")
            return np.asfortranarray(array) if held[1] == "F" else array
        case "$records":
            return _records({name: from_plain(column, arrays) for name, column in held.items()})
        case "$strings":
            # An array of texts has room for the longest one in every entry.
            if 4 * len(held) * max(map(len, held), default=0) > _TEXT_BYTES:
                raise ValueError("its texts are too long")
            return np.array(held, dtype=str)
        case "$objects":
            # np.array would turn objects that are lists of one length into a second dimension.
            objects = np.empty(len(held), dtype=object)
            objects[:] = from_plain(held, arrays)
            return objects
        case "$text":
            return str(held)
    raise ValueError(f"the type {tag!r} is not known")


def estimator_from_plain(held: dict[str, Any], arrays: Arrays) -> Any:
    """Make an estimator of this library; parameters that the file lacks take their defaults."""
    params = {n: from_plain(v, arrays) for n, v in held["params"].items() if n not in _OWN}
    kind = (METRICS | TRANSFORMERS)[held["class"]]
    if "coordinates" in signature(kind).parameters:
        # Fits in files of version 1 have no such parameter: they were made with raw rows.
        params.setdefault("coordinates", "raw")
    estimator = kind(**params)
    for name, value in held["fitted"].items():
        if not _is_fitted(name):
            raise ValueError(f"{name!r} is not a fitted attribute")
        if isinstance(getattr(kind, name, None), property):
            continue  # earlier versions stored a part of the last fit's certificate twice
        setattr(estimator, name, from_plain(value, arrays))
    return estimator


def _array_to_plain(array: Dense, arrays: Arrays, path: str) -> Any:
    if array.dtype.names is not None:
        columns = {name: array[name] for name in array.dtype.names}
        return {"$records": {n: to_plain(c, arrays, _join(path, n)) for n, c in columns.items()}}
    if array.dtype.kind in _KINDS:
        # The order in memory is stored, since BLAS rounds differently for C and Fortran order.
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        arrays[path] = np.ascontiguousarray(array)
        return {"$array": [path, order]}
    if array.ndim == 1:
        tag = "$strings" if array.dtype.kind == "U" else "$objects"
        return {tag: to_plain(array.tolist(), arrays, path)}
    return {"$text": repr(array)}


def _records(columns: Arrays) -> Dense:
    # Columns of different lengths are a damaged file, and raise.
    [length] = {len(column) for column in columns.values()}
    records = np.empty(length, dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        records[name] = column
    return records


def _is_fitted(name: str) -> bool:
    # scikit-learn's rule for fitted attributes, and the factor that a warm start begins with.
    return name == "_factor" or (name.endswith("_") and not name.startswith("_"))


def _join(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
