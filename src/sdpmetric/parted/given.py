"""Comparisons that a user gives for rows in chunks: a NumPy array, or a Dask array of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._support.checks import as_real
from .._support.typing import Floats, Ints
from ..engines.dask_arrays import RowChunks, chunks_like, is_dask
from ..engines.engine import Engine, Resident, again, same
from ..linalg.fingerprints import array_digest
from ..problem.checks import as_triplets, as_weights
from .parts import pieces_of

__all__ = ["GivenComparisons"]


class GivenComparisons:
    """Checked comparisons in pieces, one for each part; ``fingerprint()`` is for checkpoints.

    A Dask array stays in its own chunks: consecutive ones form a piece. So a part needs few rows if
    comparisons of nearby rows stand together.
    """

    fingerprint: Callable[[], bytes]

    def __init__(self, engine: Engine, triplets: Any, weights: Any, n_rows: int) -> None:
        self.engine = engine
        if is_dask(triplets):
            self.pieces = self._of_chunks(triplets, weights, n_rows)
            self._check_pieces()
            return
        if is_dask(weights):
            raise ValueError("sample_weight is a Dask array, expected a NumPy array like triplets.")
        indices = as_triplets(triplets, n_rows)
        weights = as_weights(weights, len(indices))
        self.fingerprint = lambda: _digest([indices, weights])
        pieces = pieces_of(indices, weights, engine.n_workers)
        self.pieces = Resident(engine, lambda: engine.map(same, pieces))

    def _of_chunks(self, triplets: Any, weights: Any, n_rows: int) -> Resident:
        engine, largest = self.engine, 1.0
        chunks = RowChunks(triplets, "triplets", engine)
        if is_dask(weights):
            weighed = chunks_like(weights, "sample_weight", chunks, "one weight per comparison")
            largest = self._largest(weighed)
        elif weights is not None:
            weights = as_weights(weights, chunks.shape[0])

        def pairs() -> list[list[Any]]:
            numbered = chunks.numbered()
            if weights is None:
                each: list[Any] = [None] * len(numbered)
            elif is_dask(weights):
                each = weighed.kept.handles
            else:
                each = [weights[rows] for rows in chunks.slices]
            return [[*chunk, w] for chunk, w in zip(numbered, each, strict=True)]

        def make() -> list[Any]:
            all_ = pairs()
            groups = np.array_split(np.arange(len(all_)), min(engine.n_workers, len(all_)))
            some = [[all_[i] for i in group] for group in groups]
            return engine.map(_piece, some, n_rows, largest)

        def fingerprint() -> bytes:
            # By chunk and not by piece: another number of workers makes other pieces.
            return b"".join(again(lambda: engine.collect(engine.map(_chunk_digest, pairs()))))

        self.fingerprint = fingerprint
        return Resident(engine, make)

    def _largest(self, weights: RowChunks) -> float:
        """The largest weight of all chunks, which are checked; it must be positive."""
        engine = self.engine

        def ask() -> float:
            each = engine.map(_largest_of, weights.numbered())
            return float(engine.collect([engine.reduce(max, each)])[0])

        largest = again(ask)
        if largest == 0.0:
            raise ValueError(
                "sample_weight is zero everywhere, expected at least one positive weight."
            )
        return largest

    def _check_pieces(self) -> None:
        """Make the pieces now, so that errors come here."""
        engine = self.engine
        again(lambda: engine.collect(engine.map(len, self.pieces.handles)))

    def sample(self, most: int, seed: int) -> Ints:
        """Up to so many comparisons that have weight, as rows of X."""
        engine = self.engine

        def ask() -> list[Ints]:
            handles = self.pieces.handles
            some = engine.map(_sampled, handles, -(-most // len(handles)), seed)
            return engine.collect(some)

        return np.concatenate(again(ask)).astype(np.int64)


def _piece(group: list[list[Any]], n_rows: int, largest: float) -> list[Any]:
    """Check chunks of comparisons and join them; those of weight 0 are left out.

    Weights are divided by the largest of all, as in memory: sums of extreme ones stay in range.
    """
    indices: list[Ints] = []
    weights: list[Floats] = []
    for block, number, _, length, given in group:
        name = f"triplets, chunk {number},"
        indices.append(as_triplets(block, n_rows, name))
        if len(indices[-1]) != length:
            raise ValueError(f"{name} has {len(indices[-1])} rows, expected {length}.")
        if given is not None:
            weights.append(_checked(given, length, number))
    joined = np.concatenate(indices)
    if not weights:
        return [joined, None]
    w = np.concatenate(weights) / largest
    there = w > 0.0
    # A part of nothing would be a special case everywhere: one comparison of weight 0 is none.
    there[0] |= not there.any()
    return [joined[there], w[there]]


def _checked(weights: Any, length: int, number: int) -> Floats:
    name = f"sample_weight, chunk {number},"
    w: Floats = as_real(name, weights).astype(np.float64)
    if w.shape != (length,):
        raise ValueError(f"{name} has shape {w.shape}, expected ({length},).")
    bad = np.flatnonzero(~((w >= 0.0) & (w < np.inf)))
    if len(bad):
        raise ValueError(
            f"{name} holds {w[bad[0]]} at entry {bad[0]}, expected a finite number not below 0."
        )
    return w


def _largest_of(chunk: list[Any]) -> float:
    weights, number, _, length = chunk
    return float(_checked(weights, length, number).max())


def _sampled(piece: list[Any], most: int, seed: int) -> Ints:
    indices, weights = piece
    there = np.arange(len(indices)) if weights is None else np.flatnonzero(weights)
    some = np.random.default_rng(seed).permutation(len(there))[:most]
    chosen: Ints = indices[there[some]]
    return chosen


def _chunk_digest(chunk: list[Any]) -> bytes:
    return _digest([chunk[0], chunk[4]])


def _digest(piece: list[Any]) -> bytes:
    return b"".join(array_digest(np.asarray(a)) for a in piece if a is not None)
