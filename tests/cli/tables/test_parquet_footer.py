"""Sizes from the footer of a .parquet file, against pyarrow's own; damaged footers are refused."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdpmetric.cli.tables.parquet_footer import read_chunks
from sdpmetric.cli.tables.reading import read

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")


def table(n: int = 100) -> Any:
    return pa.table(
        {
            "x": np.arange(n) * 0.5,
            "i": pa.array(range(n), pa.int32()),
            "t": [f"text {i % 7}" for i in range(n)],
            "b": [True, None] * (n // 2),
            "v": [[1.0, 2.0, 3.0]] * n,
            "s": [{"a": i, "b": str(i)} for i in range(n)],
            "f": pa.array([b"abcd"] * n, pa.binary(4)),
        }
    )


@pytest.mark.parametrize("options", [{}, {"row_group_size": 30}, {"compression": "none"}])
def test_sizes_are_those_that_pyarrow_finds(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(table(), path, **options)
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    columns = [group.column(i) for group in groups for i in range(group.num_columns)]
    names = {"BYTE_ARRAY": "TEXT", "FIXED_LEN_BYTE_ARRAY": "BYTES"}
    expected = [
        (
            names.get(column.physical_type, column.physical_type),
            "." in column.path_in_schema,
            column.num_values,
            column.total_uncompressed_size,
        )
        for column in columns
    ]
    found = read_chunks(path)
    assert [(c.kind, c.nested, c.n_values, c.n_bytes) for c in found] == expected


def test_no_damaged_footer_gets_past(tmp_path: Path) -> None:
    """Every byte of a footer in turn: sizes are found, or a ValueError comes."""
    data = io.BytesIO()
    pq.write_table(table(4).select(["x", "t"]), data, compression="none")
    whole = data.getvalue()
    length = int.from_bytes(whole[-8:-4], "little")
    path = tmp_path / "t.parquet"
    refused = 0
    for at in range(len(whole) - 8 - length, len(whole)):
        for byte in (0, 255, whole[at] ^ 1):
            path.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
            try:
                read_chunks(path)
            except ValueError:
                refused += 1
    assert refused > length // 4


def test_cells_are_those_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    given = table().append_column("c", pa.array(["u", None] * 50).dictionary_encode())
    given = given.append_column("a.b", pa.array(range(100)))
    pq.write_table(given, path, row_group_size=30)
    found = read(str(path)).columns
    assert list(found) == given.column_names
    for name, cells in found.items():
        listed = [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells]
        assert listed == given.column(name).to_pylist()


def test_vectors_with_gaps(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    vectors = [[1.0, None], None, [], [2.0]]
    kinds = {"v": pa.list_(pa.float32()), "w": pa.large_list(pa.float64())}
    pq.write_table(pa.table({n: pa.array(vectors, kind) for n, kind in kinds.items()}), path)
    for cells in read(str(path)).columns.values():
        np.testing.assert_array_equal(cells[0], [1.0, np.nan])
        assert cells[1] is None
        assert [list(cell) for cell in cells[2:]] == [[], [2.0]]


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), path)
    with pytest.raises(ValueError, match="must have different names, got x, x"):
        read(str(path))


def test_categories_share_their_words(tmp_path: Path) -> None:
    """A text of a megabyte that stands in each of 3,000 rows is one text in memory."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array(["u" * 10**6] * 3000).dictionary_encode()}), path)
    cells = read(str(path)).columns["x"]
    assert len({id(cell) for cell in cells}) < 10  # one for each part of the file
