"""results/peers.json: each finished run is written at once, so a benchmark can be resumed."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.common import RESULTS

PATH = RESULTS / "peers.json"
Content = dict[str, Any]


def read() -> Content:
    """`data`: sizes and Euclidean errors; `rivals`: versions; `runs`: one record a fit."""
    if not PATH.exists():
        return {"machine": {}, "settings": {}, "rivals": {}, "data": {}, "runs": []}
    content: Content = json.loads(PATH.read_text())
    return content


@contextmanager
def update() -> Iterator[Content]:
    """Change the file under a lock: peers and ours may be running at the same time."""
    RESULTS.mkdir(exist_ok=True)
    lock = os.open(RESULTS, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        content = read()
        yield content
        fresh = PATH.with_suffix(".tmp")
        fresh.write_text(json.dumps(content, indent=1) + "\n")
        os.replace(fresh, PATH)
    finally:
        os.close(lock)


def key(run: dict[str, Any]) -> tuple[str, str, int]:
    return run["data"], run["rival"], run["split"]


def put(run: dict[str, Any], versions: dict[str, str] | None) -> None:
    """Add a run, in place of an earlier one of the same rival on the same split."""
    with update() as content:
        content["runs"] = [old for old in content["runs"] if key(old) != key(run)] + [run]
        if versions:
            content["rivals"][run["rival"]] = versions
