"""Items in several arrays, one below the other.

The rows of a part come from several chunks. To join them would need every row twice for a moment,
which is the most memory that a worker of a cluster ever takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._support.typing import Dense, Floats, Ints
from .blocks import blocks
from .dense_items import DenseItems
from .interface import Items

__all__ = ["StackedItems"]

_DOUBLE = np.dtype(np.float64)


class StackedItems(DenseItems):
    """Rows of several arrays. What no part of an objective asks for joins them first."""

    def __init__(self, pieces: list[Dense]) -> None:
        self.pieces = pieces
        self.bounds = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])
        self.shape = int(self.bounds[-1]), pieces[0].shape[1]
        self.dtype = np.result_type(*pieces)

    @property
    def raw(self) -> Dense:
        """All rows in one array, made again at every call."""
        whole: Dense = np.concatenate(self.pieces)
        return whole

    @property
    def array(self) -> Dense | None:
        return None

    def times(self, P: Floats, *, exact: bool = False) -> Dense:
        return self._times_by_blocks(P, _DOUBLE if exact else self.dtype)

    def transposed_times(self, S: Dense, *, exact: bool = False) -> Floats:
        dtype = _DOUBLE if exact else self.dtype
        return self._transposed_by_blocks(S.__getitem__, S.shape[1], dtype)

    def rows(self, which: slice | Ints) -> Dense:
        numbers = np.arange(len(self))[which] if isinstance(which, slice) else np.asarray(which)
        out = np.empty((len(numbers), self.shape[1]), self.dtype)
        # In the order of the rows, those of a piece stand together.
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], self.bounds).tolist()
        for piece, start, low, high in zip(self.pieces, self.bounds, ends, ends[1:], strict=False):
            here = order[low:high]
            out[here] = piece[numbers[here] - start]
        return out

    def squared_differences(
        self, a: Ints, b: Ints, out: Floats | None = None, other: Items | None = None
    ) -> Floats:
        others: Items = self if other is None else other
        total = np.zeros(len(a)) if out is None else out
        for some in blocks(len(a), self.shape[1]):
            # float64 before the difference, as in the compiled loop.
            apart = self.rows(a[some]).astype(_DOUBLE) - others.rows(b[some])
            total[some] += np.einsum("ij,ij->i", apart, apart)
        return total

    def _blocks(self, part: slice, dtype: np.dtype[Any]) -> Iterator[tuple[slice, Dense]]:
        for start, piece in zip(self.bounds.tolist(), self.pieces, strict=False):
            low, high = max(part.start - start, 0), min(part.stop - start, len(piece))
            for block in blocks(max(high - low, 0), self.shape[1]):
                first, last = low + block.start, low + block.stop
                rows = piece[first:last].astype(dtype, copy=False)
                yield slice(start + first, start + last), rows
