"""Pages as a browser shows them: every picture drawn, no error, nothing asked of a network.

Debian: apt-get install chromium chromium-driver (`.ci/run` does it, and builds the site).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers import REQUIRED, chromium
from tests.support.reports import write_report

pytestmark = pytest.mark.slow
EMPTY = "<!doctype html><link rel=icon href='data:,'>"
PICTURES = """
await Promise.all([...document.images].map(i => { i.loading = "eager"; return i.decode() }))
  .catch(() => {})  // what cannot be shown is seen below
return [...document.images].map(i => [i.complete, i.naturalWidth, i.clientWidth, i.alt])"""
# A complaint about a picture reaches the log a moment after the picture has failed.
SETTLED = PICTURES.rpartition("return")[0] + "await new Promise(done => setTimeout(done, 300))"
# By how many pixels one would have to scroll sideways.
BEYOND = "const d = document.documentElement; return d.scrollWidth - d.clientWidth"
SITE = Path(__file__).parent.parent / "output" / "docs"
of_the_site = pytest.mark.skipif(
    not REQUIRED, reason="the site may be old: make docs, SDPMETRIC_BROWSER=required"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium with an empty profile."""
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


def opened(browser: Any, page: Path, width: int = 900) -> tuple[list[str], list[str]]:
    """Open a page; what it complained of, and all addresses that were asked for."""
    size = {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # what earlier pages left
    browser.get(page.as_uri())
    browser.execute_script(SETTLED)
    said = [e["message"] for e in browser.get_log("browser") if e["level"] != "INFO"]
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return said, [request["request"]["url"] for request in asked]


@pytest.mark.parametrize("width", [900, 400])
@pytest.mark.parametrize("kind", ["labels", "triplets"])
def test_report(browser: Any, folder: Path, kind: str, width: int) -> None:
    write_report(kind)
    said, asked = opened(browser, folder / "page.html", width)
    assert said == []
    page = (folder / "page.html").as_uri()
    assert page in asked  # requests are seen
    assert [url for url in asked if url != page and not url.startswith("data:")] == []
    pictures = browser.execute_script(PICTURES)
    assert len(pictures) == 5
    for complete, natural, shown, words in pictures:
        assert complete
        assert words
        assert natural > 200
        assert 200 < shown < width
    assert browser.execute_script(BEYOND) == 0


@of_the_site
@pytest.mark.parametrize("width", [1300, 400])
@pytest.mark.parametrize(
    "page",
    [
        *("index", "guide/index", "guide/certificate", "guide/commands", "how-it-works", "api"),
        *("gallery/index", "gallery/a1_labels", "api/sdpmetric.SDPMetric", "benchmarks"),
        *("paper-results", "glossary"),
    ],
)
def test_site(browser: Any, page: str, width: int) -> None:
    assert (SITE / f"{page}.html").exists()  # a browser shows a page of its own for one that is not
    said, asked = opened(browser, SITE / f"{page}.html", width)
    assert said == []
    assert [url for url in asked if not url.startswith((SITE.as_uri(), "data:"))] == []
    assert (SITE / f"{page}.html").as_uri() in asked
    for complete, natural, *_ in browser.execute_script(PICTURES):
        assert complete
        assert natural > 0
    assert browser.execute_script(BEYOND) == 0


@of_the_site
def test_formulas_are_drawn(browser: Any) -> None:
    opened(browser, SITE / "how-it-works.html")
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(sizes) >= 8
    assert min(sizes) > 8


@of_the_site
def test_search_works_from_a_file(browser: Any) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(f"{(SITE / 'search.html').as_uri()}?q=certificate")
    WebDriverWait(browser, 20).until(
        lambda b: b.execute_script("return document.querySelectorAll('ul.search li a').length") > 3
    )


@of_the_site
def test_attributes_do_not_look_like_types(browser: Any) -> None:
    opened(browser, SITE / "api" / "sdpmetric.SDPMetric.html")
    styles = browser.execute_script(
        "return [...document.querySelectorAll('dl.field-list dt .classifier')]"
        ".map(e => getComputedStyle(e).fontStyle + getComputedStyle(e).fontWeight)"
    )
    assert len(styles) > 20
    assert set(styles) == {"normal400"}


def test_what_is_wrong_would_be_seen(browser: Any, tmp_path: Path) -> None:
    """A page with faults, so that the test above can fail."""
    page = tmp_path / "bad.html"
    page.write_text(f"{EMPTY}<img src='data:image/png;base64,AAAA'><img src='http://127.0.0.1:9/'>")
    said, asked = opened(browser, page)
    assert len(said) == 1  # of the second
    broken, lost = browser.execute_script(PICTURES)
    assert broken[1] == lost[1] == 0
    assert "http://127.0.0.1:9/" in asked
