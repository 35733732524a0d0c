"""The lines of a text file: plain or gzip, UTF-8 or UTF-16; other encodings get a hint."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..._support.text import shorten, visible
from .limits import check_size, max_bytes

_SHOWN = 40  # characters of a line that a message shows
_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, which Excel calls Unicode text
_CONVERT = "Save it as UTF-8, or convert it: iconv -f {} -t UTF-8 FILE > NEW."


@contextmanager
def text_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open a text file and yield its lines, until these are longer than the limit."""
    check_size(path.stat().st_size)
    try:
        with _opened(path) as file:
            head = file.peek(4)
            if head[:4] == b"PK\x03\x04":
                raise ValueError("is a zip archive such as a spreadsheet, expected text.")
            if b"\x00" in head[:4] and head[:2] not in _MARKS:
                raise ValueError(f"holds zero bytes; is it UTF-16? {_CONVERT.format('UTF-16LE')}")
            # "utf-8-sig" leaves out the mark that Excel writes before the first name.
            encoding = "utf-16" if head[:2] in _MARKS else "utf-8-sig"
            with io.TextIOWrapper(file, encoding=encoding, newline="") as text:
                yield limited(text)
    except UnicodeDecodeError:
        raise ValueError(_not_utf8(path)) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"is not complete, or is no gzip file: {error}.") from None


def limited(file: IO[str]) -> Iterator[str]:
    """The lines of a stream, which may have no end, until these are longer than the limit."""
    left = min(max_bytes(), sys.maxsize - 1)
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            check_size(max_bytes() - left)
        yield line


def _opened(path: Path) -> Any:
    return gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb")


def _not_utf8(path: Path) -> str:
    """Say which line is not UTF-8, and which encoding it may be instead."""
    number, line = _undecodable(path)
    as_windows = line.decode("cp1252", errors="replace").strip()
    if "\ufffd" in as_windows or not as_windows.replace("\t", "").isprintable():
        return "is not UTF-8 text."
    return (
        f"is not UTF-8 text; as Latin-1 or Windows text, line {number} is "
        f"{visible(shorten(as_windows, _SHOWN))!r}. {_CONVERT.format('WINDOWS-1252')}"
    )


def _undecodable(path: Path) -> tuple[int, bytes]:
    """The first line that is not UTF-8, and its number; the last line if all are."""
    number, line = 0, b""
    with _opened(path) as file:
        while more := file.readline(1 << 20):  # the start of a long line is enough
            number, line = number + 1, more
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return number, line
