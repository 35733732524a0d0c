"""Fill a cell in a process of its own: a fit that takes too long, or takes it down, is recorded.

The processes are forked from a server that has imported everything and computed nothing, so each
starts at once and no thread pool is inherited.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import time
import warnings
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.paper.judge import verdict
from benchmarks.paper.methods import METHODS, Task, Unfinished
from benchmarks.peers.worker import easy
from sdpmetric import SDPMetric

MEMORY = 12.0  # GB of address space, as for the peers
SETUP = 300.0  # seconds for data, a first tiny fit and the verdict
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["benchmarks.paper.limited"])


def fill(task: Task) -> dict[str, Any]:
    """A cell's record: status ok, limit, memory or error, with the reason."""
    return attempt(task) if METHODS[task.method].rival else isolated(task)


def attempt(task: Task) -> dict[str, Any]:
    try:
        data = task.split()
        learned = METHODS[task.method].learn(task, data)
        record = {"status": "ok", "seconds": learned.seconds, **learned.notes}
        return record | verdict(task.row, data, learned.L)
    except Unfinished as stop:
        names = ("status", "seconds", "versions", "message")
        record = {name: stop.record[name] for name in names if name in stop.record}
        return record | ({"message": brief(record["message"])} if "message" in record else {})
    except MemoryError as failure:
        return {"status": "memory", "message": brief(str(failure))}
    except Exception as failure:
        return {"status": "error", "message": brief(f"{type(failure).__name__}: {failure}")}


def brief(message: str) -> str:
    """In a line, without the folders of this machine."""
    return re.sub(r"(/[^\s/'\"():]+)+/", "", " ".join(message.split()))[:300]


def isolated(task: Task) -> dict[str, Any]:
    allowed = SETUP + task.limit * METHODS[task.method].fits
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=child, args=(task, sender), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(allowed):
            return {"status": "limit", "seconds": allowed - SETUP}
        record: dict[str, Any] = receiver.recv()
        return record
    except EOFError:
        process.join()
        return {"status": "error", "message": f"the process ended with {process.exitcode}"}
    finally:
        process.kill()
        process.join()


def child(task: Task, sender: Connection) -> None:
    warnings.simplefilter("ignore")
    limit = int(MEMORY * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    SDPMetric().fit(*easy())  # loads the compiled loops, which no fit should be charged for
    began = time.perf_counter()
    record = attempt(task)
    sender.send(record | {"cell_seconds": time.perf_counter() - began})
