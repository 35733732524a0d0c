"""Exact search for the nearest rows of the same and of other classes, by blocked matrix products.

Products of float32 rows bound every distance from below. If a bound is small enough, the distance
is computed from the rows, in float64. So the answer, ties included, does not depend on rounding,
threads or block sizes. Only a tile of products and the nearest rows so far are in memory, so X may
be a memory map. docs/performance.md, "The search for neighbours", has the measurements.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._support.progress import Report
from .._support.typing import Floats, Ints
from ..engines.threads import map_parts
from ..linalg.blocks import slices, tiles
from ..linalg.items import Items
from ..linalg.kernels.rows import keep_nearest
from ..linalg.lower_bounds import lower_bounds

__all__ = ["nearest_by_class", "nearest_columns"]

_PAIRS = 1 << 16  # pairs of rows that are worth a thread


def nearest_by_class(
    X: Items,
    y: Ints,
    n_same: int,
    n_other: int,
    report: Report | None = None,
    anchors: int | None = None,
) -> tuple[Ints, Ints]:
    """Find the nearest rows of the same and of other classes for each row, by Euclidean distance.

    The rows found ascend in distance, ties go to the lower row index, and no row is its own
    neighbour. If a class has too few rows, the last columns are -1. ``report(done, n)`` is called
    with the rows done so far. With ``anchors`` only the first so many rows look for neighbours,
    among all rows.
    """
    n = len(y)
    rows = slice(0, n if anchors is None else min(n, anchors))
    index = nearest_columns(X, y, rows, n, (n_same, n_other), report=report)
    return index[0, :, :n_same], index[1, :, :n_other]


def nearest_columns(
    X: Items,
    y: Ints,
    rows: slice,
    n_columns: int,
    k: tuple[int, int],
    *,
    out: Floats | None = None,
    report: Report | None = None,
) -> Ints:
    """Find the nearest among the first ``n_columns`` rows for some rows of X.

    ``out`` takes their squared distances, infinite for none.

    Returns
    -------
    (2, rows, max(k)) row numbers, ascending in distance: ``k[0]`` rows of the same class, ``k[1]``
    of other classes, -1 for none
    """
    # 1. The table: float32 rows, or how to make them, and lowered norms. One pass over X.
    table: Any = lower_bounds(X, n_columns)
    wanted, n = np.array(k), rows.stop - rows.start
    index = np.full((2, n, max(k)), -1, dtype=np.int64)

    def scan(start: int, part: slice) -> None:
        # One buffer a thread for all tiles.
        room = np.empty(table.tile[0] * min(table.tile[1], n_columns), dtype=np.float32)
        some = slice(start + part.start, start + part.stop)
        for block, column_tiles in tiles(some, n_columns, table.tile):
            # 2. A block of rows: its float32 rows, and nothing found so far.
            A, own = table.rows(block), table.lower[block].astype(np.float64)
            best = np.full((2, len(own), index.shape[2]), np.inf)
            nearest = np.full(best.shape, -1, dtype=np.int64)
            # 3. Tile by tile: products, then a compiled loop keeps the nearest rows. Columns
            #    ascend, which `keep_nearest` needs for its rule of ties.
            for columns in column_tiles:
                products = table.products(A, columns, room)
                keep_nearest(
                    table.stored,
                    table.unit,
                    products,
                    table.lower,
                    own,
                    y,
                    block.start,
                    columns.start,
                    wanted,
                    best,
                    nearest,
                )
            found = slice(block.start - rows.start, block.stop - rows.start)
            index[:, found] = nearest
            if out is not None:
                out[:, found] = best

    # 4. All rows, divided among the threads. Four blocks between two reports: each is a point where
    #    threads wait for one another. Every part reads all columns, so 64 rows are its least size.
    least = max(64, _PAIRS // n_columns)
    for done in slices(rows.start, rows.stop, 4 * table.tile[0]):
        map_parts(done.stop - done.start, partial(scan, done.start), least)
        if report is not None:
            report(done.stop - rows.start, n)
    return index
