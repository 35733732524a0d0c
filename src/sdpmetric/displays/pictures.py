"""The pictures of rows: the rows themselves, or images beside them, of one size or of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._support.typing import Ints
from ..linalg.items import Items

# Pictures of one size have its axes last; those of many sizes are entries of an array of objects.
Pictures: TypeAlias = npt.NDArray[Any]
Find: TypeAlias = Callable[[Ints], Pictures]  # from row numbers to pictures


def pictures_of(X: Items, images: Any, shape: tuple[int, ...] | None, name: str) -> Find:
    """Check the pictures of rows and return a function that finds those of some rows.

    Parameters
    ----------
    X : (n, D) rows
    images : an array, (n, h, w) or (n, h, w, 3), or a list of n pictures of any sizes
    shape : instead of images, the shape of a row as a picture
    name : the name of the argument ``images``, for errors
    """
    n, D = X.shape
    if images is None:
        known = isinstance(shape, tuple) and _is_picture(shape)
        if not known or int(np.prod(shape or ())) != D:
            raise ValueError(
                f"shape must be (h, w) or (h, w, 3) with {D} entries in all, or {name} be given; "
                f"got {shape!r}."
            )
        assert shape is not None
        return lambda rows: X.rows(rows.ravel()).astype(np.float64).reshape(*rows.shape, *shape)
    if shape is not None:
        raise ValueError(f"{name} stands instead of shape, expected only one of the two.")
    given = _as_array(images)
    if given is None or given.dtype.kind == "O":
        return _of_many_sizes(images, n, name)
    if len(given.shape) < 3 or len(given) != n or not _is_picture(given.shape[1:]):
        raise ValueError(
            f"{name} must have shape ({n}, h, w) or ({n}, h, w, 3), a picture for each row, or be "
            f"a list of such pictures, got {given.shape}{_hint(given.shape[1:])}."
        )
    _check_finite(given, name)
    return lambda rows: given[rows].astype(np.float64)


def _of_many_sizes(images: Any, n: int, name: str) -> Find:
    pictures = [_as_array(one) for one in images] if isinstance(images, Iterable) else []
    if len(pictures) != n:
        raise ValueError(f"{name} has {len(pictures)} pictures, expected one for each of {n} rows.")
    kept = np.empty(n, dtype=object)
    for i, one in enumerate(pictures):
        if one is None or not _is_picture(one.shape):
            found = "rows of different lengths" if one is None else f"{one.shape}{_hint(one.shape)}"
            raise ValueError(f"{name}[{i}] must have shape (h, w) or (h, w, 3), got {found}.")
        _check_finite(one, f"{name}[{i}]")
        kept[i] = one

    def find(rows: Ints) -> Pictures:
        found = np.empty(rows.shape, dtype=object)
        for place in np.ndindex(rows.shape):
            found[place] = kept[rows[place]].astype(np.float64)
        return found

    return find


def _as_array(images: Any) -> npt.NDArray[Any] | None:
    """As an array; None if parts differ in size."""
    try:
        return np.asarray(images)
    except ValueError:
        return None


def _check_finite(pictures: npt.NDArray[Any], name: str) -> None:
    if pictures.dtype.kind not in "fiub" or not np.isfinite(pictures).all():
        raise ValueError(f"{name} must hold finite numbers, got dtype {pictures.dtype}.")


def _is_picture(shape: tuple[int, ...]) -> bool:
    return (len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)) and min(shape) > 0


def _hint(shape: tuple[int, ...]) -> str:
    """How to make a picture of one that has another number or order of channels."""
    if len(shape) != 3:
        return ""
    if shape[2] == 4:
        return ": leave the opacity out by [..., :3]"
    if shape[2] == 1:
        return ": leave the axis of one channel out by [..., 0]"
    if shape[0] in (1, 3, 4):
        return ": move the channels to the end by np.moveaxis(..., -3, -1)"
    return ""
