"""Studies, clients and servers for the tests of the page."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.testclient import TestClient

from sdpmetric.cli.demo_pictures import files
from sdpmetric.page.app import make_app
from sdpmetric.page.links import path_of
from sdpmetric.page.serve import Address, listen
from sdpmetric.page.stimuli import Stimuli
from sdpmetric.page.study import Settings, Study

ORIGIN = "http://127.0.0.1"
FEATURES = ("sides", "size", "warmth", "lightness", "stripes", "tilt")


def shapes(folder: Path, n: int = 48) -> Stimuli:
    """The pictures of `sdpmetric demo ask`."""
    made = files()
    table = made.pop("shapes.csv")
    (folder / "pictures").mkdir(exist_ok=True)
    for name, content in made.items():
        (folder / name).write_text(content, encoding="utf-8")
    X = np.array([table[name][:n] for name in FEATURES], dtype=np.float64).T
    paths = [str(folder / name) for name in table["file"][:n]]
    return Stimuli(table["shape"][:n], X, FEATURES, "image", paths)


def words(n: int = 12, D: int = 4, seed: int = 0) -> Stimuli:
    """Items that are shown as text, with random features."""
    X = np.random.default_rng(seed).normal(size=(n, D))
    ids = [f"w{i:02}" for i in range(n)]
    return Stimuli(ids, X, [f"f{i}" for i in range(D)], "text", [f"word {i}" for i in range(n)])


def new_study(
    folder: Path, stimuli: Stimuli | None = None, name: str = "answers.db", **settings: Any
) -> Study:
    """A study in a folder; its learner is not started."""
    defaults = Settings(target=20)
    stimuli = words() if stimuli is None else stimuli
    return Study(folder / name, stimuli, replace(defaults, **settings), seed=0)


def client_of(study: Study, **options: Any) -> TestClient:
    """A client whose requests are those of a page of this server."""
    app = make_app(study, **options)
    return TestClient(app, base_url=ORIGIN, headers={"Origin": ORIGIN}, follow_redirects=False)


class Person:
    """A participant without a browser."""

    def __init__(self, client: TestClient, study: Study, name: str = "guest.ada") -> None:
        self.client, self.study = client, study
        self.path = path_of(study.store.secret, name)
        assert client.get(self.path).status_code == 200
        self.view = self.send()

    def send(self, *events: dict[str, Any]) -> dict[str, Any]:
        content = json.dumps({"events": list(events)})
        reply = self.client.post(f"{self.path}/events", content=content)
        assert reply.status_code == 200, reply.text
        self.view = reply.json()
        return dict(self.view)

    def answer(self, place: int | None = 0, **details: Any) -> dict[str, Any]:
        """Answer the next question with the item at a place; None: cannot tell."""
        question = self.view["questions"][0]
        event = answer_to(question, place) | details
        self.send(event)
        return event


def answer_to(question: dict[str, Any], place: int | None = 0) -> dict[str, Any]:
    trial, attempt = question["trial"], question["attempt"]
    choice = None if place is None else question["items"][place]["row"]
    return {
        "key": f"answer:{trial}:{attempt}",
        "kind": "answer",
        "trial": trial,
        "attempt": attempt,
        "choice": choice,
        "seconds": 1.5,
        "hidden": 0.0,
    }


def undo_of(event: dict[str, Any]) -> dict[str, Any]:
    trial, attempt = event["trial"], event["attempt"]
    return {"key": f"undo:{trial}:{attempt}", "kind": "undo", "trial": trial, "attempt": attempt}


@contextmanager
def running(study: Study) -> Iterator[str]:
    """A server of a study in a thread; yields its address."""
    study.learner.start()
    try:
        with serving(make_app(study)) as url:
            yield url
    finally:
        study.close()


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """A server in a thread; yields its address."""
    taken = listen(Address(port=0))
    port = taken.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
