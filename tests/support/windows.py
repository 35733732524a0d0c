"""A browser window with a page of a study, and what tests of the page do with it.

Every host but loopback is blocked, so that nothing can depend on a network.
"""

from __future__ import annotations

import json
import math
import os
import time
import wave
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdpmetric.page.stimuli import Stimuli
from tests.support.browsers import REQUIRED

ON_DEMAND = [
    pytest.mark.slow,
    pytest.mark.skipif("SDPMETRIC_PAGE" not in os.environ, reason="make test-page"),
]
ROOT = Path(__file__).parent.parent.parent
AXE = ROOT / "output" / "node_modules" / "axe-core" / "axe.min.js"
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
PHONE = {"width": 390, "height": 780, "deviceScaleFactor": 2, "mobile": True}
DESK = {"width": 1200, "height": 800, "deviceScaleFactor": 1, "mobile": False}
BACKSPACE, TAB, ENTER, SPACE = "\ue003", "\ue004", "\ue007", " "
TEXTS = {
    "consent": "# Before you start\n\nYou can stop at any time.",
    "instructions": "# What to do\n\nPick the one that does not belong.",
    "practice": "# Practice\n\nTwo questions to try.",
    "debriefing": "# Thank you\n\nThis was about shapes.",
}


class Window:
    """A browser window with a page of a study."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str, seconds: float = 20.0) -> Any:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.js(f"return {script}")
            if found:
                return found
            time.sleep(0.02)
        text = self.js("return document.body.innerText")
        raise AssertionError(f"{script} did not come true: {text}")

    def ready(self) -> int:
        """Wait for a question that can be answered; its number."""
        return int(self.until("window.session?.trial.open && session.trial.question.trial"))

    def press(self, key: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver, duration=0).send_keys(key).perform()

    def answer(self, key: str) -> None:
        """Press a key and wait for the next question, or for the end."""
        number = self.ready()
        self.press(key)
        self.until(
            f"document.querySelector('.trial').hidden || session.trial.question?.trial !== {number}"
        )

    def saved(self, n: int) -> None:
        self.until(f"session.view.answered === {n} && session.outbox.entries.length === 0")

    def size(self, metrics: dict[str, Any]) -> None:
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        touch = {"enabled": bool(metrics["mobile"])}
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", touch)

    def scheme(self, scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def offline(self, offline: bool) -> None:
        conditions = {
            "offline": offline,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": -1,
        }
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)

    def complaints(self) -> list[str]:
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] != "INFO"]

    def asked_for(self) -> list[str]:
        """All addresses that pages asked for since the last call."""
        log = self.driver.get_log("performance")
        events = [json.loads(entry["message"])["message"] for entry in log]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent]


def axe(window: Window) -> list[str]:
    """Serious and critical violations that axe-core finds on the page that is open."""
    if not AXE.exists() and not REQUIRED:
        pytest.skip("needs axe-core: make test-page installs it with npm")
    window.js(AXE.read_text(encoding="utf-8"))
    found = window.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document).then(r => done(r.violations),"
        " e => done([{id: String(e), impact: 'serious', nodes: []}]))"
    )
    bad = [v for v in found if v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {[n['html'][:120] for n in v['nodes']]}" for v in bad]


def tones(folder: Path) -> Stimuli:
    """Sounds of half a second."""
    X = np.random.default_rng(0).normal(size=(6, 3))
    paths = []
    for i in range(6):
        path = folder / f"tone-{i}.wav"
        wavered = [int(9000 * math.sin(0.02 * (i + 2) * t)) for t in range(4000)]
        with closing(wave.open(str(path), "wb")) as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(8000)
            file.writeframes(np.array(wavered, dtype="<i2").tobytes())
        paths.append(str(path))
    return Stimuli([f"t{i}" for i in range(6)], X, ["a", "b", "c"], "audio", paths)
