"""Tables to files, by extension; whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..files import replacing

__all__ = ["check_target", "check_writable", "write"]

Columns = dict[str, Any]  # sequences of equal length


def check_target(path: str) -> None:
    """Before any work: can a table be written there?"""
    if path != "-":
        check_writable(path, _WRITERS)


def check_writable(path: str, suffixes: Iterable[str] = ()) -> None:
    """Before any work: would a file of that name be written?"""
    target, known = Path(path), tuple(suffixes)
    if target.is_dir():
        raise ValueError(f"{path} is a folder, expected the name of a file.")
    if known and target.suffix.lower() not in known:
        raise ValueError(f"{path}: the extension must be one of {', '.join(known)}.")
    if not target.parent.is_dir():
        raise ValueError(f"Cannot write {path}: there is no folder {target.parent}.")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"Cannot write {path}: permission denied.")


def write(path: str, columns: Columns) -> None:
    """Write columns to a file, or as CSV to standard output for ``-``."""
    if path == "-":
        click.echo(_as_csv(columns), nl=False)
        return
    target = Path(path)
    writer = _WRITERS[target.suffix.lower()]
    with replacing(target) as temporary:
        writer(temporary, columns, path)


def _as_csv(columns: Columns) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*map(_plain, columns.values()), strict=True))
    return text.getvalue()


def _csv(target: Path, columns: Columns, name: str) -> None:
    target.write_text(_as_csv(columns), encoding="utf-8")


def _jsonl(target: Path, columns: Columns, name: str) -> None:
    cells = zip(*map(_plain, columns.values()), strict=True)
    rows = (dict(zip(columns, row, strict=True)) for row in cells)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    target.write_text("".join(lines), encoding="utf-8")


def _npy(target: Path, columns: Columns, name: str) -> None:
    arrays = {n: np.asarray(cells) for n, cells in columns.items()}
    texts = [n for n, array in arrays.items() if array.dtype.kind not in "biuf"]
    if texts:
        raise ValueError(f"{name}: .npy holds numbers alone, not {texts[0]!r}; try .npz or .csv.")
    np.save(target, np.stack(list(arrays.values()), axis=1))


def _npz(target: Path, columns: Columns, name: str) -> None:
    """Numbers with a fraction in one block X, other columns by name."""
    arrays = {n: np.asarray(cells) for n, cells in columns.items()}
    block = [array for array in arrays.values() if array.dtype.kind == "f"]
    rest: dict[str, Any] = {n: a for n, a in arrays.items() if a.dtype.kind != "f"}
    np.savez(target, **(rest | {"X": np.stack(block, axis=1)} if block else rest))


def _parquet(target: Path, columns: Columns, name: str) -> None:
    if find_spec("pyarrow") is None:
        raise ImportError(f"{name}: parquet files need pyarrow: pip install 'sdpmetric[parquet]'.")
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({n: pyarrow.array(_plain(cells)) for n, cells in columns.items()})
    pyarrow.parquet.write_table(table, target)


def _svmlight(target: Path, columns: Columns, name: str) -> None:
    """Numbers, after the column ``label`` or zeros."""
    from sklearn.datasets import dump_svmlight_file

    arrays = {n: np.asarray(cells) for n, cells in columns.items()}
    y = arrays.pop("label", None)
    for n, array in (arrays | ({} if y is None else {"label": y})).items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name}: .svmlight holds numbers alone, not {n!r}; try .csv.")
    X = np.stack(list(arrays.values()), axis=1)
    dump_svmlight_file(X, np.zeros(len(X)) if y is None else y, str(target), zero_based=False)


def _plain(cells: Any) -> list[Any]:
    listed: list[Any] = cells.tolist() if hasattr(cells, "tolist") else list(cells)
    return listed


_WRITERS: dict[str, Callable[[Path, Columns, str], None]] = {
    ".csv": _csv,
    ".npy": _npy,
    ".npz": _npz,
    ".parquet": _parquet,
    ".jsonl": _jsonl,
    ".svmlight": _svmlight,
}
