"""The report is one page that needs nothing else, and says what the scores say."""

from __future__ import annotations

import base64
import io
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reports import call, write_report
from sdpmetric.cli.demo_data import tables
from sdpmetric.cli.writing import write

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
    assert plt.get_fignums() == []


def test_names_are_shown_not_run(folder: Path) -> None:
    write("<b>.csv", tables()["wine-test.csv"])
    call("fit <b>.csv -l cultivar -o m.json --tol 0.01")
    call("evaluate m.json <b>.csv -l cultivar --report page.html")
    assert "<b>" not in Path("page.html").read_text(encoding="utf-8")
    assert "m.json on <b>.csv" in Page(Path("page.html").read_text(encoding="utf-8")).said
