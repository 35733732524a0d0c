"""Start a worker, watch its clock, and judge the map that it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Array
from benchmarks.peers.data import SETS
from benchmarks.peers.rivals import HERE, RIVALS
from benchmarks.peers.worker import memory
from benchmarks.rules import wrong_rows

SETUP_LIMIT = 300.0  # seconds for imports, a tiny fit and loading
POLL = 0.05


def write_split(folder: Path, data: str, split: int) -> Path:
    """The split as a file that every environment can read."""
    path = folder / f"{data.replace(' ', '_')}-{split}.npz"
    if not path.exists():
        X, y, X_test, y_test = SETS[data].make(split)
        np.savez(
            path, X=np.ascontiguousarray(X), y=y, X_test=np.ascontiguousarray(X_test), y_test=y_test
        )
    return path


def measure(path: Path, L: Array | None = None) -> dict[str, Any]:
    """Errors on the test rows under x -> Lx, or under the Euclidean metric.

    ``error`` is that of 3-NN, ``wrong`` has its wrong rows, ``rules`` has the error of every rule.
    """
    with np.load(path) as stored:
        X, y, X_test, y_test = (stored[name] for name in ("X", "y", "X_test", "y_test"))
    if L is not None:
        X, X_test = X @ L.T, X_test @ L.T
    wrong = wrong_rows(X, y, X_test, y_test)
    rules = {rule: float(rows.mean()) for rule, rows in wrong.items()}
    # One line of text: an array would take a line of JSON for each row.
    rows = " ".join(map(str, np.flatnonzero(wrong["vote"])))
    return {"error": rules["vote"], "wrong": rows, "rules": rules}


def card(path: Path) -> dict[str, Any]:
    with np.load(path) as stored:
        rows, columns = stored["X"].shape
        return {
            "rows": rows,
            "columns": columns,
            "test_rows": len(stored["y_test"]),
            "classes": len(np.unique(stored["y"])),
        }


def fit(
    rival: str, split_path: Path, folder: Path, *, limit: float, threads: int, memory: float
) -> dict[str, Any]:
    """One record: status ok, limit, memory or error, and what was measured until then."""
    out = folder / "out"
    for suffix in (".json", ".npy"):
        out.with_suffix(suffix).unlink(missing_ok=True)
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    # -P keeps this folder off the worker's path: its file names are common words.
    command = [RIVALS[rival].python, "-P", HERE / "worker.py", RIVALS[rival].adapter_path]
    record: dict[str, Any] = {"date": now(), "load": round(os.getloadavg()[0], 2)}
    with (folder / "stderr").open("w+") as stderr:
        process = subprocess.Popen(
            [*map(str, command), str(split_path), str(out), str(threads), str(memory)],
            env={**os.environ, **dict.fromkeys(names, str(threads))},
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            peak = watch(process, out.with_suffix(".json"), limit)
        finally:
            stop(process)
        stderr.seek(0)
        last = (stderr.read().strip().splitlines() or [""])[-1]
    if out.with_suffix(".json").exists():
        record |= json.loads(out.with_suffix(".json").read_text())
    if "status" not in record:
        record |= unfinished(process.returncode, peak, record, limit, last)
    if record["status"] == "ok":
        L = np.load(out.with_suffix(".npy"))
        if np.isfinite(L).all():
            record |= measure(split_path, L)
        else:
            record |= {"status": "error", "message": "the map is not finite"}
    return record | {"limit": limit, "threads": threads}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def watch(process: subprocess.Popen[bytes], started: Path, limit: float) -> float | None:
    """Wait until the worker ends; past its time, its peak memory so far."""
    clock, allowed = time.monotonic(), SETUP_LIMIT
    fitting = False
    while process.poll() is None:
        if not fitting and started.exists():
            clock, allowed, fitting = time.monotonic(), limit, True
        if time.monotonic() - clock > allowed:
            return memory("VmHWM", process.pid)
        time.sleep(POLL)
    return None


def stop(process: subprocess.Popen[bytes]) -> None:
    """The worker leads its own session, so its children go with it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def unfinished(
    code: int, peak: float | None, record: dict[str, Any], limit: float, last: str
) -> dict[str, Any]:
    if "baseline_mb" not in record:
        return {"status": "error", "message": f"before the fit: {last or f'exit code {code}'}"}
    if peak is not None:
        return {"status": "limit", "seconds": limit, "growth_mb": peak - record["baseline_mb"]}
    # Compiled code that is refused memory often aborts instead of raising.
    memory = "alloc" in last.lower() or "memory" in last.lower()
    return {"status": "memory" if memory else "error", "message": f"exit code {code}: {last}"}
