"""Neighbours of rows in blocks: exactly those of a search in memory; by lists, nearly all."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric.engines.threads import Threads
from sdpmetric.linalg.items import items_of
from sdpmetric.parted.inverted_lists import search_lists
from sdpmetric.parted.neighbors import Block, search_blocks, search_pair
from sdpmetric.triplets.nearest import nearest_by_class


def blocks_of(X: Any, y: Any, bounds: list[int]) -> list[Block]:
    return [Block(a, items_of(X[a:b]), y[a:b]) for a, b in pairwise(bounds)]


def joined(found: list[Any], side: int, k: int) -> Any:
    return np.concatenate([part.rows[side, :, :k] for part in found])


@pytest.mark.parametrize("kind", ["dense", "float32", "csr"])
@pytest.mark.parametrize("bounds", [[0, 120], [0, 50, 120], [0, 1, 60, 61, 120]])
def test_exact_neighbours_are_those_in_memory(kind: str, bounds: list[int]) -> None:
    rng = np.random.default_rng(0)
    # Whole numbers make ties, also across blocks: the lower row wins everywhere.
    X: Any = rng.integers(0, 3, (120, 4)).astype(np.float32 if kind == "float32" else float)
    X = sp.csr_array(X) if kind == "csr" else X
    y = rng.integers(0, 3, 120)
    near, far = nearest_by_class(items_of(X), y, 3, 5)
    found = search_blocks(Threads(), blocks_of(X, y, bounds), search_pair, (3, 5), None)
    np.testing.assert_array_equal(joined(found, 0, 3), near)
    np.testing.assert_array_equal(joined(found, 1, 5), far)


def test_extreme_units_of_blocks() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    expected = nearest_by_class(items_of(X), y, 2, 2)
    found = search_blocks(
        Threads(), blocks_of(X * 2.0**-540, y, [0, 25, 60]), search_pair, (2, 2), np.array(2.0**540)
    )
    np.testing.assert_array_equal(joined(found, 0, 2), expected[0])
    np.testing.assert_array_equal(joined(found, 1, 2), expected[1])


def test_lists_find_nearly_all_neighbours() -> None:
    """Recall on clustered rows, and no row is its own neighbour or of the wrong class."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 8))
    label = rng.integers(0, 40, 3000)
    X, y = 0.25 * rng.normal(size=(3000, 8)) + centres[label], label % 5
    expected = nearest_by_class(items_of(X), y, 3, 3)
    blocks = blocks_of(X, y, [0, 1000, 1700, 3000])
    found = search_lists(Threads(), blocks, (3, 3), None, np.bincount(y), 0)
    for side in (0, 1):
        rows = joined(found, side, 3)
        assert rows.min() >= 0
        assert not (rows == np.arange(3000)[:, None]).any()
        assert np.all((y[rows] == y[:, None]) == (side == 0))
        recall = np.mean([len(set(a) & set(b)) for a, b in zip(rows, expected[side], strict=True)])
        assert recall >= 3 * 0.95


def test_rows_that_find_too_few_in_their_lists_are_compared_with_all() -> None:
    """A class of four rows that lie apart, in lists that no other of them looks at."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), np.zeros(4000, dtype=np.int64)
    y[[5, 1500, 2500, 3999]] = 1
    expected = nearest_by_class(items_of(X), y, 3, 3)
    blocks = blocks_of(X, y, [0, 2000, 4000])
    found = search_lists(Threads(), blocks, (3, 3), None, np.bincount(y), 0)
    np.testing.assert_array_equal(joined(found, 0, 3)[y == 1], expected[0][y == 1])
