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
_PAGE = 1 << 12
# Bytes that a disk reads in order while it finds one page elsewhere: some 100 microseconds.
_RANDOM_READ = 1 << 17


class MemmapItems(DenseItems):
    """An array in a file, read a block of rows at a time.

    BLAS copies an array whose layout it does not support; block by block these copies stay small.
    Other items that are made from these are in a file, too, unless they have at most ``in_memory``
    bytes.
    """

    in_memory = 1 << 30
    # Rows between which distances are measured at a time: two such ranges are in the page cache.
    near_bytes = 1 << 31

    def __init__(self, X: Dense, folder: str | None = None) -> None:
        super().__init__(X)
        self.folder = folder_of(X) if folder is None else folder

    @property
    def array(self) -> Dense | None:
        return None  # it may be larger than memory, and is slow to read out of order

    def times(self, P: Floats, *, exact: bool = False) -> Dense:
        return self._times_by_blocks(P, _DOUBLE if exact else self.dtype)

    def transposed_times(self, S: Dense, *, exact: bool = False) -> Floats:
        return self._transposed_by_blocks(
            S.__getitem__, S.shape[1], _DOUBLE if exact else self.dtype
        )

    def single(self) -> Items | None:
        return None  # a copy, and an array in a file may be larger than memory

    def squared_differences(
        self, a: Ints, b: Ints, out: Floats | None = None, other: Items | None = None
    ) -> Floats:
        n, width = self.shape
        row_bytes = width * self.dtype.itemsize
        step = max(1, self.near_bytes // row_bytes)
        n_ranges = -(-n // step)
        # Each range is read once with every other one.
        in_order = n_ranges * (n_ranges + 1) // 2 * step * row_bytes
        if other is not None or n_ranges < 3 or len(a) * _RANDOM_READ < in_order:
            return super().squared_differences(a, b, out, other)
        # Pairs of rows in any order would be a read of the disk each, so those between the same two
        # ranges are measured together, after these ranges were read from start to end.
        total = np.zeros(len(a)) if out is None else out
        pair = np.minimum(a, b) // step * n_ranges + np.maximum(a, b) // step
        order = np.argsort(pair, kind="stable")
        ends = np.cumsum(np.bincount(pair, minlength=n_ranges**2)).tolist()
        for number, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
            if low == high:
                continue
            for start in {number // n_ranges * step, number % n_ranges * step}:
                self._read(slice(start, start + step))
            some = order[low:high]
            total[some] += super().squared_differences(a[some], b[some])
        return total

    def _read(self, rows: slice) -> None:
        """Let the system read these rows, in order, into its page cache."""
        if self.raw.flags.c_contiguous:
            self.raw[rows].reshape(-1)[:: _PAGE // self.dtype.itemsize].max()

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
