"""Files of pairs, read as one table whose messages name the file of a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdpmetric.cli.tables.joined import read_pairs


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("day,query,positive\n1,0,1\n1,2,3\n")
    Path("b.csv").write_text("query,positive,negative\n4,5,6\nx,7,\n")
    Path("c.csv").write_text("anchor,positive\n4,5\n")


def test_rows_of_all_files_in_order() -> None:
    table = read_pairs(["a.csv", "b.csv"])
    assert table.columns == {
        "query": ["0", "2", "4", "x"],
        "positive": ["1", "3", "5", "7"],
        "negative": [None, None, "6", ""],
    }
    with pytest.raises(ValueError, match=r"^b.csv, line 3: 'query' is 'x', expected the number"):
        table.row_numbers("query", 9)


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["a.csv", "c.csv"], r"^c.csv has no column 'query', expected one as in a.csv"),
        (["c.csv", "b.csv"], r"^b.csv has no column 'anchor', expected one as in c.csv"),
        (["a.csv", "b.csv", "./a.csv"], r"^./a.csv is given twice, expected each file once"),
    ],
)
def test_files_that_do_not_fit_together(paths: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_pairs(paths)
