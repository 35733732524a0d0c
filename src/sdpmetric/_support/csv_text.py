"""Tables as CSV, without cells that a spreadsheet would run as formulas.

Excel and its kin run a cell that starts with one of the characters below, also if it came from
somebody else's file. An apostrophe before it makes it text. We write that apostrophe and take it
away when we read, so that names survive the way through a file. Numbers such as -1.5 stay as they
are. Where decimals have a comma, these programs divide lines at semicolons, and do not know our
quotes: a part of a cell, or a line of it, can become a cell of its own.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping

# The last four are wide forms.
_FORMULA = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_STARTS = f"{_FORMULA}\t\r\n"  # some programs skip tabs and ends of lines
_RISKY = re.compile(f"'*[{_STARTS}]")
_MARKED = re.compile(f"'+[{_STARTS}]")
_DIGITS = r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)"
_NUMBER = re.compile(_DIGITS, re.IGNORECASE | re.ASCII)
# Places inside of a cell: after what may divide it, before what would run. What may stand between
# divides nothing, so that a long cell is read once.
_AFTER, _BEFORE = "(?<=[;\t\r\n])", f"(?=[\"' \xa0]*[{_FORMULA}])"
_PLACE = re.compile(rf"{_AFTER}(?!{_DIGITS}(?:[;\t\r\n]|\Z)){_BEFORE}", re.IGNORECASE | re.ASCII)
_MARKED_PLACE = re.compile(f"{_AFTER}'{_BEFORE}", re.ASCII)


def neutral(cell: object) -> object:
    """A cell as it is written; only texts are changed.

    >>> neutral("=1+2"), neutral("-1.5"), neutral("'-x"), neutral(-1.5), neutral("a;=1+2")
    ("'=1+2", '-1.5', "''-x", -1.5, "a;'=1+2")
    """
    if not isinstance(cell, str):
        return cell
    text = _PLACE.sub("'", cell)
    return f"'{text}" if _RISKY.match(cell) and not _NUMBER.fullmatch(cell) else text


def restored(cell: str) -> str:
    """A cell as it was before it was written.

    >>> restored("'=1+2"), restored("-1.5"), restored("''-x"), restored("'tis"), restored("a;'=b")
    ('=1+2', '-1.5', "'-x", "'tis", 'a;=b')
    """
    if "'" not in cell:  # nearly always
        return cell
    return _MARKED_PLACE.sub("", cell[1:] if _MARKED.match(cell) else cell)


class _Lines:
    """A file for `csv.writer` that ends lines with \\n alone.

    Tools that split at \\n would find the \\r of \\r\\n in the last column. If \\n were the end of
    lines that the writer knows, it would not put a cell with \\r in quotes.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        self.lines.append(line.removesuffix("\r\n") + "\n")


def csv_text(columns: Mapping[str, Iterable[object]]) -> str:
    """The text of a CSV file with these columns, which are of equal length.

    >>> csv_text({"name": ["a", "=b"], "x": [1.5, -2.0]})
    "name,x\\na,1.5\\n'=b,-2.0\\n"
    """
    text = _Lines()
    rows = csv.writer(text, lineterminator="\r\n")
    rows.writerow(map(neutral, columns))
    rows.writerows(zip(*(map(neutral, cells) for cells in columns.values()), strict=True))
    return "".join(text.lines)
