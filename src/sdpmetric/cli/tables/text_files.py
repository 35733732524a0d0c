"""Read text files: CSV, JSON lines, svmlight."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ..._support.csv_text import restored
from ..._support.text import shorten
from .limits import check_size
from .sparse_files import check_sparse_size
from .table import Table, is_number
from .text_lines import limited, text_lines

_DELIMITERS = ",;\t"  # a semicolon is Excel's where the comma is the decimal mark
_SHOWN = 300  # characters of names that a message shows


def read_csv(path: Path) -> Table:
    """Read a table whose first line names the columns."""
    with text_lines(path) as lines:
        return _from_csv(lines, str(path))


def read_tsv(path: Path) -> Table:
    """Read a table with tabs between its cells; the first line names the columns."""
    with text_lines(path) as lines:
        return _from_csv(lines, str(path), "\t")


def read_stream(file: IO[str], name: str) -> Table:
    """Read CSV from standard input, which may have no end."""
    return _from_csv(limited(file), name)


def _from_csv(lines: Iterator[str], name: str, delimiter: str | None = None) -> Table:
    first = next(lines, "")
    # By the header alone: csv.Sniffer guesses from the data and takes letters for delimiters.
    delimiter = delimiter or max(_DELIMITERS, key=first.count)
    cells = next(csv.reader([first], delimiter=delimiter), [])
    header = [restored(cell.strip()) for cell in cells]
    if not any(header):
        raise ValueError("is empty, expected a line with the names of the columns.")
    if len(set(header)) < len(header) or "" in header:
        shown = shorten(", ".join(header), _SHOWN)
        raise ValueError(f"the columns must have different names, got {shown}.")
    if all(is_number(cell) for cell in header):
        raise ValueError("the first line holds numbers, expected the names of the columns.")
    rows, numbers = [], []
    for line, row in _records(lines, delimiter):
        if not row:
            continue  # an empty line, as many files have at their end
        if len(row) != len(header):
            raise ValueError(f"line {line} has {len(row)} cells, expected {len(header)}.")
        rows.append([restored(cell) for cell in row])
        numbers.append(line)
    columns: Iterable[Any] = zip(*rows, strict=True) if rows else [()] * len(header)
    named = dict(zip(header, columns, strict=True))
    return Table(name, named, lines=numbers, decimal_commas=delimiter == ";")


def _records(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows after the header, each with the line of the file on which it ends."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 2  # the header is not among the reader's lines
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            said = str(error)
            if "end of data" in said:
                said = "a quote is opened and never closed"
            elif "field limit" in said:
                said = f"a cell has more than {csv.field_size_limit():,} characters, or a quote is "
                said += "not closed"
            raise ValueError(f"line {start} is no row of a table: {said}.") from None
        yield reader.line_num + 1, row


def read_jsonl(path: Path) -> Table:
    """Read a table with a JSON object in each line; its keys name the columns."""
    rows, numbers = [], []
    names: list[str] = []
    with text_lines(path) as lines:
        for line, text in enumerate(lines, 1):
            if not text.strip():
                continue
            row = _row(text, line)
            # The first line decides, since a missing key is more often a mistake than a missing
            # value.
            names = names or list(row)
            if set(row) != set(names):
                found, expected = (shorten(str(sorted(keys)), _SHOWN) for keys in (row, names))
                raise ValueError(f"line {line} has {found}, expected {expected}.")
            rows.append(row)
            numbers.append(line)
    return Table(str(path), {n: [row[n] for row in rows] for n in names}, lines=numbers)


def _row(text: str, line: int) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {line} is not JSON: {error.msg}.") from None
    except ValueError:  # Python's limit for the digits of an integer
        raise ValueError(f"line {line} holds a number with too many digits.") from None
    except RecursionError:
        raise ValueError(f"line {line} is nested too deeply.") from None
    if not isinstance(row, dict):
        raise ValueError(f"line {line} is not a JSON object.")
    return row


def read_svmlight(path: Path) -> Table:
    """Read sparse rows, and their labels as the column ``label``."""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    check_size(path.stat().st_size)
    # From one, as the format's author defines it: a guess would depend on the file's first columns.
    X, y = load_svmlight_file(str(path), zero_based=False)
    check_sparse_size(X.shape[0], X.shape[1], X.nnz)
    return Table(str(path), {"label": y}, csr_array(X))
