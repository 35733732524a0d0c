"""Which rows of a gallery are relevant to a query: those of its label, or those listed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .._support.typing import Ints

Mask: TypeAlias = npt.NDArray[np.bool_]


class Relevance(Protocol):
    """Which rows of the gallery are relevant to the queries of a block."""

    def __call__(self, block: slice, /) -> Mask:
        """(queries, gallery) mask."""

    def counts(self, block: slice, /) -> Ints:
        """(queries,) number of relevant rows."""

    def found(self, block: slice, rows: Ints, /) -> Mask:
        """(queries, k) which of these rows, none of them the query itself, are relevant."""


@dataclass(frozen=True, eq=False)
class _SameLabel:
    """``alone``: the gallery is the queries, and none is relevant to itself."""

    queries: Ints
    gallery: Ints
    alone: bool

    def __call__(self, block: slice) -> Mask:
        same: Mask = self.queries[block, None] == self.gallery
        if self.alone:
            same[np.arange(len(same)), np.arange(block.start, block.stop)] = False
        return same

    def counts(self, block: slice) -> Ints:
        sizes = np.bincount(self.gallery, minlength=1 + int(self.queries.max()))
        return sizes[self.queries[block]] - int(self.alone)

    def found(self, block: slice, rows: Ints) -> Mask:
        same: Mask = self.gallery[rows] == self.queries[block, None]
        return same


@dataclass(frozen=True, eq=False)
class _Listed:
    lists: list[Ints]
    n_gallery: int

    def __call__(self, block: slice) -> Mask:
        # A mask per block of queries: one for all of them would have queries times gallery entries.
        listed = np.zeros((block.stop - block.start, self.n_gallery), dtype=bool)
        for row, ids in zip(listed, self.lists[block], strict=True):
            row[ids] = True
        return listed

    def counts(self, block: slice) -> Ints:
        return np.array([len(ids) for ids in self.lists[block]], dtype=np.int64)

    def found(self, block: slice, rows: Ints) -> Mask:
        pairs = zip(rows, self.lists[block], strict=True)
        return np.array([np.isin(near, ids) for near, ids in pairs], dtype=bool)


def by_labels(y_q: Any, y_g: Any, n_queries: int, n_gallery: int) -> Relevance:
    """Relevant: gallery rows with the query's label; without ``y_g``, other queries with it."""
    labels = _labels("y_q", y_q, n_queries)
    others = labels if y_g is None else _labels("y_g", y_g, n_gallery)
    # NumPy would turn 1 and "1" into one label when it joins the two arrays below.
    if (labels.dtype.kind in "OUST") != (others.dtype.kind in "OUST"):
        raise ValueError(
            f"y_q and y_g must hold labels of one kind, got dtypes {labels.dtype} and "
            f"{others.dtype}."
        )
    try:
        codes = np.unique(np.concatenate([labels, others]), return_inverse=True)[1]
    except TypeError as error:
        raise ValueError(f"y_q and y_g must hold labels of one kind. {error}") from None
    # Codes, since every block compares all pairs, and integers compare faster than strings.
    return _SameLabel(codes[:n_queries], codes[n_queries:], alone=y_g is None)


def by_ids(relevant: Any, n_queries: int, n_gallery: int, *, alone: bool) -> Relevance:
    """Relevant: the gallery rows listed for each query.

    ``alone``: there is no gallery and the queries search each other, so none may list itself.
    """
    if not hasattr(relevant, "__len__") or len(relevant) != n_queries:
        size = len(relevant) if hasattr(relevant, "__len__") else repr(relevant)
        raise ValueError(
            f"relevant must hold a list of gallery rows for each of {n_queries} queries, got "
            f"{size}."
        )
    lists = [_ids(number, ids, n_gallery, alone) for number, ids in enumerate(relevant)]
    return _Listed(lists, n_gallery)


def _labels(name: str, y: Any, n: int) -> npt.NDArray[Any]:
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"{name} must have one label per row, shape ({n},), got {labels.shape}.")
    missing = np.flatnonzero(labels != labels)  # noqa: PLR0124 - NaN is what differs from itself
    if len(missing):
        raise ValueError(f"{name}: row {missing[0]} is {labels[missing[0]]}, expected a label.")
    return labels


def _ids(number: int, given: Any, n_gallery: int, alone: bool) -> Ints:
    ids = np.asarray(given)
    name = f"relevant: query {number}"
    # Before the check of dtypes: an empty list is an array of floats for NumPy.
    if ids.size == 0:
        return np.empty(0, dtype=np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise ValueError(f"{name} has {given!r}, expected a list of integer rows of the gallery.")
    bad = ids[(ids < 0) | (ids >= n_gallery)]
    if len(bad):
        raise ValueError(
            f"{name} has {bad[0]}, expected rows of the gallery, 0 to {n_gallery - 1}."
        )
    if alone and (ids == number).any():
        raise ValueError(f"{name} has itself, expected other rows: a row is not its own neighbour.")
    return np.unique(ids).astype(np.int64)
