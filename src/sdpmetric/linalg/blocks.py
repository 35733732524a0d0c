"""Block sizes, and iterators over blocks of rows, blocks of columns and tiles.

There are three sizes: a block that is converted stays in the cache, a block of results leaves room
for a few arrays of its size, and a large block bounds the memory of one pass over any data.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "CONVERTED_BYTES",
    "EDGE_NUMBERS",
    "LARGE_BYTES",
    "PRODUCT",
    "RESULT_BYTES",
    "SMALL_PRODUCT",
    "blocks",
    "column_blocks",
    "slices",
    "tiles",
]

CONVERTED_BYTES = 1 << 22  # rows that are converted, centred or scanned: they stay in the cache
RESULT_BYTES = 1 << 24  # results beside which a few arrays of the same size are made
LARGE_BYTES = 1 << 26  # the most that one pass may hold at a time

PRODUCT = 1 << 21  # multiplications that are worth a thread
# Smaller products go to BLAS undivided: to divide them costs more than to compute them. A search on
# 126 rows makes 30,000 evaluations of a third of a millisecond (docs/performance.md).
SMALL_PRODUCT = 1 << 19
EDGE_NUMBERS = 1 << 19  # numbers gathered along edges that are worth a thread


def slices(start: int, stop: int, step: int) -> Iterator[slice]:
    """Divide ``start .. stop`` into slices of ``step``; the last one may be shorter."""
    for low in range(start, stop, step):
        yield slice(low, min(low + step, stop))


def blocks(n: int, width: int, block_bytes: int = CONVERTED_BYTES) -> Iterator[slice]:
    """Divide n rows into slices whose ``width`` float64 columns fit into ``block_bytes``."""
    return slices(0, n, max(1, block_bytes // (8 * max(1, width))))


def column_blocks(n_rows: int, n_columns: int, size: int = 0) -> Iterator[slice]:
    """Divide columns into blocks of which ``n_rows`` rows fit into memory.

    ``size`` is the number of entries of the largest array that exists anyway, or of a small part of
    X: each block reads all of X again, perhaps from a disk.
    """
    # Eight float64 columns, 64 bytes a row, are a cache line, so a width is a multiple of eight. A
    # block may be as large as the arrays beside it: a smaller one would not lower the peak much.
    return slices(0, n_columns, max(8, max(LARGE_BYTES, 8 * size) // (64 * n_rows) * 8))


def tiles(
    rows: slice, n_columns: int, shape: tuple[int, int]
) -> Iterator[tuple[slice, Iterator[slice]]]:
    """Yield blocks of rows, each with its tiles of columns.

    Two levels, so that a caller prepares a block of rows once for all of its tiles.
    """
    for block in slices(rows.start, rows.stop, shape[0]):
        yield block, slices(0, n_columns, shape[1])
