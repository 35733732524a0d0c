"""Fill a cell in a process of its own: a fit that takes too long, or takes it down, is recorded.

The processes are forked from a server that has imported everything and computed nothing, so each
starts at once and no thread pool is inherited.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.paper.judge import verdict
from benchmarks.paper.methods import METHODS, Task, Unfinished
from benchmarks.peers.worker import easy
from sdpmetric import SDPMetric

MEMORY = 12.0  # GB of address space, as for the peers
SETUP = 300.0  # seconds for the data and a first tiny fit
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["benchmarks.paper.limited"])


def fill(task: Task) -> dict[str, Any]:
    """A cell's record: status ok, limit, memory or error, with the reason."""
    method = METHODS[task.method]
    return isolated(task) if method.isolated else attempt(task, lambda: None)


def attempt(task: Task, started: Callable[[], None]) -> dict[str, Any]:
    try:
        data = task.split()
        started()
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
    allowed = task.limit * METHODS[task.method].fits
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=child, args=(task, sender), daemon=True)
    process.start()
    sender.close()
    try:
        # A word when learning begins, then the record; a failure before that is a record at once.
        record = answer(receiver, SETUP) or answer(receiver, allowed)
        return record or {"status": "limit", "seconds": allowed}
    except EOFError:
        process.join()
        return {"status": "error", "message": f"the process ended with {process.exitcode}"}
    finally:
        process.kill()
        process.join()


def answer(receiver: Connection, patience: float) -> dict[str, Any]:
    """What comes within that time; empty if nothing does."""
    record: dict[str, Any] = receiver.recv() if receiver.poll(patience) else {}
    return record


def child(task: Task, sender: Connection) -> None:
    warnings.simplefilter("ignore")
    limit = int(MEMORY * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    SDPMetric().fit(*easy())  # loads the compiled loops, which no fit should be charged for
    sender.send(attempt(task, lambda: sender.send({})))
