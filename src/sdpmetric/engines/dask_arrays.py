"""Dask arrays in chunks of rows: recognise them, check their chunks, hand them to an engine.

Only blocks are used: NumPy's protocols do not hold on every kind of Dask array.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .._support.typing import Ints
from .dask_client import DaskClient
from .engine import Engine, Resident

__all__ = ["RowChunks", "is_dask", "map_blocks_lazily"]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, without importing Dask."""
    return hasattr(X, "__dask_graph__") and type(X).__module__.split(".")[0].startswith("dask")


class RowChunks:
    """The chunks of a Dask array, each a block of whole rows.

    Attributes
    ----------
    name : of the argument, for messages
    shape : of the array; the number of rows is known even if the array does not know it
    bounds : where chunks begin and end; chunk i has the rows ``bounds[i] .. bounds[i + 1] - 1``
    kept : handles of the chunks; empty chunks are left out
    """

    def __init__(self, X: Any, name: str, engine: Engine, ndim: int = 2) -> None:
        import dask.array as da

        if not isinstance(X, da.Array):
            raise ValueError(
                f"{name} is a Dask {type(X).__name__}, expected a dask.array in chunks of rows "
                f"(of a DataFrame: {name}.to_dask_array(lengths=True))."
            )
        if X.ndim != ndim:
            raise ValueError(f"{name} must have {ndim} dimension(s), got shape {X.shape}.")
        if ndim == 2 and X.numblocks[1] != 1:
            raise ValueError(
                f"{name} is divided along its columns into {X.numblocks[1]} chunks; expected whole "
                f"rows in each chunk: {name}.rechunk({{1: -1}})."
            )
        self.name, self.dtype, self.engine = name, X.dtype, engine
        self._delayed = _blocks(X)
        lengths = np.array(X.chunks[0], dtype=np.float64)
        if np.isnan(lengths).any():
            counted = engine.map(_length, self._handles())
            lengths = np.array(engine.collect(counted), dtype=np.float64)
        there = np.flatnonzero(lengths)
        if len(there) == 0:
            raise ValueError(f"{name} has no rows, expected at least one.")
        self._delayed = [self._delayed[i] for i in there]
        self.bounds: Ints = np.concatenate([[0], np.cumsum(lengths[there])]).astype(np.int64)
        self.shape = (int(self.bounds[-1]), *map(int, X.shape[1:]))
        self.kept = Resident(engine, self._handles)

    def __len__(self) -> int:
        return len(self._delayed)

    @property
    def slices(self) -> list[slice]:
        """The rows of each chunk."""
        return [slice(int(a), int(b)) for a, b in pairwise(self.bounds)]

    def numbered(self) -> list[list[Any]]:
        """Handles with the number, the first row and the length of each chunk, for tasks."""
        return [
            [handle, i, rows.start, rows.stop - rows.start]
            for i, (handle, rows) in enumerate(zip(self.kept.handles, self.slices, strict=True))
        ]

    def failed(self) -> int | None:
        """The number of the first chunk that could not be computed; None if all could be."""
        if isinstance(self.engine, DaskClient):
            return next((i for i, h in enumerate(self.kept.handles) if h.status == "error"), None)
        for i, chunk in enumerate(self._delayed):
            try:
                chunk.compute()
            except Exception:
                return i
        return None

    def _handles(self) -> list[Any]:
        return _computed(self.engine, self._delayed)


def map_blocks_lazily(X: Any, work: Any, n_columns: int, dtype: Any) -> Any:
    """A lazy Dask array of ``work(block)`` for each block of whole rows of X."""
    if X.numblocks[1] != 1:
        X = X.rechunk({1: -1})
    meta = np.empty((0, 0), dtype=dtype)
    return X.map_blocks(work, dtype=dtype, chunks=(X.chunks[0], (n_columns,)), meta=meta)


def _blocks(X: Any) -> list[Any]:
    """The blocks of a Dask array as delayed objects, in order."""
    if hasattr(X, "to_delayed"):
        return list(X.to_delayed().ravel())
    # Arrays that are expressions (query planning) have no such method.
    from dask.core import flatten
    from dask.delayed import Delayed

    X = X.optimize()
    graph = dict(X.__dask_graph__())
    return [Delayed(key, graph) for key in flatten(X.__dask_keys__())]


def _computed(engine: Engine, delayed: Sequence[Any]) -> list[Any]:
    """Handles of blocks: futures on a cluster, else the blocks, by Dask's local scheduler."""
    if isinstance(engine, DaskClient):
        return engine.computed(delayed)
    import dask

    return list(dask.compute(*delayed))


def _length(block: Any) -> int:
    return int(block.shape[0])
