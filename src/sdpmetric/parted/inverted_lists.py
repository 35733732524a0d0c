"""Approximate search for the nearest rows of each class, for rows in blocks: inverted lists.

Rows are grouped around centres, which every worker gets. A row is compared with the rows of the
lists around the nearest centres: those that hold its class, and those that hold other classes. The
pairs of blocks are those of the exact search; each compares only rows whose lists match. A row that
finds too few is compared with all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._support.typing import Dense, Floats, Ints
from ..engines.engine import Engine
from ..linalg.blocks import blocks as row_blocks
from ..linalg.pieces import bytes_of
from .neighbors import Block, Found, Pair, merged, nearest_between, search_blocks
from .tasks import added

__all__ = ["search_lists"]

_PROBES = 16  # lists to look at, at least, for each of the two kinds of neighbours
_SHARE = 64  # and one list in so many: with ever more rows, a fixed number would see ever fewer
_TRAINING = 64  # rows that each centre is made from
_STEPS = 8  # of k-means: centres need not be the best ones


@dataclass(frozen=True, eq=False)
class Listed:
    """A block whose rows know their lists, and (list, row) of the lists that each row looks at."""

    block: Block
    lists: Ints
    probes: Ints

    @property
    def start(self) -> int:
        return self.block.start

    def __sizeof__(self) -> int:
        b = self.block
        return bytes_of(b.X, b.y, self.lists, self.probes)


def search_lists(
    engine: Engine, blocks: list[Any], k: tuple[int, int], factors: Any, sizes: Ints, seed: int
) -> list[Any]:
    """Search for neighbours; return handles of `Found`, one for each block."""
    n = int(sizes.sum())
    n_lists = max(1, min(int(2.0 * np.sqrt(n)), n // _TRAINING))
    # 1. Centres, from a sample of all blocks. Every task gets them as one shared result.
    some = engine.map(_sampled, blocks, -(-n_lists * _TRAINING // len(blocks)), factors, seed)
    (centres,) = engine.map(_centres, [some], n_lists, seed)
    # 2. The list of each row, how many rows of each class a list holds, and where rows look.
    lists = engine.map(_nearest_centres, blocks, centres, factors)
    both = [[b, own] for b, own in zip(blocks, lists, strict=True)]
    held = engine.reduce(added, engine.map(_held, both, n_lists, len(sizes)))
    listed = engine.map(_listed, both, centres, held, factors)
    # 3. All pairs of blocks, list by list.
    found = search_blocks(engine, listed, _search_pair, k, factors)
    # 4. Rows that found too few are compared with all.
    pairs = [[f, b] for f, b in zip(found, blocks, strict=True)]
    short = engine.map(_short, pairs, k, sizes)
    if not any(engine.collect(engine.map(_count, short))):
        return found
    whole = []
    for own, rows in zip(pairs, short, strict=True):
        searches = engine.map(_search_some, blocks, rows, own[1], k, factors)
        whole.append(engine.map(_filled, [[own[0], engine.reduce(merged, searches)]], rows)[0])
    return whole


def _table(block: Block, factors: Any) -> Dense:
    X = block.X if factors is None else block.X.multiplied(factors)
    return X.rows(slice(0, len(X))).astype(np.float32, copy=False)


def _sampled(block: Block, most: int, factors: Any, seed: int) -> Dense:
    rng = np.random.default_rng([seed, block.start])
    some = np.sort(rng.permutation(len(block.y))[:most])
    return _table(block.take(some), factors)


def _centres(samples: list[Dense], n_lists: int, seed: int) -> Dense:
    from sklearn.cluster import KMeans

    rows = np.concatenate(samples)
    found = KMeans(
        min(n_lists, len(rows)), init="random", n_init=1, max_iter=_STEPS, random_state=seed
    ).fit(rows)
    centres: Dense = found.cluster_centers_
    return centres


def _squared(rows: Dense, centres: Dense) -> Dense:
    """Squared distances to the centres, less those of the rows to zero."""
    away: Dense = np.einsum("ij,ij->i", centres, centres) - 2.0 * (rows @ centres.T)
    return away


def _nearest_centres(block: Block, centres: Dense, factors: Any) -> Ints:
    rows = _table(block, factors)
    lists = np.empty(len(rows), dtype=np.int64)
    for some in row_blocks(len(rows), len(centres)):
        lists[some] = np.argmin(_squared(rows[some], centres), axis=1)
    return lists


def _held(both: list[Any], n_lists: int, n_classes: int) -> Any:
    """How many rows of each class each list holds, as a sparse matrix."""
    block, lists = both
    ones = np.ones(len(lists), dtype=np.int64)
    return sp.csc_array((ones, (lists, block.y)), shape=(n_lists, n_classes))


def _listed(both: list[Any], centres: Dense, held: Any, factors: Any) -> Listed:
    """Choose the lists that each row looks at."""
    block, lists = both
    rows, totals = _table(block, factors), np.asarray(held.sum(axis=1)).ravel()
    chosen = []
    by_class = np.argsort(block.y, kind="stable")
    bounds = np.searchsorted(block.y[by_class], np.arange(held.shape[1] + 1))
    for label in np.unique(block.y):
        own = np.asarray(held[:, [label]].todense()).ravel()
        some = by_class[bounds[label] : bounds[label + 1]]
        # Lists without a row of the right class are not looked at.
        for groups in (np.flatnonzero(own), np.flatnonzero(totals > own)):
            probes = min(len(groups), max(_PROBES, len(centres) // _SHARE))
            for part in row_blocks(len(some), len(groups)):
                away = _squared(rows[some[part]], centres[groups])
                near = np.argpartition(away, probes - 1, axis=1)[:, :probes]
                chosen.append(np.stack([groups[near].ravel(), np.repeat(some[part], probes)], 1))
    return Listed(block, lists, np.unique(np.concatenate(chosen), axis=0))


def _search_pair(both: list[Listed], k: tuple[int, int], factors: Any) -> Pair:
    a, b = both
    if a.start == b.start:
        found = _search(a, b, k, factors)
        return found, found
    return _search(a, b, k, factors), _search(b, a, k, factors)


def _search(a: Listed, b: Listed, k: tuple[int, int], factors: Any) -> Found:
    """The nearest rows of b for the rows of a, in the lists that these look at."""
    found = _nothing(len(a.block.y), k)
    order = np.argsort(b.lists, kind="stable")
    present = np.unique(b.lists)
    rows_at = np.searchsorted(b.lists[order], [present, present + 1])
    asked_at = np.searchsorted(a.probes[:, 0], [present, present + 1])
    for (low, high), (first, last) in zip(rows_at.T, asked_at.T, strict=True):
        if first == last:
            continue
        asked, rows = a.probes[first:last, 1], order[low:high]
        some = _between(a.block, asked, b.block, rows, k, factors)
        old = Found(found.distances[:, asked], found.rows[:, asked])
        best = merged([old, some])
        found.distances[:, asked], found.rows[:, asked] = best
    return found


def _between(
    a: Block, asked: Ints, b: Block, rows: Ints, k: tuple[int, int], factors: Any
) -> Found:
    """The nearest of some rows of b for some rows of a, without the rows themselves."""
    columns = Block(0, b.X.take(rows), b.y[rows])
    # One more, since a row may find itself.
    distances, places = nearest_between(a.take(asked), columns, (k[0] + 1, k[1]), factors)
    numbers = np.where(places >= 0, rows[places] + b.start, -1)
    itself = numbers == (asked + a.start)[None, :, None]
    return Found(np.where(itself, np.inf, distances), np.where(itself, -1, numbers))


def _nothing(n: int, k: tuple[int, int]) -> Found:
    shape = (2, n, max(k))
    return Found(np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64))


def _short(both: list[Any], k: tuple[int, int], sizes: Ints) -> Ints:
    """The rows of a block that found fewer neighbours than there are."""
    found, block = both
    size: Floats = sizes[block.y]
    wanted = np.stack([np.minimum(k[0], size - 1), np.minimum(k[1], sizes.sum() - size)])
    there = np.stack([np.sum(found.rows[g, :, : k[g]] >= 0, axis=1) for g in (0, 1)])
    return np.flatnonzero((there < wanted).any(axis=0))


def _count(rows: Ints) -> int:
    return len(rows)


def _search_some(b: Block, asked: Ints, a: Block, k: tuple[int, int], factors: Any) -> Found:
    if len(asked) == 0:
        return _nothing(0, k)
    found = _between(a, asked, b, np.arange(len(b.y)), k, factors)
    return merged([_nothing(len(asked), k), found])


def _filled(both: list[Found], rows: Ints) -> Found:
    """What was found, with the exact neighbours of some rows."""
    found, exact = both
    filled = Found(found.distances.copy(), found.rows.copy())
    filled.distances[:, rows], filled.rows[:, rows] = exact
    return filled
