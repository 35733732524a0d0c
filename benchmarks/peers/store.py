"""results/peers.json: each finished run is written at once, so a benchmark can be resumed."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common import results_folder

Content = dict[str, Any]


def file() -> Path:
    return results_folder() / "peers.json"


def read() -> Content:
    """`data`: sizes and Euclidean errors; `rivals`: versions; `runs`: one record a fit."""
    if not file().exists():
        return {"machine": {}, "settings": {}, "rivals": {}, "data": {}, "runs": []}
    content: Content = json.loads(file().read_text())
    return content


@contextmanager
def update() -> Iterator[Content]:
    """Change the file under a lock: peers and ours may be running at the same time."""
    path = file()
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        content = read()
        yield content
        fresh = path.with_suffix(".tmp")
        fresh.write_text(json.dumps(content, indent=1) + "\n")
        os.replace(fresh, path)
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
