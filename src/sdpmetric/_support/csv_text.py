"""Tables as CSV, without cells that a spreadsheet would run as formulas.

Excel and its kin run a cell that starts with one of the characters below, also if it came from
somebody else's file. An apostrophe before it makes it text. We write that apostrophe and take it
away when we read, so that names survive the way through a file. Numbers such as -1.5 stay as they
are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping

# Tab, carriage return and line feed: some programs skip them. The last four are wide forms.
_STARTS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_RISKY = re.compile(f"'*[{_STARTS}]")
_MARKED = re.compile(f"'+[{_STARTS}]")
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)", re.IGNORECASE | re.ASCII
)


def neutral(cell: object) -> object:
    """A cell as it is written; only texts are changed.

    >>> neutral("=1+2"), neutral("-1.5"), neutral("'-x"), neutral(-1.5)
    ("'=1+2", '-1.5', "''-x", -1.5)
    """
    risky = isinstance(cell, str) and _RISKY.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell


def restored(cell: str) -> str:
    """A cell as it was before it was written.

    >>> restored("'=1+2"), restored("-1.5"), restored("''-x"), restored("'tis")
    ('=1+2', '-1.5', "'-x", "'tis")
    """
    return cell[1:] if _MARKED.match(cell) else cell


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
