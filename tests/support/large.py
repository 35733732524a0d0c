"""Small problems that take the ways of large ones: blocks, threads, float32 steps, loose bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from sdpmetric.linalg import blocks, dense_items, gram, laplacian, products, sparse_items
from sdpmetric.problem import objective, screening
from sdpmetric.spectraplex import formed, oracle
from sdpmetric.triplets import all_triplets, remembered, streamed

__all__ = ["as_if_large"]


@contextmanager
def as_if_large(rng: np.random.Generator) -> Iterator[None]:
    """Let all products be made by blocks of a few rows, and draw which other ways are taken."""
    rows = int(rng.integers(5, 40))

    def few_rows(n: int, *_: int) -> Iterator[slice]:
        return blocks.slices(0, n, rows)

    def few_columns(_: int, n: int, __: int = 0) -> Iterator[slice]:
        return blocks.slices(0, n, 8)

    ways: list[tuple[Any, str, Any]] = [
        (laplacian, "EDGE_NUMBERS", 0),
        (objective.EdgeObjective, "_columns_at_once", 0),
        (objective, "blocks", few_rows),
        (objective, "column_blocks", few_columns),
        (dense_items, "blocks", few_rows),
        (dense_items, "PRODUCT", 1),
        (sparse_items, "PRODUCT", 1),
        (products, "PRODUCT", 1),
        (products, "SMALL_PRODUCT", 0),
        (products, "EDGE_NUMBERS", 1),
        (gram, "blocks", few_rows),
        (gram, "_TILE", 3),
        (gram, "_PART", 1),
        (all_triplets, "_TILE", tuple(rng.integers(8, 40, size=2).tolist())),
    ]
    drawn: list[tuple[Any, str, Any]] = [
        (dense_items, "_NARROW", 0),
        (objective, "_SINGLE_LEAST", 0),
        (screening, "_MANY", 1),
        (oracle, "_LOOSE", 0),
        (formed, "_LEAST", 0),
        (streamed, "_FORMED", 0),
        (remembered, "_MOST", 0),
    ]
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(screening, "_LONG", np.inf))
        for way in ways + [way for way in drawn if rng.random() < 0.5]:
            stack.enter_context(mock.patch.object(*way))
        yield
