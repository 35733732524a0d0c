"""Which items of a gallery a query should find: those of its label, or those that are listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._typing import Ints

__all__ = ["Relevance", "by_ids", "by_labels"]

Mask: TypeAlias = npt.NDArray[np.bool_]
Relevance: TypeAlias = Callable[[slice], Mask]  # a block of queries -> (queries, gallery)


def by_labels(y_q: Any, y_g: Any, n_queries: int, n_gallery: int) -> Relevance:
    """Items that have the query's label; without ``y_g`` other queries that have it."""
    labels = _labels("y_q", y_q, n_queries)
    others = labels if y_g is None else _labels("y_g", y_g, n_gallery)
    if (labels.dtype.kind in "OUST") != (others.dtype.kind in "OUST"):
        raise ValueError(
            f"y_q and y_g must hold labels of one kind, got dtypes {labels.dtype} and "
            f"{others.dtype}."
        )
    try:
        codes = np.unique(np.concatenate([labels, others]), return_inverse=True)[1]
    except TypeError as error:
        raise ValueError(f"y_q and y_g must hold labels of one kind. {error}") from None
    asked, stored = codes[:n_queries], codes[n_queries:]

    def mask(block: slice) -> Mask:
        same: Mask = asked[block, None] == stored
        return _without_self(same, block) if y_g is None else same

    return mask


def by_ids(relevant: Any, n_queries: int, n_gallery: int, *, alone: bool) -> Relevance:
    """The listed rows of the gallery; ``alone``: of the queries themselves."""
    if not hasattr(relevant, "__len__") or len(relevant) != n_queries:
        size = len(relevant) if hasattr(relevant, "__len__") else repr(relevant)
        raise ValueError(
            f"relevant must hold a list of gallery rows for each of {n_queries} queries, got "
            f"{size}."
        )
    lists = [_ids(number, ids, n_gallery, alone) for number, ids in enumerate(relevant)]

    def mask(block: slice) -> Mask:
        listed = np.zeros((block.stop - block.start, n_gallery), dtype=bool)
        for row, ids in zip(listed, lists[block], strict=True):
            row[ids] = True
        return listed

    return mask


def _without_self(mask: Mask, block: slice) -> Mask:
    mask[np.arange(len(mask)), np.arange(block.start, block.stop)] = False
    return mask


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
        raise ValueError(f"{name} has itself, expected other rows: nothing is its own neighbour.")
    return ids.astype(np.int64)
