"""One fit in a process of its own: worker.py ADAPTER SPLIT OUT THREADS MEMORY_GB.

Runs in any of the environments, so it imports numpy and the adapter alone. OUT.json appears
before the fit begins (the runner starts its clock then, and has the costs of importing even if
the fit never ends) and again after it; OUT.npy is the linear map. Growth is the peak resident
memory of the fit over what was resident once imports, data and a first tiny fit were done.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import platform
import resource
import sys
import time
import traceback
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("sdpmetric", "metric-learn", "pylmnn", "mlpack", "scikit-learn", "scipy", "numpy")


def load(path: str) -> Any:
    # By location: an adapter may be named like the package that it imports.
    spec = importlib.util.spec_from_file_location("adapter", path)
    assert spec is not None
    assert spec.loader is not None
    adapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    return adapter


def easy() -> tuple[Any, Any]:
    """Sixty rows, three classes that hardly overlap: for what a first call alone costs."""
    y = np.repeat(np.arange(3), 20)
    X = np.random.default_rng(0).normal(size=(60, 5))
    X[:, 0] += 3.0 * y
    return X, y


def memory(field: str, pid: int | str = "self") -> float:
    """VmRSS or VmHWM (the peak) of a process, this one unless another is named, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def reset_peak() -> None:
    """Make VmHWM what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write(out: str, record: dict[str, Any]) -> None:
    Path(f"{out}.tmp").write_text(json.dumps(record))
    os.replace(f"{out}.tmp", f"{out}.json")


def main(adapter_path: str, split: str, out: str, threads: str, memory_gb: str) -> None:
    warnings.simplefilter("ignore")
    limit = int(float(memory_gb) * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    began = time.perf_counter()
    adapter = load(adapter_path)
    record: dict[str, Any] = {"import_seconds": time.perf_counter() - began}
    began = time.perf_counter()
    adapter.fit(*easy(), int(threads))
    record["first_call_seconds"] = time.perf_counter() - began
    with np.load(split) as stored:
        X, y = stored["X"], stored["y"]
        options = {"neighbors": int(stored["neighbors"])} if "neighbors" in stored else {}
    record["versions"] = versions()
    gc.collect()
    reset_peak()
    record["baseline_mb"] = memory("VmRSS")
    write(out, record)
    began, used = time.perf_counter(), time.process_time()
    try:
        L = np.asarray(adapter.fit(X, y, int(threads), **options), dtype=np.float64)
        record.update(status="ok", rank=len(L))
    except Exception as error:
        status = "memory" if isinstance(error, MemoryError) else "error"
        record.update(status=status, message=f"{type(error).__name__}: {error}"[:300])
        traceback.print_exc()
    record["seconds"] = time.perf_counter() - began
    record["cpu_seconds"] = time.process_time() - used
    record["growth_mb"] = memory("VmHWM") - record["baseline_mb"]
    if record["status"] == "ok":
        np.save(f"{out}.npy", L)
    write(out, record)


if __name__ == "__main__":
    main(*sys.argv[1:])
