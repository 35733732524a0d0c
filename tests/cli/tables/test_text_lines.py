"""Text files as experiments and spreadsheets write them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from sdpmetric.cli.tables.reading import read

ROWS = "name,x\nBär,1\nKuh,2\n"
EXPECTED = {"name": ("Bär", "Kuh"), "x": ("1", "2")}


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("t.csv", ROWS.encode()),
        ("t.csv", ROWS.encode("utf-8-sig")),
        ("t.csv", ROWS.encode("utf-16")),
        ("t.tsv", ROWS.replace(",", "\t").encode()),
        ("T.CSV.GZ", gzip.compress(ROWS.encode(), mtime=0)),
        ("t.tsv.gz", gzip.compress(ROWS.replace(",", "\t").encode("utf-16"), mtime=0)),
        ("t.2024.csv", ROWS.replace(",", ";").encode()),
    ],
)
def test_the_same_table_in_many_forms(file: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / file).write_bytes(data)
    table = read(str(tmp_path / file))
    assert {name: tuple(cells) for name, cells in table.columns.items()} == EXPECTED
    assert table.lines == [2, 3]


def test_a_tab_separated_file_may_have_commas_in_its_header(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a, b, c\tx\n1\t2\n", encoding="utf-8")
    assert list(read(str(tmp_path / "t.tsv")).columns) == ["a, b, c", "x"]


def test_json_lines_in_a_gzip_file(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b'{"x": 1}\n{"x": 2}\n'))
    assert read(str(tmp_path / "t.jsonl.gz")).columns == {"x": [1, 2]}


OPEN = 'a,b\n1,2\n3,"4\n5,6\n'
LONG = "a,b\n1,2\n3," + "x" * 200_000 + "\n5,6\n"


@pytest.mark.parametrize(
    ("file", "data", "message"),
    [
        (
            "t.csv",
            ROWS.encode("latin-1"),
            "is not UTF-8 text; as Latin-1 or Windows text, line 2 is 'Bär,1'.*WINDOWS-1252",
        ),
        ("t.csv", ROWS.encode("utf-16-le"), "zero bytes; is it UTF-16.*-f UTF-16LE"),
        ("t.csv", b"a,b\n\x01\xff,2\n", "is not UTF-8 text.$"),
        ("t.csv", b"PK\x03\x04\x00", "is a zip archive such as a spreadsheet, expected text"),
        ("t.xlsx", b"PK\x03\x04\x00", r"is a spreadsheet.*save it as CSV.*read_excel\('"),
        ("t.csv", OPEN.encode(), "line 3 is no row of a table: a quote is opened and never closed"),
        ("t.csv", LONG.encode(), "line 3 is no row of a table: a cell has more than 131,072"),
        (
            "t.csv.gz",
            gzip.compress(ROWS.encode(), mtime=0)[:20],
            "is not complete, or is no gzip file",
        ),
        ("t.csv.gz", ROWS.encode(), "is not complete, or is no gzip file"),
    ],
)
def test_other_files_get_a_hint(file: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / file).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read(str(tmp_path / file))


def test_a_gzip_file_unpacks_to_the_limit_alone(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("sdpmetric.cli.tables.limits.MAX_BYTES", 10_000)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a\n" + b"1\n" * 10_000))
    with pytest.raises(ValueError, match=r"expected at most 10 kB \(--max-bytes raises this\)"):
        read(str(tmp_path / "t.csv.gz"))
