"""Decimal commas are read; a comma that may stand for thousands is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdpmetric.cli.tables.reading import read


def column(folder: Path, text: str) -> list[float]:
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return list(read(str(folder / "t.csv")).numbers("x"))


def test_a_comma_is_the_decimal_mark_beside_semicolons(tmp_path: Path) -> None:
    assert column(tmp_path, "x;y\n1,250;a\n-2,5e3;b\n7;c\n") == [1.25, -2500.0, 7.0]


def test_and_elsewhere_if_a_cell_shows_it(tmp_path: Path) -> None:
    assert column(tmp_path, 'x\ty\n"1,250"\ta\n0,125\tb\n') == [1.25, 0.125]


@pytest.mark.parametrize("cells", [["1,250", "2,500"], ["1,5", "2.5"], ["1,5", "x"], ["1,5,6"]])
def test_what_may_mean_something_else_is_refused(cells: list[str], tmp_path: Path) -> None:
    text = "x\ty\n" + "".join(f"{cell}\ta\n" for cell in cells)
    with pytest.raises(ValueError, match=r"line 2: 'x' is '1,\d+.*expected a number with a dec"):
        column(tmp_path, text)
