"""Read files into tables, by extension; an error about a file is one sentence."""

from __future__ import annotations

import csv
import os
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ..._support.files import readable
from .limits import check_size
from .numpy_files import read_npy, read_npz
from .parquet_files import read_parquet
from .table import Table, about
from .text_files import read_csv, read_jsonl, read_stream, read_svmlight, read_tsv

_INPUT = "standard input"
_SPREADSHEETS = {".xlsx", ".xls", ".xlsm", ".ods"}


def read(path: str) -> Table:
    """Read the table in a file, or CSV from standard input for ``-``."""
    if path == "-":
        if sys.stdin is None:
            raise ValueError(f"{_INPUT} is closed, expected a table as CSV.")
        return _whole(_INPUT, lambda: read_stream(sys.stdin, _INPUT))
    file = Path(path)
    with readable(file):
        reader = _READERS.get("".join(file.suffixes[-2:]).lower()) or _READERS.get(
            file.suffix.lower()
        )
        if file.suffix.lower() in _SPREADSHEETS:
            raise ValueError(
                f"{path} is a spreadsheet, expected a text file: save it as CSV (UTF-8), or "
                f"convert it in Python: pandas.read_excel({path!r}).to_csv('NEW.csv', index=False)."
            )
        if reader is None:
            raise ValueError(f"{path}: the extension must be one of {', '.join(_READERS)}.")
        return _whole(path, lambda: reader(file))


def once(paths: Sequence[str]) -> Sequence[str]:
    """The paths; raise if a file is given twice, since its rows would count twice."""
    known: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if real in known:
            raise ValueError(f"{path} is given twice, expected each file once.")
        known.add(real)
    return paths


def _whole(name: str, read: Callable[[], Table]) -> Table:
    """Read a table; an error of any reader becomes a ValueError that names the file."""
    try:
        return read()
    except (OSError, ImportError, MemoryError):
        raise
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text.") from None
    except (csv.Error, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is not complete, or is no such file: {error}.") from None
    except ValueError as error:
        message = str(error)
        raise ValueError(message if message.startswith(name) else about(name, message)) from None
    except Exception as error:
        # A damaged file makes other libraries fail in ways that they do not list.
        said = f"{type(error).__name__}: {error}".rstrip(".: ")
        raise ValueError(f"{name} is damaged, or is no such file ({said}).") from None


def _study(path: Path) -> Table:
    """The answers in a study file of `sdpmetric ask`."""
    from ...responses.study_files import read_study

    check_size(path.stat().st_size)
    return Table(str(path), dict(read_study(path)[1]))


_READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".csv.gz": read_csv,
    ".tsv.gz": read_tsv,
    ".jsonl.gz": read_jsonl,
    ".npy": read_npy,
    ".npz": read_npz,
    ".parquet": read_parquet,
    ".jsonl": read_jsonl,
    ".svmlight": read_svmlight,
    ".db": _study,
}
