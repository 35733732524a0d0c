"""Count the products with the items X, so that solvers can be compared without a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from sdpmetric.linalg.items import Items

Product = Callable[..., Any]


@dataclass
class Passes:
    """Products ``X @ P`` and ``X.T @ S`` so far. A product that is done in blocks of columns
    counts once a block, since each block reads X again."""

    forward: int = 0
    backward: int = 0

    @property
    def total(self) -> int:
        return self.forward + self.backward


@contextmanager
def counted(X: Items) -> Iterator[Passes]:
    """Count the products with these items, and with no others, while the block runs.

    This is the only place that knows where the library multiplies with X: in two methods of items.
    """
    passes = Passes()
    names = {"times": "forward", "transposed_times": "backward"}
    with ExitStack() as stack:
        for method, name in names.items():
            counting = _counting(getattr(type(X), method), X, passes, name)
            stack.enter_context(patch.object(type(X), method, counting))
        yield passes


def _counting(original: Product, X: Items, passes: Passes, name: str) -> Product:
    def product(items: Items, *arguments: Any, **options: Any) -> Any:
        if items is X:
            setattr(passes, name, getattr(passes, name) + 1)
        return original(items, *arguments, **options)

    return product
