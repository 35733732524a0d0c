"""The server is killed while someone answers: `make test-page`."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from sdpmetric.page.links import path_of
from tests.support.pages import new_study, words
from tests.support.windows import DESK, ON_DEMAND, ROOT, Window

pytestmark = ON_DEMAND


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a server that is forked")
def test_the_server_is_killed_at_twenty_moments(window: Window, tmp_path: Path) -> None:
    """What the page showed as saved is on the disk; nothing counts twice; people go on."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    study = new_study(tmp_path, words(30), target=1000)
    path = path_of(study.store.secret, "guest.ada")
    command = [sys.executable, "-m", "tests.support.page_server", str(tmp_path), str(port), "1000"]
    rng = random.Random(0)
    window.size(DESK)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == "ready\n"
            reached(port)
            window.driver.get(f"http://127.0.0.1:{port}{path}")
            window.ready()
            # A hasty participant, and a list of the answers that the page was told are saved.
            window.js("""
                window.confirmed = [];
                const confirm = session.outbox.confirm.bind(session.outbox);
                session.outbox.confirm = (keys) => {
                  window.confirmed.push(...keys);
                  confirm(keys);
                };
                setInterval(() => document.dispatchEvent(new KeyboardEvent(
                  "keydown", { key: String(1 + Math.floor(3 * Math.random())) })), 15);""")
            confirmed: list[str] = []
            for moment in range(20):
                time.sleep(rng.uniform(0.2, 1.0))
                server.stdin.write("kill\n")
                server.stdin.flush()
                assert server.stdout.readline() == "kill\n"
                confirmed = window.js("return window.confirmed")
                rows = study.store.rows(
                    "SELECT trial, attempt, count(*) FROM events WHERE kind = 'answer' "
                    "GROUP BY 1, 2"
                )
                stored = {f"answer:{trial}:{attempt}" for trial, attempt, _ in rows}
                assert set(confirmed) <= stored, moment
                assert {count for *_, count in rows} <= {1}
                server.stdin.write("start\n")
                server.stdin.flush()
                assert server.stdout.readline() == "start\n"
                reached(port)
                before = len(confirmed)
                window.until(f"window.confirmed.length > {before}", 40)
            pressed = window.js("return session.state.answered")
            window.until(f"session.view.answered >= {pressed}", 40)
        finally:
            server.stdin.close()
            server.wait()
    trials = [t for [t] in study.store.rows("SELECT trial FROM answers ORDER BY trial")]
    assert trials == list(range(1, len(trials) + 1))
    assert len(trials) >= pressed
    assert len(confirmed) > 20
    study.close()
    window.driver.get("about:blank")


def reached(port: int) -> None:
    """Wait until a server answers at a port."""
    for _ in range(600):
        with closing(socket.socket()) as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not answer")
