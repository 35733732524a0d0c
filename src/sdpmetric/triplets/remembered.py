"""Tiles of products under one metric, for several passes over all triplets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

from ..engines.threads import map_parts
from ..linalg.mapped import WeightedTables
from .all_triplets import AllTriplets

__all__ = ["RememberedTiles"]

State = TypeVar("State")

# Products that are remembered, 256 MB of them. An identity prior makes each a sum over all columns
# of X, which took two thirds of a certificate.
_MOST = 1 << 25


@dataclass(eq=False)
class RememberedTiles:
    """The tiles of all triplets under one metric. The first pass remembers them if they are few."""

    triplets: AllTriplets
    items: WeightedTables
    parts: list[list[Any]] = field(default_factory=list)

    def visit(self, begin: Callable[[], State], work: Callable[[State, Any], None]) -> list[State]:
        """Call ``work`` on all tiles, as `AllTriplets.visit` does."""
        if not self.parts:
            return self._first(begin, work)

        def again(parts: slice) -> State:
            state = begin()
            for tile in chain.from_iterable(self.parts[parts]):
                work(state, tile)
            return state

        return map_parts(len(self.parts), again)

    def _first(self, begin: Callable[[], State], work: Callable[[State, Any], None]) -> list[State]:
        if len(self.triplets.y) ** 2 > _MOST:
            return self.triplets.visit(self.items, begin, work)

        def remember(both: tuple[State, list[Any]], tile: Any) -> None:
            both[1].append(tile)
            work(both[0], tile)

        def begin_both() -> tuple[State, list[Any]]:
            return begin(), []

        found = self.triplets.visit(self.items, begin_both, remember)
        self.parts = [tiles for _, tiles in found]
        return [state for state, _ in found]
