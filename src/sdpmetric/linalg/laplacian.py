"""The signed Laplacian of weighted edges as an operator on the items."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import local

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense, Floats, Ints
from ..engines.threads import map_parts
from .blocks import EDGE_NUMBERS
from .kernels.edges import add_laplacian, index_edges, laplacian_rows, list_lower

__all__ = ["Laplacian"]


class Laplacian:
    """``sum_e weights_e (e_a - e_b)(e_a - e_b)'`` as an operator on the items.

    Edges are sorted by their lower item. For large products, edges with weight are listed a second
    time, by their higher item, so that each row of the result only gathers, and threads can share
    the rows.
    """

    # Rejected for large products: one pass that adds to both ends of an edge, where two threads may
    # write to the same row; and threads that divide the columns of Y, slower than one thread
    # (docs/performance.md).

    def __init__(self, edges: Ints, weights: Floats, n_items: int) -> None:
        self.edges, self.weights, self.n_items = edges, weights, n_items

    def __matmul__(self, Y: Dense) -> Dense:
        """Return the Laplacian times Y, in Y's precision."""
        if not self.is_large(Y):
            total = np.zeros_like(Y)
            add_laplacian(self.edges, self.weights, Y, total)
            return total
        out, listed = np.empty_like(Y), self._lists
        map_parts(
            len(Y),
            lambda part: laplacian_rows(
                self.edges, self.weights, *listed, Y, part.start, part.stop, out[part]
            ),
            # The rows whose edges, on average, gather EDGE_NUMBERS numbers.
            len(Y) * EDGE_NUMBERS // max(1, len(listed[2]) * Y.shape[1]),
        )
        return out

    def is_large(self, Y: Dense) -> bool:
        """Whether the product with Y is worth the second list."""
        return len(self.edges) * int(Y.shape[1]) > EDGE_NUMBERS

    def rows_of(self, Y: Dense, dtype: npt.DTypeLike | None = None) -> Callable[[slice], Dense]:
        """A function that makes some rows of the product with Y, for any thread.

        The next call of the same thread overwrites them. They are computed in Y's precision, or in
        a higher one if ``dtype`` asks for it.
        """
        listed, room = self._lists, local()

        def rows(part: slice) -> Dense:
            n = part.stop - part.start
            # One array for all blocks: a new one costs the system a fault for each of its pages.
            if len(getattr(room, "rows", ())) < n:
                room.rows = np.empty((n, Y.shape[1]), dtype or Y.dtype)
            out: Dense = room.rows[:n]
            laplacian_rows(self.edges, self.weights, *listed, Y, part.start, part.stop, out)
            return out

        return rows

    @cached_property
    def _lists(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Bounds of each item's edges, as the lower and as the higher one, and the second list."""
        upper, lower = np.zeros((2, self.n_items + 1), dtype=np.int64)
        active = index_edges(self.edges, self.weights, upper, lower)
        items, values = np.empty(active, dtype=self.edges.dtype), np.empty(active)
        list_lower(self.edges, self.weights, lower, items, values)
        return upper, lower, items, values
