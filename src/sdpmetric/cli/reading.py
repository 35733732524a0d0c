"""Files to tables, by extension; what is wrong with a file is said in one sentence."""

from __future__ import annotations

import csv
import json
import sys
import zipfile
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..files import readable
from .table import Table, about

__all__ = ["read"]

_DELIMITERS = ",;\t"


def read(path: str) -> Table:
    """The table in a file, or CSV from standard input for ``-``."""
    if path == "-":
        return _whole("standard input", lambda: _from_csv(sys.stdin, "standard input"))
    file = Path(path)
    with readable(file):
        reader = _READERS.get(file.suffix.lower())
        if reader is None:
            raise ValueError(f"{path}: the extension must be one of {', '.join(_READERS)}.")
        return _whole(path, lambda: reader(file))


def _whole(name: str, read: Callable[[], Table]) -> Table:
    try:
        return read()
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text.") from None
    except (csv.Error, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is not complete, or is no such file: {error}.") from None
    except ValueError as error:
        message = str(error)
        raise ValueError(message if message.startswith(name) else about(name, message)) from None


def _csv(path: Path) -> Table:
    with open(path, newline="", encoding="utf-8-sig") as file:
        return _from_csv(file, str(path))


def _from_csv(lines: Iterable[str], name: str) -> Table:
    lines = iter(lines)
    first = next(lines, "")
    delimiter = max(_DELIMITERS, key=first.count)
    header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])]
    if not any(header):
        raise ValueError("is empty, expected a line with the names of the columns.")
    if len(set(header)) < len(header) or "" in header:
        raise ValueError(f"the columns must have different names, got {', '.join(header)}.")
    if all(_is_number(cell) for cell in header):
        raise ValueError("the first line holds numbers, expected the names of the columns.")
    rows, numbers = [], []
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for row in reader:
        line = reader.line_num + 1
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(f"line {line} has {len(row)} cells, expected {len(header)}.")
        rows.append(row)
        numbers.append(line)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return Table(name, dict(zip(header, columns, strict=True)), lines=numbers)


def _jsonl(path: Path) -> Table:
    rows, numbers = [], []
    names: list[str] = []
    with open(path, encoding="utf-8") as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except json.JSONDecodeError as error:
                raise ValueError(f"line {line} is not JSON: {error.msg}.") from None
            if not isinstance(row, dict):
                raise ValueError(f"line {line} is no JSON object.")
            names = names or list(row)
            if set(row) != set(names):
                raise ValueError(f"line {line} has {sorted(row)}, expected {sorted(names)}.")
            rows.append(row)
            numbers.append(line)
    return Table(str(path), {n: [row[n] for row in rows] for n in names}, lines=numbers)


def _npy(path: Path) -> Table:
    X = np.load(path, mmap_mode="r", allow_pickle=False)
    if X.ndim == 1:
        return Table(str(path), {path.stem: X})
    return Table(str(path), {}, _numeric(X))


def _npz(path: Path) -> Table:
    with np.load(path, allow_pickle=False) as file:
        if "indptr" in file:
            import scipy.sparse as sp

            return Table(str(path), {}, sp.csr_array(sp.load_npz(path)))
        held = dict(file)
    blocks = [name for name, array in held.items() if array.ndim == 2]
    if len(blocks) > 1:
        raise ValueError(f"has several tables, {', '.join(blocks)}; expected one.")
    block = _numeric(held.pop(blocks[0])) if blocks else None
    return Table(str(path), held, block)


def _numeric(X: Any) -> Any:
    if X.dtype.kind not in "biuf":
        raise ValueError(f"holds {X.dtype}, expected numbers.")
    return X


def _parquet(path: Path) -> Table:
    if find_spec("pyarrow") is None:
        raise ImportError(f"{path}: parquet files need pyarrow: pip install 'sdpmetric[parquet]'.")
    import pyarrow.parquet

    found = pyarrow.parquet.read_table(path)
    columns = {}
    for name, column in zip(found.column_names, found.columns, strict=True):
        plain = pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type)
        columns[name] = column.to_numpy() if plain else column.to_pylist()
    return Table(str(path), columns)


def _svmlight(path: Path) -> Table:
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), zero_based=False)  # as its author defines it
    return Table(str(path), {"label": y}, csr_array(X))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


_READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _csv,
    ".npy": _npy,
    ".npz": _npz,
    ".parquet": _parquet,
    ".jsonl": _jsonl,
    ".svmlight": _svmlight,
}
