"""Fixtures of the tests in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sdpmetric.page.links import path_of
from sdpmetric.page.stimuli import Stimuli
from sdpmetric.page.study import Study
from tests.support.browsers import chromium
from tests.support.pages import new_study, running, shapes
from tests.support.windows import DESK, NOWHERE, Window


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    with chromium(tmp_path_factory.mktemp("profile"), NOWHERE, "--hide-scrollbars") as driver:
        yield Window(driver)


@pytest.fixture
def opened(window: Window, tmp_path: Path) -> Iterator[Callable[..., tuple[Study, str]]]:
    """Starts a study and opens it for a new participant; no page may complain, or ask elsewhere."""
    window.size(DESK)
    window.scheme("light")
    window.complaints()
    window.asked_for()
    with ExitStack() as stack:

        def open_(stimuli: Stimuli | None = None, **settings: Any) -> tuple[Study, str]:
            study = new_study(tmp_path, stimuli or shapes(tmp_path), **settings)
            url = stack.enter_context(running(study))
            window.driver.get(f"{url}{path_of(study.store.secret, 'guest.ada')}")
            return study, url

        yield open_
        window.offline(False)
        asked = window.asked_for()
        assert asked
        assert [
            url for url in asked if not url.startswith(("http://127.0.0.1", "data:", "chrome:"))
        ] == []
        window.driver.get("about:blank")
