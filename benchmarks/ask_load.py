"""Fifty participants who answer once a second: how long is the wait for the next question?

A server as `sdpmetric ask` starts it, in a process of its own, and simulated participants in this
one. The time is that of the request which stores an answer and brings the next question; the
answer is on the disk when it returns. The time of a bare fsync on the same disk stands beside it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from benchmarks.common import Array, parser, save, show
from sdpmetric import Responses
from sdpmetric.page.fitting import fit, new_metric


def fsyncs(folder: Path, n: int = 200) -> Array:
    """Seconds of a bare write of 4,096 bytes with fsync."""
    times = []
    with open(folder / "fsync", "wb") as file:
        for _ in range(n):
            began = time.perf_counter()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return np.array(times)


@dataclass(frozen=True)
class Heard:
    """Seconds of each request, keys that the server confirmed, and errors."""

    times: list[float] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    resent: list[str] = field(default_factory=list)


async def participant(client: httpx.AsyncClient, link: str, seconds: int, heard: Heard) -> None:
    """Answer once a second, beginning at a random moment of the first one."""
    await asyncio.sleep(random.random())
    await client.get(link)
    view = (await client.post(f"{link}/events", json={"events": []})).json()
    began = time.perf_counter()
    for turn in range(seconds):
        await asyncio.sleep(max(0.0, began + turn + 1 - time.perf_counter()))
        event = _answer(view)
        sent = time.perf_counter()
        try:
            reply = await client.post(f"{link}/events", json={"events": [event]})
        except httpx.TransportError:  # as the page does: send it again
            heard.resent.append(event["key"])
            reply = await client.post(f"{link}/events", json={"events": [event]})
        heard.times.append(time.perf_counter() - sent)
        if reply.status_code != 200:
            heard.failed.append(reply.text)
            continue
        view = reply.json()
        heard.confirmed.extend(f"{link}:{key}" for key in view["saved"])


def _answer(view: dict[str, Any]) -> dict[str, Any]:
    question = view["questions"][0]
    chosen = random.choice(question["items"])["row"]
    key = f"answer:{question['trial']}:{question['attempt']}"
    known = {name: question[name] for name in ("trial", "attempt")}
    return known | {"key": key, "kind": "answer", "choice": chosen, "seconds": 1.0, "hidden": 0.0}


def table(folder: Path, items: int, features: int) -> Path:
    X = np.random.default_rng(0).normal(size=(items, features))
    header = ",".join(["item", *(f"f{i}" for i in range(features))])
    rows = (",".join([f"item-{i}", *(f"{x:.4f}" for x in row)]) for i, row in enumerate(X))
    file = folder / "items.csv"
    file.write_text("\n".join([header, *rows]) + "\n")
    return file


def fit_seconds(answers: int, features: int, items: int = 200) -> dict[str, float]:
    """CPU seconds of the fit after five more answers: a person who answers never waits for it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(items, features))
    rows = np.array([rng.choice(items, 3, replace=False) for _ in range(answers + 5)])
    seen = X[rows, : min(10, features)] + rng.normal(
        scale=0.3, size=(*rows.shape, min(10, features))
    )
    far = [np.linalg.norm(seen[:, i - 1] - seen[:, i - 2], axis=1) for i in range(3)]
    said = rows[np.arange(len(rows)), np.argmin(far, axis=0)]
    metric, times = new_metric(), []
    for n in (answers, answers + 5):
        responses = Responses.from_odd_one_out(rows[:n], said[:n])
        began = time.process_time()
        fit(metric, X, responses)
        times.append(time.process_time() - began)
    return {"first": times[0], "warm": times[1], "evaluations": metric.n_iter_, "gap": metric.gap_}


async def crowd(links: list[str], seconds: int) -> Heard:
    """All participants at once."""
    parts = urlsplit(links[0])
    heard = Heard()
    # One client for all: each new one spends milliseconds on certificates that it does not need.
    async with httpx.AsyncClient(
        timeout=30.0,
        headers={"Origin": f"{parts.scheme}://{parts.netloc}"},
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
    ) as client:
        await asyncio.gather(*(participant(client, link, seconds, heard) for link in links))
    return heard


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--people", type=int, default=50)
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--items", type=int, default=100)
    arguments.add_argument("--features", type=int, default=20)
    arguments.add_argument("--fit-answers", type=int, default=10_000)
    arguments.add_argument("--fit-features", type=int, default=100)
    options = arguments.parse_args(argv)
    with TemporaryDirectory() as name:
        folder = Path(name)
        bare = fsyncs(folder)
        (folder / "names").write_text("".join(f"person-{i}\n" for i in range(options.people)))
        command = [
            *(sys.executable, "-m", "sdpmetric", "ask"),
            *(str(table(folder, options.items, options.features)), "--id", "item"),
            *("--target", "100000", "--port", "0", "--no-browser", "--json"),
            *("-o", str(folder / "answers.db"), "--participants", str(folder / "names")),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                links = json.loads(server.stdout.readline())["links"]
                del links["dashboard"]
                heard = asyncio.run(crowd(list(links.values()), options.seconds))
            finally:
                server.send_signal(signal.SIGINT)
            confirmed, failed = heard.confirmed, heard.failed
        with closing(sqlite3.connect(folder / "answers.db")) as connection:
            [stored] = connection.execute("SELECT count(*) FROM answers").fetchone()
            [[fits, converged, gap]] = connection.execute(
                "SELECT count(*), sum(converged), max(gap) FROM fits"
            ).fetchall()
    waits = 1000.0 * np.quantile(heard.times, [0.5, 0.9, 0.99, 1.0])
    syncs = 1000.0 * np.quantile(bare, [0.5, 0.9, 0.99, 1.0])
    fitted = fit_seconds(options.fit_answers, options.fit_features)
    found = {
        "fit": fitted | {"answers": options.fit_answers, "features": options.fit_features},
        "people": options.people,
        "seconds": options.seconds,
        "confirmed": len(confirmed),
        "stored": stored,
        "lost": len(set(confirmed)) - stored,
        "failed": len(failed),
        "resent": len(heard.resent),
        "fits": fits,
        "converged_fits": converged,
        "largest_gap": gap,
        "milliseconds": dict(zip(("p50", "p90", "p99", "max"), waits.tolist(), strict=True)),
        "fsync_milliseconds": dict(zip(("p50", "p90", "p99", "max"), syncs.tolist(), strict=True)),
    }
    show(
        f"{options.people} people, {options.seconds} s: {len(confirmed)} confirmed, "
        f"{stored} stored, {len(failed)} failed, {fits} fits, {converged} of them converged",
        ["milliseconds", "p50", "p90", "p99", "max"],
        [("next question", *waits.tolist()), ("bare fsync", *syncs.tolist())],
    )
    show(
        f"Fit to {options.fit_answers:,} answers over {options.fit_features} features, CPU seconds",
        list(fitted),
        [list(fitted.values())],
    )
    save("ask_load", found)


if __name__ == "__main__":
    main()
