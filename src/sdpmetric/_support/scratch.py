"""Scratch folders: a file is written in one before it replaces another file.

A scratch folder lies beside the file to replace: on the same disk, as a rename needs. Its writer
locks a file in it. The system releases that lock when the writer ends, even by a kill. So the next
write knows the folders whose writers are dead, and removes them. The number of a process would not
do in place of a lock: numbers are given out again, and other hosts have the same ones.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

ASIDE = "aside"  # in a scratch folder: holds a version that is put back if no other took its place
_LOCK = "sdpmetric.lock"
_NAME = re.compile(r"\.sdpmetric-([0-9a-f]{8})-[a-z0-9_]{8}")
_DAY = 86_400.0


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder in ``parent``, which nobody else can enter; remove it at the end.

    First removes the scratch folders in ``parent`` whose writers are dead.
    """
    folder, lock = _new(parent)
    with lock:
        try:
            _remove_leftovers(folder)
            yield folder
        finally:
            with suppress(OSError):  # the next write tries again
                _remove(folder, lock)


def _new(parent: Path) -> tuple[Path, BinaryIO]:
    """Make a folder and lock it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".sdpmetric-{_system()}-", dir=parent))
        try:
            lock = _open_lock(folder, os.O_CREAT | os.O_EXCL)
        except FileNotFoundError:  # another writer took the folder, still empty, for a leftover
            continue
        except OSError:
            folder.rmdir()
            raise
        try:
            if _locked(lock):
                return folder, lock
        except OSError:
            # A disk without locks. Without its lock file the folder is nobody's to remove but ours.
            os.rename(folder / _LOCK, folder / "unlocked")
            return folder, lock
        lock.close()  # another writer was faster to lock the file, and removes the folder


def _locked(lock: BinaryIO) -> bool:
    """Lock an open file, at once or not at all. False: somebody else has it, or has removed it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return os.fstat(lock.fileno()).st_nlink > 0


def _remove_leftovers(own: Path) -> None:
    """Remove the scratch folders beside our own whose writers are dead."""
    now = own.stat().st_mtime  # by the clock of the disk's host, as the times of the other folders
    with suppress(OSError), os.scandir(own.parent) as entries:
        for entry in entries:
            name = _NAME.fullmatch(entry.name)
            if name and entry.is_dir(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                # Some network disks keep the locks of each host apart: a lock that is free here may
                # be held on another host. What another host left, or this one before it was
                # started again, is given a day.
                ours = name[1] == _system() or now - found.st_mtime > _DAY
                if ours and found.st_uid == own.stat().st_uid:
                    with suppress(OSError):
                        _remove_leftover(Path(entry.path))


def _remove_leftover(folder: Path) -> None:
    try:
        lock = _open_lock(folder, getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        folder.rmdir()  # a kill came before the lock was made; a folder with content is not ours
        return
    with lock:
        if _locked(lock):
            _remove(folder, lock)


def _open_lock(folder: Path, flags: int) -> BinaryIO:
    return os.fdopen(os.open(folder / _LOCK, os.O_RDWR | flags, 0o600), "rb+")


def _remove(folder: Path, lock: BinaryIO) -> None:
    """Remove a scratch folder, the lock file last: a kill in between leaves a known leftover."""
    aside = folder / ASIDE
    for entry in aside.iterdir() if aside.is_dir() else ():
        with suppress(OSError):  # there is a newer version in its place
            os.rename(entry, folder.parent / entry.name)
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()
    # Windows removes no file that is open. Elsewhere the lock is held until its file is gone, so
    # that a writer who waits for the lock finds that out.
    if sys.platform == "win32":
        lock.close()
    (folder / _LOCK).unlink(missing_ok=True)
    folder.rmdir()


def _system() -> str:
    """Eight digits for the running system: containers share them, other hosts have others."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        text = platform.node()
    return f"{zlib.crc32(text.encode()):08x}"
