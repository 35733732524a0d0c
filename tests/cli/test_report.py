"""The report is one page that needs nothing else, and says what the scores say."""

from __future__ import annotations

import base64
import io
import warnings
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

import sdpmetric
from sdpmetric.cli.demo_data import tables
from sdpmetric.cli.tables.writing import write
from tests.support.reports import call, write_report

plt = pytest.importorskip("matplotlib.pyplot")


class Page(HTMLParser):
    """What a browser would fetch and show, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.open: list[str] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.sources += [str(v) for k, v in attributes if k in ("src", "href")]
        if tag not in ("img", "meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "triplets"])
def test_report(folder: Path, kind: str) -> None:
    said = write_report(kind)
    page = Page(Path("page.html").read_text(encoding="utf-8"))
    assert page.open == []
    pictures = [source for source in page.sources if source != "data:,"]
    assert len(pictures) == 5
    for picture in pictures:
        head, data = picture.split(",")
        assert head == "data:image/png;base64"
        image = plt.imread(io.BytesIO(base64.b64decode(data, validate=True)))
        assert min(image.shape[:2]) > 200
        assert image[..., :3].std() > 0.05  # something is drawn
    learned = next(line for line in said.splitlines() if line.startswith("learned metric"))
    for score in learned.split()[2:]:
        assert score in page.said
    assert "gap of" in page.said
    assert f"by sdpmetric {sdpmetric.__version__}: sdpmetric evaluate m.json" in page.said
    assert datetime.now().strftime("%Y-%m-") in page.said
    assert ("Each participant" in page.said) == (kind == "triplets")
    assert ("Answers most at odds" in page.said) == (kind == "triplets")
    assert plt.get_fignums() == []


@pytest.mark.slow
def test_names_are_shown_not_run(folder: Path) -> None:
    write("<b>.csv", tables()["wine-test.csv"])
    call("fit <b>.csv -l cultivar -o m.json --tol 0.01")
    call("evaluate m.json <b>.csv -l cultivar --report page.html")
    assert "<b>" not in Path("page.html").read_text(encoding="utf-8")
    assert "m.json on <b>.csv" in Page(Path("page.html").read_text(encoding="utf-8")).said


@pytest.mark.slow
def test_names_that_look_like_formulas_are_drawn_as_they_are(folder: Path) -> None:
    """matplotlib would parse them, and fail; an escape would draw an empty box and warn."""
    columns = tables()["wine-test.csv"]
    names = ["$\\frac{$", "$x$", "\\alpha_{", "<script>", "\x1b[2J", "_", "a" * 500, "%d {0}"]
    renamed = dict(zip([*names, *list(columns)[len(names) :]], columns.values(), strict=True))
    kinds = {"barolo": "$\\frac{$", "grignolino": "<b>", "barbera": "\x1b[31m$"}
    write("t.csv", renamed | {"cultivar": [kinds[str(kind)] for kind in columns["cultivar"]]})
    call("fit t.csv -l cultivar -o m.json --tol 0.01")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph .* missing")
        call("evaluate m.json t.csv -l cultivar --report page.html")
    text = Path("page.html").read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "\x1b" not in text
    assert Page(text).open == []
