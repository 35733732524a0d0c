"""Measurements that need a process of their own: a child prints one line of JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks.common import ROOT


class ChildError(RuntimeError):
    """A child ended with an error; the message is the last line that it wrote."""


def measured(
    module: str,
    arguments: Sequence[object],
    *,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Run ``python -m module arguments`` and return the JSON of the last line it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | dict(env or {}),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        raise ChildError((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, so that a benchmark that is ended ends its children too."""

    def leave(*_: object) -> None:
        sys.exit(143)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
