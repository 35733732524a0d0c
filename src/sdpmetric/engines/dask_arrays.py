"""Dask arrays in chunks of rows: recognise them, check their chunks, hand them to an engine.

Only blocks are used: NumPy's protocols do not hold on every kind of Dask array.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._support.typing import Ints
from .dask_client import DaskClient
from .engine import Engine, Resident, again

__all__ = [
    "FailedChunkError",
    "RowChunks",
    "chunks_like",
    "is_dask",
    "map_blocks_lazily",
    "named_rows",
]


class FailedChunkError(RuntimeError):
    """A chunk of a user's array cannot be computed; the message names the array and the chunk."""


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, without importing Dask."""
    return hasattr(X, "__dask_graph__") and type(X).__module__.split(".")[0].startswith("dask")


class RowChunks:
    """The chunks of a Dask array, each a block of whole rows.

    A chunk that cannot be computed ends every call that needs it with a `FailedChunkError`.

    Attributes
    ----------
    name : of the argument, for messages
    shape : of the array; the number of rows is known even if the array does not know it
    bounds : where chunks begin and end; chunk i has the rows ``bounds[i] .. bounds[i + 1] - 1``
    numbers : of the chunks in the array; empty chunks are left out
    kept : handles of the chunks
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
        self.numbers = list(range(len(self._delayed)))
        self.bounds: Ints = np.zeros(0, dtype=np.int64)  # until lengths are known
        self.kept = Resident(engine, self._handles)
        if isinstance(engine, DaskClient):
            engine.add_source(self)
        lengths = np.array(X.chunks[0], dtype=np.float64)
        if np.isnan(lengths).any():
            lengths = self._counted()
        there = np.flatnonzero(lengths)
        if len(there) == 0:
            raise ValueError(f"{name} has no rows, expected at least one.")
        if len(there) < len(lengths):
            self.kept.release()
            self._delayed = [self._delayed[i] for i in there]
            self.numbers = there.tolist()
        self.bounds = np.concatenate([[0], np.cumsum(lengths[there])]).astype(np.int64)
        self.shape = (int(self.bounds[-1]), *map(int, X.shape[1:]))

    def __len__(self) -> int:
        return len(self._delayed)

    @property
    def slices(self) -> list[slice]:
        """The rows of each chunk."""
        return [slice(int(a), int(b)) for a, b in pairwise(self.bounds)]

    @property
    def names(self) -> list[str]:
        """Each chunk for messages: "X: chunk 2 (rows 50 to 74)"; rows only if they are known."""
        spans = [f" ({named_rows(rows)})" for rows in self.slices] or [""] * len(self)
        return [
            f"{self.name}: chunk {i}{rows}" for i, rows in zip(self.numbers, spans, strict=True)
        ]

    def numbered(self) -> list[list[Any]]:
        """Handles with the number, the first row and the length of each chunk, for tasks."""
        return [
            [handle, number, rows.start, rows.stop - rows.start]
            for handle, number, rows in zip(
                self.kept.handles, self.numbers, self.slices, strict=True
            )
        ]

    def check_failed(self, error: Exception) -> None:
        """Raise FailedChunkError if one of these chunks is the reason of an error on a cluster."""
        for place, handle in enumerate(self.kept.held):
            if handle.status == "error":
                raise self._failure(place, error) from error

    def _failure(self, place: int, error: Exception) -> FailedChunkError:
        return FailedChunkError(
            f"{self.names[place]} cannot be computed. {type(error).__name__}: {error}"
        )

    def _handles(self) -> list[Any]:
        """Futures on a cluster, else the blocks themselves, by Dask's local scheduler."""
        if isinstance(self.engine, DaskClient):
            return self.engine.computed(self._delayed)
        import dask

        try:
            return list(dask.compute(*self._delayed))
        except Exception:
            # Dask does not say which one failed: one by one they do.
            for place, chunk in enumerate(self._delayed):
                try:
                    chunk.compute()
                except Exception as error:
                    raise self._failure(place, error) from error
            raise

    def _counted(self) -> Any:
        """The lengths of chunks, which the array does not know."""
        engine = self.engine
        counted = again(lambda: engine.collect(engine.map(_length, self.kept.handles)))
        return np.array(counted, dtype=np.float64)


def named_rows(rows: slice) -> str:
    """Row numbers for messages."""
    return f"rows {rows.start} to {rows.stop - 1}"


def chunks_like(array: Any, name: str, other: RowChunks, expected: str) -> RowChunks:
    """The chunks of a one-dimensional Dask array, of the same lengths as those of another array.

    Parameters
    ----------
    array : rechunked if it knows the sizes of its chunks
    name : of the argument, for messages
    other : the chunks that ``array`` belongs to
    expected : what ``array`` must have, for messages: "one label per row of X"
    """
    lengths = tuple(np.diff(other.bounds).tolist())
    sizes = np.array(array.chunks[0], dtype=np.float64) if _is_vector(array) else np.zeros(0)
    if sizes.sum() == sum(lengths) and tuple(sizes) != lengths:
        # A number of such a chunk is none of the user's array.
        array, name = array.rechunk((lengths,)), f"{name} (rechunked like {other.name})"
    chunks = RowChunks(array, name, other.engine, 1)
    if chunks.shape != other.shape[:1]:
        raise ValueError(f"{name} must have {expected}, {other.shape[0]}, got {chunks.shape[0]}.")
    if not np.array_equal(chunks.bounds, other.bounds):
        raise ValueError(
            f"{name} is divided into chunks of lengths {_shown(chunks)}, expected those of "
            f"{other.name}, {_shown(other)} (chunks of known sizes are rechunked)."
        )
    return chunks


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


def _is_vector(array: Any) -> bool:
    import dask.array as da

    return isinstance(array, da.Array) and array.ndim == 1


def _shown(chunks: RowChunks, most: int = 5) -> str:
    """The first few lengths of chunks."""
    lengths = np.diff(chunks.bounds).tolist()
    return ", ".join(map(str, lengths[:most])) + (", ..." if len(lengths) > most else "")


def _length(block: Any) -> int:
    return int(block.shape[0])
