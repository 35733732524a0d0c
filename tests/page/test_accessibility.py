"""axe-core finds no serious violation on any page, light and dark: `make test-page`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.pages import shapes, words
from tests.support.windows import ENTER, ON_DEMAND, TEXTS, Window, axe, tones

pytestmark = ON_DEMAND


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("shown", ["image", "audio", "text"])
def test_axe_finds_nothing_serious_on_a_trial(
    window: Window, opened: Any, tmp_path: Path, shown: str, scheme: str
) -> None:
    window.scheme(scheme)
    kinds = {"image": shapes(tmp_path), "audio": tones(tmp_path), "text": words()}
    opened(kinds[shown], target=10)
    window.answer("1")
    window.saved(1)
    window.ready()
    time.sleep(0.4)  # colours change slowly
    assert axe(window) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_elsewhere(window: Window, opened: Any, scheme: str) -> None:
    window.scheme(scheme)
    study, url = opened(target=2, texts=TEXTS, kind="2afc")
    window.until("document.querySelector('.step h1')")
    assert axe(window) == []
    window.press(ENTER)
    window.until("document.querySelector('.step h1').textContent === 'What to do'")
    window.press(ENTER)
    window.ready()
    assert axe(window) == []
    window.js("return document.getElementById('withdraw')").click()
    window.until("document.getElementById('leave').open")
    assert axe(window) == []
    window.press(ENTER)
    for _ in range(2):
        window.answer("1")
    window.saved(2)
    assert axe(window) == []
    window.driver.get(f"{url}/dashboard?token={study.store.token}")
    window.until("document.querySelectorAll('[data-map] img').length === 48", 120)
    time.sleep(0.4)
    assert axe(window) == []
    window.driver.get(f"{url}/p/x/y")
    assert axe(window) == []
