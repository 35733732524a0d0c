"""The notebook widget: what Python keeps, and the same trial in a real page."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sdpmetric import Responses
from tests.support.pages import answer_to, serving, shapes, undo_of
from tests.support.windows import BACKSPACE, ON_DEMAND, Window

pytest.importorskip("anywidget")
from sdpmetric.page.widget import STATIC, AskWidget

X = np.random.default_rng(0).normal(size=(20, 4)) * [1.0, 1.0, 100.0, 1.0]


def say(widget: AskWidget, *events: dict[str, Any]) -> None:
    """A message as the browser sends it."""
    widget._handle_custom_msg({"events": list(events)}, [])


def answered(widget: AskWidget, n: int) -> None:
    """Answers of a person who looks at the first feature."""
    for _ in range(n):
        question = widget.view["questions"][0]
        a, b, c = (X[item["row"], 0] for item in question["items"])
        odd = int(np.argmin([abs(b - c), abs(a - c), abs(a - b)]))
        say(widget, answer_to(question, odd))


@pytest.mark.slow
def test_answers_and_metric_in_python() -> None:
    widget = AskWidget(X, target=60)
    with pytest.raises(ValueError, match="no answer yet"):
        _ = widget.metric
    answered(widget, 60)
    assert widget.n_answers == 60
    assert widget.view["questions"] == []
    found = widget.responses
    assert isinstance(found, Responses)
    assert len(found) == 120
    i, j, k = X[found.triplets, 0].T
    assert (np.abs(i - j) <= np.abs(i - k)).all()
    metric = widget.metric
    assert metric.converged_
    assert np.trace(metric.get_mahalanobis_matrix()) == pytest.approx(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of feature names that X never had
        assert metric.score(X, found.triplets) > 0.85


def test_a_frame_gives_the_metric_its_names() -> None:
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    widget = AskWidget(table, target=10)
    answered(widget, 10)
    assert widget.metric.feature_names_in_.tolist() == list(table.columns)


def test_undo_and_go_on_in_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.db"
    widget = AskWidget(X, target=9, path=file)
    first = answer_to(widget.view["questions"][0], 1)
    say(widget, first)
    say(widget, undo_of(first))
    assert widget.n_answers == 0
    answered(widget, 2)
    assert widget.n_answers == 2
    assert AskWidget(X, target=9, path=file).n_answers == 2


def test_messages_that_are_none_of_ours() -> None:
    widget = AskWidget(X, target=9)
    for content in ("x", {}, {"events": 1}, {"events": [1, {"key": "x"}]}):
        widget._handle_custom_msg(content, [])
    assert widget.n_answers == 0


def test_pictures_are_part_of_the_messages(tmp_path: Path) -> None:
    stimuli = shapes(tmp_path)
    widget = AskWidget(stimuli.X, images=list(stimuli.contents), target=9)
    rows = {str(item["row"]) for q in widget.view["questions"] for item in q["items"]}
    assert set(widget.media) == rows
    assert all(url.startswith("data:image/svg+xml;base64,") for url in widget.media.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["a", "b"]}, "ids has 2 entries, expected 20, as X"),
        ({"ids": ["a"] * 20}, "ids has an id twice"),
        ({"texts": ["a"] * 20, "images": ["b"] * 20}, "got image and text, expected one of"),
        ({"images": [f"no-{i}.png" for i in range(20)]}, "20 of 20 files are missing"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AskWidget(X, **arguments)
    with pytest.raises(ValueError, match="X must be a table of finite numbers"):
        AskWidget([[1.0, np.nan]])


PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A notebook</title>
<link rel="icon" href="data:,"><style>{css}</style>
<style>body {{ font: 16px sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
background: Canvas; color: CanvasText; color-scheme: light dark }}
pre {{ background: color-mix(in srgb, CanvasText 7%, Canvas); padding: .8rem 1rem;
border-radius: 6px }}
</style></head><body>
<pre>widget = AskWidget(X, images=files, target=50)
widget</pre><div id="cell"></div><script type="module">
import widget from "/trial.js";
// A model as anywidget's, with a server in the place of a kernel.
const values = {values}; const heard = {{}};
const model = {{
  get: (name) => values[name],
  on: (name, call) => {{ heard[name] = call; }},
  off: () => {{}},
  send: async (content) => {{
    const reply = await fetch("/send", {{ method: "POST", body: JSON.stringify(content) }});
    Object.assign(values, await reply.json());
    heard["change:view"]();
  }},
}};
widget.render({{ model, el: document.getElementById("cell") }});
window.model = model;
</script></body></html>"""


def notebook(widget: AskWidget) -> Starlette:
    """A page with the widget, as a notebook would show it."""

    def state() -> dict[str, Any]:
        return {name: getattr(widget, name) for name in ("study", "view", "media")}

    async def page(request: Request) -> Response:
        return HTMLResponse(PAGE.format(css=widget._css, values=json.dumps(state())))

    async def send(request: Request) -> Response:
        widget._handle_custom_msg(await request.json(), [])
        return JSONResponse(state())

    async def module(request: Request) -> Response:
        return Response((STATIC / "trial.js").read_text("utf-8"), media_type="text/javascript")

    routes = [Route("/", page), Route("/send", send, methods=["POST"]), Route("/trial.js", module)]
    return Starlette(routes=routes)


@pytest.fixture
def cell(window: Window, tmp_path: Path) -> Iterator[AskWidget]:
    stimuli = shapes(tmp_path)
    widget = AskWidget(stimuli.X, images=list(stimuli.contents), target=50)
    with serving(notebook(widget)) as url:
        window.driver.get(url)
        yield widget
        window.driver.get("about:blank")


@ON_DEMAND[0]
@ON_DEMAND[1]
def test_the_widget_in_a_real_page(window: Window, cell: AskWidget) -> None:
    window.complaints()
    ready = "document.querySelector('.items.ready')"
    counted = "document.querySelector('.count').textContent"
    window.until(ready)
    window.js("document.querySelector('.trial').focus()")
    for number, key in enumerate("12", 1):
        window.until(ready)
        time.sleep(0.2)
        window.press(key)
        window.until(f"{counted} === '{number} of 50'")
    window.until(ready)
    window.press(BACKSPACE)
    window.until(f"{counted} === '1 of 50'")
    window.until(ready)
    time.sleep(0.2)
    window.js("return document.querySelectorAll('button.item')[2]").click()
    window.until(f"{counted} === '2 of 50'")
    window.until("model.get('view').answered === 2")
    rows = cell._study.store.rows("SELECT a, b, c, choice FROM answers ORDER BY trial")
    assert [row[:3].index(row[3]) for row in rows] == [0, 2]
    assert window.complaints() == []
