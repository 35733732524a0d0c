"""Rows for a model: its features by name, wherever in the file they stand."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import scipy.sparse as sp

from .._typing import Items
from ..models import load
from .reading import read
from .table import Table

__all__ = ["classes_of", "labels_of", "open_model", "rows_for"]


def open_model(path: str) -> tuple[Any, list[str] | None]:
    """A fitted metric, and the names of its features apart from it.

    Apart, since here they have chosen the columns already and rows are arrays.
    """
    metric = load(path)
    names = vars(metric).pop("feature_names_in_", None)
    return metric, None if names is None else [str(name) for name in names]


def rows_for(
    metric: Any, names: list[str] | None, table: Table, without: Collection[str] = ()
) -> Items:
    """The rows of a table that a metric can map."""
    X, _ = table.features(only=names, without=without)
    if sp.issparse(X) and X.shape[1] < metric.n_features_in_:  # its last columns may be all zero
        X = sp.csr_array(X, copy=True)
        X.resize(X.shape[0], metric.n_features_in_)
    if X.shape[1] != metric.n_features_in_:
        raise ValueError(
            f"{table.name} has {X.shape[1]} features, the model expects {metric.n_features_in_}."
        )
    return X


def classes_of(table: Table, label: str) -> list[str]:
    """As `labels_of`, where there is something to tell apart."""
    found = labels_of(table, label)
    if len(set(found)) == 1:
        raise ValueError(
            f"{table.name}: all {len(found)} rows are of the class {found[0]!r} by {label!r}, "
            "expected at least two classes."
        )
    return found


def labels_of(table: Table, label: str) -> list[str]:
    """A column of labels, or for tables without names a file that holds nothing else."""
    if label in table.columns or table.block is None:
        return table.texts(label)
    other = read(label)
    if len(other.columns) != 1 or other.block is not None or len(other) != len(table):
        raise ValueError(f"{label}: expected one column with {len(table)} labels.")
    return other.texts(next(iter(other.columns)))
