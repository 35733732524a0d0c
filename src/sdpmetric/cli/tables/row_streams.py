"""Rows of numbers from Parquet and Zarr, a block at a time, however large the file is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.optional import check_installed
from ..._support.text import shorten
from ..._support.typing import Dense

__all__ = ["RowStream", "open_rows"]

_BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class RowStream:
    """Rows of a file.

    Attributes
    ----------
    name : of the file, for messages
    columns : their names
    single : whether float32 holds every number
    n_rows : number of rows
    blocks : the rows, in order, as tables of numbers
    """

    name: str
    columns: Sequence[str]
    single: bool
    n_rows: int
    blocks: Iterator[Dense]

    def check(self, block: Dense, first: int) -> None:
        """Raise ValueError if a number of a block, whose first row is given, is not finite."""
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"{self.name}, row {first + row + 1}: {self.columns[column]!r} is "
                f"{block[row, column]}, expected a finite number."
            )


def open_rows(path: Path, drop: Collection[str]) -> RowStream:
    """Open a file by its extension; ``drop`` are columns to leave out."""
    openers = {".parquet": _parquet, ".zarr": _zarr}
    opener = openers.get(path.suffix.lower())
    if opener is None:
        raise ValueError(f"{path}: the extension must be one of {', '.join(openers)}.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    return opener(path, drop)


def _parquet(path: Path, drop: Collection[str]) -> RowStream:
    check_installed("pyarrow", f"{path}: a parquet file")
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} is no Parquet file: {shorten(str(error), 200)}") from None
    names = file.schema_arrow.names
    unknown = [name for name in drop if name not in names]
    if unknown:
        known = shorten(", ".join(map(repr, names)), 300)
        raise ValueError(f"{path} has no column {unknown[0]!r}; it has {known}.")
    fields = [_Field(path, field) for field in file.schema_arrow if field.name not in drop]
    columns = [name for field in fields for name in field.names]
    if not columns or not file.metadata.num_rows:
        raise ValueError(f"{path} has no rows or no columns, expected a table of numbers.")
    rows = max(1, _BLOCK_BYTES // (8 * len(columns)))

    def blocks() -> Iterator[Dense]:
        with file:
            for batch in file.iter_batches(rows, columns=[field.name for field in fields]):
                yield np.hstack([field.numbers(batch.column(field.name)) for field in fields])

    single = all(field.single for field in fields)
    return RowStream(str(path), columns, single, file.metadata.num_rows, blocks())


class _Field:
    """A column of numbers, or of vectors of one length."""

    def __init__(self, path: Path, field: Any) -> None:
        from pyarrow import types

        self.name, kind = field.name, field.type
        self.width = kind.list_size if types.is_fixed_size_list(kind) else None
        if self.width is not None:
            kind = kind.value_type
        if not (types.is_floating(kind) or types.is_integer(kind)):
            raise ValueError(
                f"{path}: the column {field.name!r} holds {shorten(str(field.type), 60)}, expected "
                "numbers, or vectors of fixed size (--drop leaves a column out)."
            )
        self.single = types.is_float32(kind) or types.is_float16(kind)

    @property
    def names(self) -> list[str]:
        return (
            [self.name] if self.width is None else [f"{self.name}_{i}" for i in range(self.width)]
        )

    def numbers(self, column: Any) -> Dense:
        """The column as a table; what is missing is NaN."""
        if self.width is None:
            return np.asarray(column.to_numpy(zero_copy_only=False))[:, None]
        out = np.full((len(column), self.width), np.nan, np.float32 if self.single else np.float64)
        # `flatten` leaves out vectors that are missing.
        present = ~np.asarray(column.is_null())
        out[present] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, self.width)
        return out


def _zarr(path: Path, drop: Collection[str]) -> RowStream:
    check_installed("zarr", f"{path}: a Zarr array")
    import zarr

    if drop:
        raise ValueError(f"{path} has no named columns, so --drop can leave none out.")
    try:
        array: Any = zarr.open_array(path, mode="r")
    except Exception as error:  # zarr has no error of its own for all that can be wrong
        raise ValueError(f"{path} is no Zarr array: {shorten(str(error), 200)}") from None
    if array.ndim != 2 or array.dtype.kind not in "fiu" or 0 in array.shape:
        raise ValueError(
            f"{path} holds {array.dtype} of shape {array.shape}, expected a table of numbers."
        )
    codecs = (*array.compressors, *array.filters)
    if any("pickle" in f"{type(codec)} {codec}".lower() for codec in codecs):
        raise ValueError(f"{path} is stored as pickles, which could run code; expected numbers.")
    n, width = array.shape
    # Whole chunks, so that none is read twice.
    chunk = array.chunks[0]
    step = max(chunk, _BLOCK_BYTES // (8 * width) // chunk * chunk)
    blocks = (np.asarray(array[start : start + step]) for start in range(0, n, step))
    single = array.dtype in (np.float16, np.float32)
    return RowStream(str(path), [f"x{i}" for i in range(width)], single, n, blocks)
