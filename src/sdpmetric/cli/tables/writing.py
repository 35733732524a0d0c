"""Write tables to files, by extension; a file is written completely or not at all."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..._support.csv_text import csv_text
from ..._support.files import as_path, as_target, replacing
from ..._support.optional import check_installed
from ..._support.text import visible

Columns = dict[str, Any]  # sequences of equal length


def check_target(path: str) -> None:
    """Raise, before any work is done, if a table cannot be written to this path."""
    if path != "-":
        check_writable(path, _WRITERS)


def check_writable(path: str, suffixes: Iterable[str] = ()) -> None:
    """Raise, before any work is done, if a file cannot be written to this path."""
    known = tuple(suffixes)
    if known and Path(path).suffix.lower() not in known:
        raise ValueError(f"{path}: the extension must be one of {', '.join(known)}.")
    target = as_target(as_path(path))
    # The folder, not the file: a new file is written beside and then renamed.
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"Cannot write {path}: the folder {target.parent} cannot be written to.")


def write(path: str, columns: Columns) -> None:
    """Write columns to a file, or as CSV to standard output for ``-``."""
    if path == "-":
        text = _as_csv(columns)
        # A terminal would obey control sequences in the table; a program reads the table as it is,
        # and color=True keeps click from taking such sequences out of it.
        shown = visible(text, keep="\n") if _on_terminal() else text
        click.echo(shown, nl=False, color=True)
        return
    target = Path(path)
    writer = _WRITERS[target.suffix.lower()]
    with replacing(target) as temporary:
        writer(temporary, columns, path)


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _as_csv(columns: Columns) -> str:
    return csv_text({name: _as_list(cells) for name, cells in columns.items()})


def _csv(target: Path, columns: Columns, name: str) -> None:
    # As bytes: text mode would turn the \n inside of cells into \r\n on Windows.
    target.write_bytes(_as_csv(columns).encode())


def _jsonl(target: Path, columns: Columns, name: str) -> None:
    cells = zip(*map(_as_list, columns.values()), strict=True)
    rows = (dict(zip(columns, row, strict=True)) for row in cells)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    target.write_text("".join(lines), encoding="utf-8")


def _npy(target: Path, columns: Columns, name: str) -> None:
    arrays = {n: np.asarray(cells) for n, cells in columns.items()}
    texts = [n for n, array in arrays.items() if array.dtype.kind not in "biuf"]
    if texts:
        raise ValueError(f"{name}: .npy holds only numbers, not {texts[0]!r}; try .npz or .csv.")
    data = io.BytesIO()
    np.save(data, np.stack(list(arrays.values()), axis=1))
    # Not by its name: np.save may lose the last bytes without an error if the disk is full.
    target.write_bytes(data.getbuffer())


def _npz(target: Path, columns: Columns, name: str) -> None:
    """Write columns of floats as one array X, and other columns by name."""
    arrays = {n: np.asarray(cells) for n, cells in columns.items()}
    block = [array for array in arrays.values() if array.dtype.kind == "f"]
    rest: dict[str, Any] = {n: a for n, a in arrays.items() if a.dtype.kind != "f"}
    np.savez(target, **(rest | {"X": np.stack(block, axis=1)} if block else rest))


def _parquet(target: Path, columns: Columns, name: str) -> None:
    check_installed("pyarrow", f"{name}: a parquet file")
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({n: pyarrow.array(_as_list(cells)) for n, cells in columns.items()})
    pyarrow.parquet.write_table(table, target)


def _svmlight(target: Path, columns: Columns, name: str) -> None:
    """Write numbers after the column ``label``, or after zeros if there is none."""
    from sklearn.datasets import dump_svmlight_file

    arrays = {n: np.asarray(cells) for n, cells in columns.items()}
    y = arrays.pop("label", None)
    for n, array in (arrays | ({} if y is None else {"label": y})).items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name}: .svmlight holds only numbers, not {n!r}; try .csv.")
    X = np.stack(list(arrays.values()), axis=1)
    dump_svmlight_file(X, np.zeros(len(X)) if y is None else y, str(target), zero_based=False)


def _as_list(cells: Any) -> list[Any]:
    """Cells as Python objects: NumPy's would print as ``np.float64(1.0)``."""
    if hasattr(cells, "tolist"):
        listed: list[Any] = cells.tolist()
        return listed
    return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells]


_WRITERS: dict[str, Callable[[Path, Columns, str], None]] = {
    ".csv": _csv,
    ".npy": _npy,
    ".npz": _npz,
    ".parquet": _parquet,
    ".jsonl": _jsonl,
    ".svmlight": _svmlight,
}
