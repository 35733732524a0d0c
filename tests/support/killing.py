"""Kill writers of files, and count what became of the files."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from sdpmetric._support import files, renaming, scratch

__all__ = [
    "Count",
    "Target",
    "Writer",
    "child",
    "content",
    "dying",
    "killed",
    "leave_scratch_folder",
]

TRACED = {module.__file__ for module in (files, renaming, scratch)}
OTHER = "other.txt"

Write = Callable[[Path, int], object]


@dataclass(frozen=True)
class Writer:
    """One kind of file, in two versions.

    Attributes
    ----------
    name : name of its files
    write : writes version 0 or 1 to a path
    read : the content of a file, complete; two versions differ in it
    """

    name: str
    write: Write
    read: Callable[[Path], Any]

    def version(self, path: Path, contents: list[Any]) -> int:
        """Which version is at a path; -1: a torn one."""
        try:
            found = self.read(path)
        except (ValueError, OSError):
            return -1
        return contents.index(found) if found in contents else -1


def content(path: Path) -> Any:
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir()}
    return path.read_bytes()


@dataclass
class Count:
    """What happened to one kind of file.

    Attributes
    ----------
    kills : children that were killed
    written : versions that the children wrote completely
    unfinished : kills in the middle of a write, which left a scratch folder
    lost, torn : kills after which the file was missing, or was neither version
    leftovers : kills after which something was left by the next write
    """

    kills: int = 0
    written: int = 0
    unfinished: int = 0
    lost: int = 0
    torn: int = 0
    leftovers: int = 0


class Target:
    """A file of one kind, in a new folder with one other file."""

    def __init__(self, writer: Writer, folder: Path) -> None:
        folder.mkdir()
        self.writer = writer
        self.path = folder / writer.name
        self.contents: list[Any] = []
        self.count = Count()
        for version in (1, 0):
            self.write(version)
            self.contents.insert(0, writer.read(self.path))
        files.replace_bytes(folder / OTHER, b"")

    def write(self, version: int) -> None:
        """Write a version."""
        self.writer.write(self.path, version)

    def check(self, *, at_once: bool = True) -> None:
        """Count what a kill did. ``at_once``: the file must be there before the next write, too."""
        self.count.kills += 1
        self.count.unfinished += len(os.listdir(self.path.parent)) > 2
        if at_once:
            self._look()
        files.replace_bytes(self.path.with_name(OTHER), b"")
        self.count.leftovers += len(os.listdir(self.path.parent)) > 2
        self._look()

    def _look(self) -> None:
        if not self.path.exists():
            self.count.lost += 1
        elif self.writer.version(self.path, self.contents) < 0:
            self.count.torn += 1


def child(work: Callable[[], object]) -> int:
    """Start a process that does some work and ends."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


def killed(pid: int) -> bool:
    """Wait for a process. True: SIGKILL ended it; False: it did its work."""
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    if status != 0:
        raise RuntimeError(f"A writer failed, status {status}.")
    return False


def leave_scratch_folder(folder: Path) -> None:
    """Die in the middle of a write."""
    with scratch.scratch_folder(folder) as made:
        (made / "new").mkdir()
        (made / "new" / "half").write_text("hal")
        os.kill(os.getpid(), signal.SIGKILL)


def dying(work: Callable[[], object], step: int) -> None:
    """Do some work, and die at its line number ``step`` in the code for writing files."""
    left = step

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in TRACED:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    work()
