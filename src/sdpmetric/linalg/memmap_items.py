"""Items in a memory-mapped file, which may be larger than memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense, Floats, Ints
from .blocks import blocks
from .dense_items import DenseItems
from .interface import Items
from .scratch_rows import folder_of, scratch_rows

__all__ = ["MemmapItems", "is_mapped"]

_DOUBLE = np.dtype(np.float64)


class MemmapItems(DenseItems):
    """An array in a file, read a block of rows at a time.

    BLAS copies an array whose layout it does not support; block by block these copies stay small.
    Other items that are made from these are in a file, too, unless they have at most ``in_memory``
    bytes.
    """

    in_memory = 1 << 30

    def __init__(self, X: Dense, folder: str | None = None) -> None:
        super().__init__(X)
        self.folder = folder_of(X) if folder is None else folder

    def times(self, P: Floats, *, exact: bool = False) -> Dense:
        return self._times_by_blocks(P, _DOUBLE if exact else self.dtype)

    def transposed_times(self, S: Dense, *, exact: bool = False) -> Floats:
        return self._transposed_by_blocks(
            S.__getitem__, S.shape[1], _DOUBLE if exact else self.dtype
        )

    def single(self) -> Items | None:
        return None  # a copy, and an array in a file may be larger than memory

    def take(self, rows: Ints) -> Items:
        return self._made(len(rows), self.shape[1], lambda some: self.raw[rows[some]])

    def columns(self, kept: npt.NDArray[np.bool_]) -> Items:
        n, width = len(self), int(np.count_nonzero(kept))
        items = self._made(n, width, lambda some: self.raw[some][:, kept])
        if self._extremes is not None:
            items._extremes = self._extremes[0][kept], self._extremes[1][kept]
        return items

    def multiplied(self, factors: Floats | float) -> Items:
        given = np.asarray(factors, dtype=self.dtype)
        return self._made(*self.shape, lambda some: self.raw[some] * given)

    def centred(self, offset: Floats) -> Items:
        given = offset.astype(self.dtype)
        return self._made(*self.shape, lambda some: self.raw[some] - given)

    def _made(self, n: int, width: int, rows: Callable[[slice], Dense]) -> Items:
        """Items of other rows or columns, made a block at a time."""
        if n * width * self.dtype.itemsize <= self.in_memory:
            out = np.empty((n, width), self.dtype)
            for some in blocks(n, width):
                out[some] = rows(some)
            return DenseItems(out)
        made = (rows(some) for some in blocks(n, width))
        return MemmapItems(scratch_rows((n, width), self.dtype, made, self.folder), self.folder)


def is_mapped(X: npt.NDArray[Any]) -> bool:
    """Whether an array, or the array that it is a view of, is a memory map."""
    # `numpy.asarray` turns a memory map into a plain array: only its base still has the type.
    at: Any = X
    while isinstance(at, np.ndarray):
        if isinstance(at, np.memmap):
            return True
        at = at.base
    return False
