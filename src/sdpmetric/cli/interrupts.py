"""Signals that end a command as Ctrl-C does: what is certified is saved.

SIGTERM is what `kill`, a batch system or a container sends before it ends a process by force, and
SIGHUP comes when the terminal is closed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

_KEY = "sdpmetric.signal"


@contextmanager
def signals_as_interrupts(ctx: click.Context) -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP, too."""

    def interrupt(number: int, _: Any) -> None:
        ctx.meta[_KEY] = number
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # A handler of the caller's stays, and so does a signal that is ignored: nohup does that.
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []  # other threads may not set handlers
    for number in ours:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def interrupt_code(ctx: click.Context) -> int:
    """Return the exit code that shells expect: 128 and the number of the signal."""
    # Python remembers that an interrupt left the code of a text, as dataclasses run it when they
    # are made, and would end with SIGINT even though it was caught. The next such text resets it.
    exec("")
    return 128 + int(ctx.meta.get(_KEY, signal.SIGINT))
