"""A model and the rows of a table that it can map; labels of rows."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._support.typing import Rows
from ...deployment.load import load
from .reading import read
from .table import Table


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted metric, and the names of its features apart from it.

    The command line finds columns by name and passes arrays. If the metric had the names too,
    scikit-learn would warn about every such array that it lacks them. So ``metric`` has none;
    `named` and `save` add them again.
    """

    metric: Any
    names: list[str] | None

    def named(self) -> Any:
        """A copy of the metric that has the names of its features."""
        metric = copy(self.metric)
        if self.names is not None:
            metric.feature_names_in_ = np.array(self.names, dtype=object)
        return metric

    def save(self, path: str) -> None:
        """Write a model file with the names of the features."""
        self.named().save(path)

    def rows(self, table: Table, without: Collection[str | None] = ()) -> Rows:
        """The rows of a table that the metric can map, its features found by name."""
        X, _ = table.features(only=self.names, without=without)
        n_features = self.metric.n_features_in_
        if sp.issparse(X) and X.shape[1] < n_features:
            # A sparse file is as wide as its last column that is not zero.
            X = sp.csr_array(X, copy=True)
            X.resize(X.shape[0], n_features)
        if X.shape[1] != n_features:
            raise ValueError(
                f"{table.name} has {X.shape[1]} features, the model expects {n_features}."
            )
        return X


def open_model(path: str) -> Model:
    """Read a model file."""
    metric = load(path)
    names = vars(metric).pop("feature_names_in_", None)
    return Model(metric, None if names is None else [str(name) for name in names])


def classes_of(table: Table, label: str) -> list[str]:
    """The labels of `labels_of`; raise if all rows have the same one."""
    found = labels_of(table, label)
    if len(set(found)) == 1:
        raise ValueError(
            f"{table.name}: all {len(found)} rows are of the class {found[0]!r} by {label!r}, "
            "expected at least two classes."
        )
    return found


def labels_of(table: Table, label: str) -> list[str]:
    """A column of labels; for a table without names, ``label`` is a file with one column."""
    if label in table.columns or table.block is None:
        return table.texts(label)
    other = read(label)
    if len(other.columns) != 1 or other.block is not None or len(other) != len(table):
        raise ValueError(f"{label}: expected one column with {len(table)} labels.")
    return other.texts(next(iter(other.columns)))
