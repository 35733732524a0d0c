"""Progress as plain text: one line that changes on a terminal, lines now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

_TERMINAL, _LOG = 0.1, 10.0  # seconds between two lines
_SOON = 0.02  # share from which the time that is left can be estimated


class PlainText:
    """Shows stages on a stream.

    Parameters
    ----------
    stream : where to write
    keep : whether the last line of each stage stays on a terminal
    clock : seconds, for tests
    """

    def __init__(
        self, stream: TextIO, *, keep: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.stream, self.keep, self.clock = stream, keep, clock
        self.terminal = stream.isatty()
        self.title, self.started = "", clock()
        self.written = -float("inf") if self.terminal else self.started
        self.width = 0  # of the line that stands on the terminal
        self.last = ""  # the newest line, which may have come too soon to be written

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end_line()

    def stage(self, title: str) -> PlainText:
        """Begin a stage."""
        self._end_line()
        self.title, self.started = title, self.clock()
        if self.terminal:
            self._write(f"{title} ...")
        return self

    def __call__(self, done: float, total: float, note: str = "") -> None:
        """Show how much of the stage is done."""
        now = self.clock()
        share, passed = done / total if total else 0.0, now - self.started
        parts = [f"{self.title}: {share:.0%}", note, _clock(passed)]
        # A gap does not fall at an even pace: its rest is not estimated.
        if not note and _SOON < share < 1.0:
            parts.append(f"about {_clock(passed * (1.0 - share) / share)} left")
        self.last = ", ".join(part for part in parts if part)
        if now - self.written >= (_TERMINAL if self.terminal else _LOG):
            self._write(self.last)
            self.written = now

    def _write(self, line: str) -> None:
        if self.terminal:
            self.stream.write("\r" + line.ljust(self.width))
            self.width = len(line)
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def _end_line(self) -> None:
        """Leave the line that stands on the terminal, or wipe it."""
        if self.width:
            if self.last and self.keep:
                self._write(self.last)
            self.stream.write("\n" if self.keep else "\r" + " " * self.width + "\r")
            self.stream.flush()
            self.width, self.last, self.written = 0, "", -float("inf")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
