"""Sparse rows from the arrays of a file; their shape is checked before it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._support.typing import Dense, Rows
from ...linalg.items import as_csr
from .limits import check_size

_COMPRESSED = ("csr", "csc", "bsr")
# Bytes that each column of a sparse table counts for: a fit works with a good number of vectors as
# long as a row, however few entries are stored.
_COLUMN = 256


def is_sparse(held: Mapping[str, Dense]) -> bool:
    """Whether arrays are those of a file that ``scipy.sparse.save_npz`` wrote."""
    return {"format", "shape", "data"} <= held.keys()


def sparse_rows(held: Mapping[str, Dense]) -> Rows:
    """The CSR matrix that arrays of ``scipy.sparse.save_npz`` describe."""
    kind, shape, data = _text(held["format"]), held["shape"], held["data"]
    if shape.dtype.kind not in "iu" or shape.shape != (2,):
        raise ValueError(f"holds a sparse matrix of shape {shape.tolist()}, expected two numbers.")
    n, D = (int(size) for size in shape)
    check_sparse_size(n, D, data.size)
    if kind in _COMPRESSED:
        given: Any = data, _array(held, "indices"), _array(held, "indptr")
    elif kind == "dia":
        given = data, _array(held, "offsets")
        if not np.all((-n < given[1]) & (given[1] < D)):
            raise ValueError("holds a sparse matrix with a diagonal outside its shape.")
    elif kind == "coo" and "coords" in held:
        given = data, tuple(_array(held, "coords", ndim=2))
    elif kind == "coo":
        given = data, (_array(held, "row"), _array(held, "col"))
    else:
        raise ValueError(f"holds a sparse matrix of the format {kind!r}, expected 'csr'.")
    return as_csr(getattr(sp, f"{kind}_array")(given, shape=(n, D)), "it")


def check_sparse_size(n: int, D: int, stored: int) -> None:
    """Raise ValueError if a sparse table of this shape is larger than the limit."""
    if n < 1 or D < 1:
        raise ValueError(f"holds a sparse matrix of shape ({n}, {D}), expected rows and columns.")
    # An entry has a number and a column; conversions between formats hold them twice.
    size = 32 * stored + 16 * n + _COLUMN * D
    check_size(size, f"has {n:,} rows and {D:,} columns, which count for", "")


def _array(held: Mapping[str, Dense], name: str, ndim: int = 1) -> Dense:
    """An array of indices; SciPy would cast other numbers, and read another table."""
    if name not in held:
        raise ValueError(f"holds a sparse matrix without {name!r}.")
    found = held[name]
    if found.dtype.kind not in "iu" or found.ndim != ndim:
        raise ValueError(
            f"holds a sparse matrix whose {name!r} has the type {found.dtype} and {found.ndim} "
            f"dimension(s), expected whole numbers in {ndim}."
        )
    return found


def _text(value: Dense) -> str:
    # SciPy before 1.0 wrote bytes.
    return str(value.astype(str).item()) if value.ndim == 0 else "?"
