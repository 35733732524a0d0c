"""Cells that a spreadsheet would run are written as text, and read as they were."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sdpmetric._support.csv_text import neutral, restored
from sdpmetric.cli import main
from sdpmetric.cli.tables.reading import read
from sdpmetric.cli.tables.writing import write

# As OWASP lists them ("CSV Injection"), and what spreadsheets take for a number.
RUN = ["=1+2", '=HYPERLINK("http://x","y")', "+1+2", "-2+3", "@SUM(1)", "\t", "\rx", "\n1"]
RUN += ["\uff1d1", "\uff0b1", "\uff0d1", "\uff20x", "-", "+", "=", "-1e", "--1", "-1.5-1", "+abc"]
RUN += ["-cmd|' /C calc'!A0"]
SPARED = ["-1.5", "+3", "-.5", "-1e-7", "+2.", "-inf", "-nan", "1-2", "a=b", "'tis", "''", "x", ""]
# Where decimals have a comma, spreadsheets divide a line at semicolons and ends of lines, whatever
# our quotes say.
INSIDE = {
    "a;=1+2": "a;'=1+2",
    'a;"=1"': 'a;\'"=1"',
    "a; =1": "a;' =1",
    "a;b;@x;c": "a;b;'@x;c",
    "a\t=1": "a\t'=1",
    "a\n=1": "a\n'=1",
    "a\r\n-x": "a\r\n'-x",
    "a;-1.5e": "a;'-1.5e",
    "\t=1": "'\t'=1",
    "\r=1": "'\r'=1",
    "\n=1": "'\n'=1",
    "=1;=2": "'=1;'=2",
    "a;'=1": "a;''=1",
}
SPARED += ["3;-4", "a;-1.5;b", "two\r\nlines", "a; b", "a;b=c", "it;'s", "a;'b"]
# An apostrophe of the user's own stays, too.
MARKED = ["'=1", "''=1", "'-1.5", "'''@x", "'\t"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("cell", RUN)
def test_what_a_spreadsheet_would_run_is_written_as_text(cell: str) -> None:
    assert neutral(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", INSIDE)
def test_what_would_run_behind_a_semicolon_was_written_as_it_was(cell: str) -> None:
    assert neutral(cell) == INSIDE[cell]


@pytest.mark.parametrize("cell", SPARED)
def test_numbers_and_other_texts_are_spared(cell: str) -> None:
    assert neutral(cell) == cell


@pytest.mark.parametrize("cell", [*RUN, *INSIDE, *SPARED, *MARKED])
def test_every_cell_is_read_as_it_was(cell: str) -> None:
    assert restored(str(neutral(cell))) == cell


def test_texts_of_all_short_lengths_come_back() -> None:
    """No two texts are written alike: every text of up to four of these characters."""
    letters = "'=-1.\t;"
    texts = [""]
    for _ in range(4):
        texts += [text + letter for text in texts for letter in letters]
    assert all(restored(str(neutral(text))) == text for text in texts)


@pytest.mark.parametrize("part", ["\n", ";'", "; ", "'", ';"', "\t'=", "=;"])
def test_long_cells_take_no_longer_than_their_length(part: str) -> None:
    cell = part * 200_000
    assert restored(str(neutral(cell))) == cell


def test_a_table_comes_back_through_a_file() -> None:
    cells = [
        *RUN,
        *INSIDE,
        *filter(None, SPARED),
        *MARKED,
        "two\r\nlines",
        'a "quote"',
        "a,b",
        " = ",
    ]
    columns = {"=name": cells, "-1.5e": list(range(len(cells))), "@x": [-1.5] * len(cells)}
    write("t.csv", columns)
    found = read("t.csv").columns
    assert list(found) == list(columns)
    assert list(found["=name"]) == cells
    assert set(found["@x"]) == {"-1.5"}
    # As any other program reads it.
    rows = list(csv.reader(io.StringIO(Path("t.csv").read_text(), newline="")))
    assert all(len(row) == 3 for row in rows)
    number = re.compile(r"-?\d+(\.\d+)?|[+-]?(\d+\.?\d*|\.\d+)(e-?\d+)?|-inf|-nan")
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or number.fullmatch(cell)


def test_commands_undo_what_commands_write() -> None:
    """From ids that are formulas, through three commands and back."""
    names = ["=a", "+b", "-c", "@d"]
    rows = [json.dumps({"id": name, "x": i % 3, "y": i}) for i, name in enumerate(names)]
    Path("items.jsonl").write_text("\n".join(rows))
    Path("odd.jsonl").write_text(json.dumps({"a": "=a", "b": "+b", "c": "-c", "odd": "-c"}))
    for line in (
        "triplets odd-one-out odd.jsonl --items items.jsonl --id id -o t.csv",
        "fit items.jsonl --id id --triplets t.csv -o m.json --tol 0.1",
        "transform m.json items.jsonl --id id -o mapped.csv",
    ):
        result = CliRunner().invoke(main, line.split())
        assert result.exit_code == 0, result.output
    assert "'=a,'+b,'-c" in Path("t.csv").read_text()
    assert read("mapped.csv").texts("id") == names


def test_numbers_are_written_as_they_were() -> None:
    x = np.array([-1.5, -np.inf, 1e-300, -0.0])
    write("t.csv", {"x": x})
    assert Path("t.csv").read_text() == "x\n-1.5\n-inf\n1e-300\n-0.0\n"
    assert os.listdir() == ["t.csv"]
