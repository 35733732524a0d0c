"""Read .npy and .npz files: every header is checked before an array is allocated or mapped."""

from __future__ import annotations

import io
import math
import sys
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from ..._support.typing import Dense
from .limits import OBJECT, check_size
from .sparse_files import is_sparse, sparse_rows
from .table import Table

_HEADER = 10_000  # bytes, as NumPy's own limit: one dictionary of three entries
_NUMBERS, _TEXTS = "biuf", "USM"  # NumPy's kinds; dates are read as texts

Header = tuple[tuple[int, ...], "np.dtype[Any]"]


def read_npy(path: Path) -> Table:
    """Read a table of numbers or a single column; the file is mapped, whatever its size."""
    with open(path, "rb") as file:
        shape, dtype = _header(file)
        _check_stored(shape, dtype, path.stat().st_size - file.tell())
    # Mapped: embeddings may be larger than memory. No pickle: it could run code.
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not dtype.isnative:
        check_size(array.nbytes)
    return _table(path, {path.stem: array})


def read_npz(path: Path) -> Table:
    """Read arrays by name: at most one table of numbers, and columns; or a sparse matrix."""
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        names = [info.filename.removesuffix(".npy") for info in members]
        if len(set(names)) < len(names):
            raise ValueError("holds arrays of the same name.")
        check_size(sum(info.file_size for info in members))
        size = 0
        for info in members:
            with archive.open(info) as file:
                shape, dtype = _header(file)
                # The length in the archive bounds what the header of the array may ask for.
                _check_stored(shape, dtype, info.file_size - file.tell())
            size += math.prod(shape) * _memory(dtype)
        check_size(size)
        held = {}
        for name, info in zip(names, members, strict=True):
            with archive.open(info) as file:
                held[name] = npy.read_array(file, allow_pickle=False, max_header_size=_HEADER)
    if is_sparse(held):
        return Table(str(path), {}, sparse_rows(held))
    return _table(path, held)


def _header(file: Any) -> Header:
    """Shape and type of an array; the file is left behind its header."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):  # 3.0 is for names of fields, which no table has
        raise ValueError(f"is of version {version[0]}.{version[1]} of its format.")
    width = 2 * version[0]
    length = file.read(width)
    if int.from_bytes(length, "little") > _HEADER:
        raise ValueError("has a header that is too long.")
    text: BinaryIO = io.BytesIO(length + file.read(int.from_bytes(length, "little")))
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, _, dtype = read(text, max_header_size=_HEADER)
    except Exception:  # whatever can go wrong with a dictionary in Python's own words
        raise ValueError("has a header that cannot be read.") from None
    return shape, dtype


def _check_stored(shape: tuple[int, ...], dtype: np.dtype[Any], stored: int) -> None:
    """Raise unless the file holds as many bytes as its header says, of a type that can be read."""
    if dtype.kind not in _NUMBERS + _TEXTS or dtype.itemsize == 0:
        raise ValueError(f"holds {dtype}, expected numbers.")
    if any(type(size) is not int or size < 0 for size in shape):
        raise ValueError(f"holds an array of shape {shape}.")
    needed = math.prod(shape) * dtype.itemsize
    if needed > stored:
        raise ValueError(f"is not complete: it holds {stored} of {needed} bytes.")


def _memory(dtype: np.dtype[Any]) -> int:
    """Memory of an entry, with the object that a text becomes."""
    return dtype.itemsize if dtype.kind in _NUMBERS else 4 * dtype.itemsize + OBJECT


def _table(path: Path, held: dict[str, Dense]) -> Table:
    # The rows are the one array of two dimensions; arrays of one dimension are columns.
    blocks = [name for name, array in held.items() if array.ndim == 2]
    if len(blocks) > 1:
        raise ValueError(f"has several tables, {', '.join(blocks)}; expected one.")
    block = held.pop(blocks[0]) if blocks else None
    for name, array in held.items():
        if array.ndim != 1:
            raise ValueError(f"has an array {name!r} of shape {array.shape}, expected columns.")
    if block is not None and block.dtype.kind not in _NUMBERS:
        raise ValueError(f"holds {block.dtype}, expected numbers.")
    columns: dict[str, Any] = {name: _native(array) for name, array in held.items()}
    return Table(str(path), columns, None if block is None else _native(block))


def _native(array: Dense) -> Dense:
    """Entries in this machine's byte order, and texts instead of bytes."""
    if array.dtype.kind == "S":
        return array.astype(np.str_)
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    # Python fails on a number that stands for no character.
    if native.dtype.kind == "U" and native.view(np.uint32).max(initial=0) > sys.maxunicode:
        raise ValueError("holds text that is damaged.")
    return native
