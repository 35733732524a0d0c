"""Build a Faiss index in a process of its own: some descriptions of an index make Faiss crash.

"HNSW1" reads memory that is not its own, "HNSW0" aborts, "PQ2x0" divides by zero. No list of such
descriptions would be complete. So each is tried where a crash takes nothing else down. A graph of
fewer than two links is refused first: whether it crashes depends on what lies in memory.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from ..._support.optional import require
from ..._support.typing import Dense

_REFUSED = 3  # exit code: the last line of standard error says why
_TRIAL = 256  # rows: enough to train what has 256 centres, the usual number
_SECONDS = 20.0  # for the trial of an index without rows
_LENGTH = 1000  # of a description; the system limits what can be passed to a process
_TOO_FEW_LINKS = re.compile(r"HNSW0*[01](?!\d)")  # levels are drawn with 1 / log(links)


def build_index(k: int, factory: Any, rows: Dense | None) -> Any:
    """Make the index that ``faiss.index_factory(k, factory)`` describes; train it and add ``rows``.

    Raises ValueError if Faiss does not know the description, cannot build the index from as many
    rows, or crashes.
    """
    faiss = require("faiss", "A Faiss index")
    if not isinstance(factory, str) or not factory.isprintable() or len(factory) > _LENGTH:
        _refuse(factory, f"it is not a line of up to {_LENGTH} characters")
    if _TOO_FEW_LINKS.search(factory):
        _refuse(factory, "a graph needs at least two links for each row")
    # A program that is packed into one file has no interpreter that could be started for this.
    if factory == "Flat" or getattr(sys, "frozen", False) or not sys.executable:
        try:
            return _build(faiss, k, factory, rows)
        except RuntimeError as error:
            _refuse(factory, _reason(error))
    arguments = (k, faiss.omp_get_max_threads(), factory)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__, *map(str, arguments)],
            input=b"" if rows is None else rows.data.cast("B"),
            capture_output=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            timeout=_SECONDS if rows is None else None,  # with rows, training may take hours
        )
    except subprocess.TimeoutExpired as late:  # without a crash: the index itself came before
        done = subprocess.CompletedProcess([], 0, late.output, b"")
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode == _REFUSED:
        _refuse(factory, said[-1])
    if done.returncode != 0:
        _refuse(factory, f"the process that tried it ended with {_ending(done.returncode)}")
    if not done.stdout:
        _refuse(factory, f"the process that tried it did not end within {_SECONDS:g} seconds")
    for line in said:
        if line.startswith("WARNING"):
            warnings.warn(f"Faiss: {line.removeprefix('WARNING ')}.", stacklevel=3)
    return faiss.deserialize_index(np.frombuffer(done.stdout, dtype=np.uint8))


def main() -> None:
    """Do the work of the other process: rows come by standard input, the index leaves by output."""
    faiss = require("faiss", "A Faiss index")
    k, threads, factory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    output = os.fdopen(os.dup(1), "wb")
    threading.Thread(target=_end_with_reader, args=(os.dup(1),), daemon=True).start()
    os.dup2(2, 1)  # or lines that Faiss prints would get into the index
    faiss.omp_set_num_threads(threads)
    rows = np.frombuffer(sys.stdin.buffer.read(), dtype=np.float32).reshape(-1, k)
    try:
        index = _build(faiss, k, factory, rows if len(rows) else None)
        with output:
            faiss.write_index(index, faiss.PyCallbackIOWriter(output.write))
        _try(faiss, k, factory, trains=not len(rows))
    except (RuntimeError, MemoryError) as error:
        print(_reason(error), file=sys.stderr)
        sys.exit(_REFUSED)


def _end_with_reader(pipe: int) -> None:
    """End this process with the one that reads the index: training could go on for hours."""
    if hasattr(select, "poll"):  # not on Windows
        poll = select.poll()
        poll.register(pipe, 0)  # no event but the end of the reader
        poll.poll()
        os._exit(1)


def _try(faiss: Any, k: int, factory: str, *, trains: bool) -> None:
    """Fill another such index: it must not crash for those who add rows later.

    An error is no reason to refuse the index, it may be due to the number of rows. Training can
    take long, so it is tried only where no rows have tried it already.
    """
    rows = np.random.default_rng(0).normal(size=(_TRIAL, k)).astype(np.float32)
    if trains or faiss.index_factory(k, factory).is_trained:
        with suppress(RuntimeError):
            _build(faiss, k, factory, rows)


def _build(faiss: Any, k: int, factory: str, rows: Dense | None) -> Any:
    index = faiss.index_factory(k, factory)
    if rows is not None:
        if not index.is_trained:
            index.train(rows)
        index.add(rows)
        index.search(rows[:1], 1)  # "IVF0,Flat" fails here
    return index


def _reason(error: Exception) -> str:
    """What Faiss says, without the place in its source."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    return re.split(r"failed: |\.(?:cpp|h):\d+: ", str(error))[-1].strip().rstrip(".")


def _ending(code: int) -> str:
    """The name of the signal that ended a process, or its exit code."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _refuse(factory: Any, reason: str) -> NoReturn:
    raise ValueError(
        f"factory must be a description of an index that Faiss can build, such as 'Flat' or "
        f"'HNSW32', got {factory!r}: {reason}."
    ) from None


if __name__ == "__main__":
    main()
