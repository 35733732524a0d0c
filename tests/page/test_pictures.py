"""Pictures of the page for the guide, light and dark: `make test-page` writes them to output/page.

They are part of the site: copy them to docs/_static/ask after a look at each of them.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdpmetric.page.links import path_of
from sdpmetric.page.study import Study
from tests.page.test_widget import cell as cell  # a fixture
from tests.support.pages import Person, answer_to, client_of
from tests.support.windows import DESK, ON_DEMAND, PHONE, ROOT, Window

pytestmark = ON_DEMAND
FOLDER = ROOT / "output" / "page"
SEEN = np.array([1.0, 0.2, 1.3, 0.1, 0.6, 0.0])  # what these people look at, of the six features


def take(window: Window, name: str, metrics: dict[str, Any], scheme: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    window.size(metrics)
    time.sleep(1.5)  # transitions
    file = FOLDER / f"{name}-{scheme}.png"
    assert window.driver.save_screenshot(str(file))
    assert file.stat().st_size > 5_000
    beyond = "const d = document.documentElement; return d.scrollWidth - d.clientWidth"
    assert window.js(beyond) == 0


def answered(study: Study, people: int, each: int) -> None:
    """People who look at some features, with noise; the metric learns while they answer."""
    rng = np.random.default_rng(0)
    X = study.stimuli.standard * SEEN
    crowd = [Person(client_of(study), study, f"guest.person-{i}") for i in range(people)]
    for turn in range(each):
        for person in crowd:
            question = person.view["questions"][0]
            places = X[[item["row"] for item in question["items"]]]
            places = places + rng.normal(scale=0.15, size=places.shape)
            far = [np.linalg.norm(places[i - 1] - places[i - 2]) for i in range(3)]
            person.send(answer_to(question, int(np.argmin(far))))
        if turn % 3 == 2:
            study.learner.learn()


def test_trial_and_phone(window: Window, opened: Any) -> None:
    study, url = opened(target=60)
    answered(study, 2, 12)
    window.driver.get(f"{url}{path_of(study.store.secret, 'guest.person-0')}")
    for scheme in ("light", "dark"):
        window.scheme(scheme)
        window.driver.refresh()
        window.ready()
        take(window, "trial", DESK, scheme)
        take(window, "phone", PHONE, scheme)


def test_dashboard(window: Window, opened: Any) -> None:
    study, url = opened(target=60, title="Shapes")
    study.learner.stop()  # the metric learns here, in turns with the people
    answered(study, 6, 36)
    for scheme in ("light", "dark"):
        window.scheme(scheme)
        window.size(DESK | {"height": 1500})
        window.driver.get(f"{url}/dashboard?token={study.store.token}")
        window.until("document.querySelectorAll('[data-map] img').length === 48", 120)
        window.until("document.querySelector('[data-accuracy]').textContent.endsWith('%')")
        window.until("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        take(window, "dashboard", DESK | {"height": 1500}, scheme)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_widget(window: Window, cell: Any, scheme: str) -> None:
    window.scheme(scheme)
    window.size(DESK | {"width": 1000, "height": 720})
    window.driver.refresh()
    window.until("document.querySelector('.items.ready')")
    take(window, "widget", DESK | {"width": 1000, "height": 720}, scheme)


def test_the_pictures_of_the_guide_are_there() -> None:
    names = [
        f"{n}-{s}.png" for n in ("trial", "phone", "dashboard", "widget") for s in ("light", "dark")
    ]
    found = {file.name for file in Path(ROOT, "docs", "_static", "ask").iterdir()}
    assert set(names) <= found
