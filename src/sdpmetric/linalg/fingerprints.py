"""Digests of arrays of any size: equal numbers of one type have one digest."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engines.threads import map_parts
from .blocks import slices

__all__ = ["array_digest"]

_BLOCK_BYTES = 1 << 24  # hashed at a time by one thread; part of the digest's definition


def array_digest(A: npt.NDArray[Any]) -> bytes:
    """Return a digest of the type, the shape and the entries of an array of numbers.

    Whatever the order in memory, and however many threads share the work. Blocks of rows at a
    time, so that a memory map may exceed memory.
    """
    row_bytes = A.itemsize * int(np.prod(A.shape[1:]))
    blocks = list(slices(0, len(A), max(1, _BLOCK_BYTES // max(1, row_bytes))))

    def digests(part: slice) -> list[bytes]:
        # hashlib lets other threads run while it works.
        return [blake2b(np.ascontiguousarray(A[rows]).data).digest() for rows in blocks[part]]

    whole = blake2b(f"{A.dtype.str} {A.shape}".encode())
    for part in map_parts(len(blocks), digests):
        whole.update(b"".join(part))
    return whole.digest()
