"""The classes that a model file may name.

A model file holds names of classes and no code, so only classes in these tables can be loaded.
Each class enters itself with `stored_in`: the code that reads and writes files lies on a lower
floor than the classes and cannot import them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Kind = TypeVar("Kind", bound=type)
Table: TypeAlias = dict[str, Any]

METRICS: Table = {}  # estimators with components_: `save` writes them and `load` returns them
TRANSFORMERS: Table = {}  # estimators that stand before a metric inside a search
REPORTS: Table = {}  # data classes with to_dict and from_dict


def stored_in(table: Table) -> Callable[[Kind], Kind]:
    """Decorate a class to enter it into a table under its own name."""

    def enter(kind: Kind) -> Kind:
        table[kind.__name__] = kind
        return kind

    return enter
