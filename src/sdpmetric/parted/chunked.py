"""Rows of a fit that are in the chunks of a Dask array: checks, statistics and samples of them.

A client asks for statistics of columns and for samples of rows, and never for all rows.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from .._support.typing import Dense, Floats, Ints
from ..engines.dask_arrays import RowChunks
from ..engines.dask_client import current_engine
from ..engines.engine import again
from ..linalg.items import Items
from ..linalg.pieces import joined
from ..linalg.scaling import column_factors
from . import rows as row_tasks
from .rows import Columns, RowMap
from .tasks import added

__all__ = ["ChunkedRows"]


class ChunkedRows:
    """The rows of a Dask array, checked: a `linalg.interface.Table`."""

    def __init__(self, X: Any) -> None:
        self.engine = current_engine()
        self.chunks = RowChunks(X, "X", self.engine)
        self.shape: tuple[int, int] = self.chunks.shape  # type: ignore[assignment]
        self.found = self.columns(RowMap())

    @property
    def sparse(self) -> bool:
        return self.found.sparse

    @property
    def extremes(self) -> tuple[Dense, Dense]:
        return self.found.low, self.found.high

    def fingerprint(self) -> bytes:
        """A digest of all rows, for checkpoints; it depends on the chunks, too."""
        engine = self.engine
        digests = again(lambda: engine.collect(engine.map(_digest, self.chunks.numbered())))
        return blake2b(b"".join(digests)).digest()

    def columns(self, rows: RowMap) -> Columns:
        """Statistics of the columns of all rows after a map."""
        engine = self.engine

        def ask() -> Columns:
            parts = engine.map(row_tasks.columns, self.chunks.numbered(), rows, self.shape[1])
            found: Columns = engine.collect([engine.reduce(row_tasks.columns_merged, parts)])[0]
            return found

        return again(ask)

    @cached_property
    def deviations(self) -> tuple[Floats, Floats]:
        """The deviation of each column times a power of two, and these powers."""
        found, engine = self.found, self.engine
        factors = column_factors(found.low, found.high, found.dtype)
        factors = np.ones(self.shape[1]) if factors is None else factors

        def ask() -> Floats:
            chunks = self.chunks.numbered()
            parts = engine.map(row_tasks.squared_deviations, chunks, found.mean, factors)
            total: Floats = engine.collect([engine.reduce(added, parts)])[0]
            return total

        deviation = np.sqrt(again(ask) / found.n)
        return np.where(found.low == found.high, 0.0, deviation), factors

    def take(self, wanted: Ints) -> Items:
        """Some rows, by their numbers in ascending order, in this process: a sample."""
        engine = self.engine

        def ask() -> list[Items]:
            return engine.collect(
                engine.map(row_tasks.taken, self.chunks.numbered(), wanted, RowMap())
            )

        return joined(again(ask))


def _digest(chunk: list[Any]) -> bytes:
    return row_tasks.rows_of(chunk).fingerprint()
