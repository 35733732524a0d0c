"""Headless Chromium for the tests that look at pages.

Debian: apt-get install chromium chromium-driver (`.ci/run` does it).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless --no-sandbox --disable-dev-shm-usage --disable-gpu --disable-quic --no-first-run "
    "--disable-sync --disable-background-networking --disable-component-update"
)
REQUIRED = os.environ.get("SDPMETRIC_BROWSER") == "required"
HOW = "apt-get install chromium chromium-driver"


@contextmanager
def chromium(profile: Path, *flags: str) -> Iterator[Any]:
    """Headless Chromium with an empty profile; skips the test where it is missing."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not REQUIRED and (program is None or driver is None):
        pytest.skip(f"needs Chromium and ChromeDriver: {HOW}")
    if not REQUIRED:
        pytest.importorskip("selenium")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(program)
    for flag in (*FLAGS.split(), *flags):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options, webdriver.ChromeService(str(driver)))
    try:
        yield started
    finally:
        started.quit()
