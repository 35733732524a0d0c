"""Read .parquet files: by their footer first, then a few rows at a time, up to the limit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.optional import check_installed
from ..._support.text import shorten
from .limits import OBJECT, check_size, max_bytes
from .parquet_footer import Chunk, read_chunks
from .table import Table

_FLOATS, _TEXTS = ("FLOAT", "DOUBLE"), ("TEXT", "BYTES")
_ROWS = 65_536  # of a batch, as pyarrow reads them


def read_parquet(path: Path) -> Table:
    """Read all columns: numbers and vectors as arrays, everything else as Python objects."""
    check_installed("pyarrow", f"{path}: a parquet file")
    import pyarrow.parquet

    chunks = read_chunks(path)
    check_size(sum(map(_memory, chunks)))
    with pyarrow.parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        if len(set(schema.names)) < len(schema):
            shown = shorten(", ".join(schema.names), 300)
            raise ValueError(f"the columns must have different names, got {shown}.")
        check_size(file.metadata.num_rows * sum(_fixed_width(field.type) for field in schema))
        plain = [field.name for field in schema if _is_plain(field.type)]
        others = [name for name in schema.names if name not in set(plain)]
        columns: dict[str, Any] = {}
        for names, n_rows in ((plain, _ROWS), (others, _batch_rows(chunks))):
            if names:
                columns |= _read(file, names, n_rows)
    return Table(str(path), {name: _cells(columns[name]) for name in schema.names})


def _memory(chunk: Chunk) -> int:
    """Memory of a column; runs of the same value take next to none in the file."""
    if chunk.kind in _TEXTS or (chunk.nested and chunk.kind not in _FLOATS):
        return chunk.n_values * OBJECT + chunk.n_bytes
    return chunk.n_values * 8


def _batch_rows(chunks: Sequence[Chunk]) -> int:
    """Rows of a batch such that one text, repeated in each of them, stays within the limit."""
    # No text is longer than all of them together.
    longest = max((chunk.n_bytes for chunk in chunks if chunk.kind in _TEXTS), default=1)
    return max(1, min(_ROWS, max_bytes() // max(1, longest)))


def _fixed_width(kind: Any, *, inside: bool = False) -> int:
    """Bytes that a type of fixed size takes in every row, also in a row that holds nothing."""
    from pyarrow import types

    vectors, fixed = types.is_fixed_size_list(kind), types.is_fixed_size_binary(kind)
    if inside and (vectors or fixed or types.is_dictionary(kind)):
        raise ValueError(f"has {kind} inside of another type, expected plain lists.")
    fields = (kind.field(i).type for i in range(kind.num_fields))
    width = sum(_fixed_width(one, inside=True) for one in fields)
    return int(kind.byte_width) if fixed else 8 * int(kind.list_size) if vectors else width


def _read(file: Any, names: Sequence[str], n_rows: int) -> dict[str, Any]:
    import pyarrow

    parts: dict[str, list[Any]] = {name: [] for name in names}
    size = 0
    for batch in file.iter_batches(n_rows, columns=names):
        # A dictionary repeats a text as often as it likes: only the batches show how long it is.
        size += batch.nbytes
        check_size(size)
        for name, arrays in parts.items():
            arrays.append(batch.column(name))
    kinds = {name: file.schema_arrow.field(name).type for name in names}
    return {name: pyarrow.chunked_array(arrays, kinds[name]) for name, arrays in parts.items()}


def _cells(column: Any) -> Any:
    from pyarrow import types

    kind = column.type
    if _is_plain(kind):
        return column.to_numpy()
    if types.is_dictionary(kind):
        return [cell for part in column.chunks for cell in _words(part)]
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if lists and types.is_floating(kind.value_type):
        return [cell for part in column.chunks for cell in _vectors(part)]
    # Text and lists stay as they are, and missing cells are None.
    return column.to_pylist()


def _words(part: Any) -> list[Any]:
    """Cells of a dictionary: each word once in memory, however many cells it stands in."""
    words = part.dictionary.to_pylist()
    return [None if at is None else words[at] for at in part.indices.to_pylist()]


def _vectors(part: Any) -> list[Any]:
    """Lists of numbers as arrays: as Python's numbers they would take five times the memory."""
    import pyarrow.compute as pc

    sizes = pc.list_value_length(part)
    numbers = part.flatten().to_numpy(zero_copy_only=False)
    ends = np.cumsum(sizes.fill_null(0).to_numpy(zero_copy_only=False))
    return [
        None if size is None else numbers[end - size : end]
        for size, end in zip(sizes.to_pylist(), ends.tolist(), strict=True)
    ]


def _is_plain(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))
