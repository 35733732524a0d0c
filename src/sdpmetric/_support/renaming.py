"""Put a new version of a file or folder in the place of the old one, in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

from .scratch import ASIDE

_NOT_EMPTY = (errno.ENOTEMPTY, errno.EEXIST)
_CANNOT_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def replace_file(new: Path, target: Path) -> None:
    """Rename a file to ``target``; an existing file is replaced and its mode and owner are kept."""
    # Without fsync a crash soon after the rename can leave an empty file under the old name.
    sync(new)
    _keep_attributes(target, new)
    os.replace(new, target)
    _sync_names(target.parent)


def replace_folder(new: Path, target: Path) -> None:
    """Rename a folder of files to ``target``; an existing folder is replaced, modes are kept.

    Where the system can exchange two names (Linux and macOS, on most local disks), there is no
    moment without either version. Elsewhere the old one is renamed first; if the writer is killed
    in between, the next write into the same parent folder puts it back.
    """
    for entry in new.rglob("*"):
        (_sync_names if entry.is_dir() else sync)(entry)
        _keep_attributes(target / entry.relative_to(new), entry)
    _sync_names(new)
    _keep_attributes(target, new)
    try:
        os.rename(new, target)
    except OSError as error:
        if error.errno not in _NOT_EMPTY:
            raise
        if not _exchange(new, target):
            aside = new.with_name(ASIDE)
            aside.mkdir()
            os.rename(target, aside / target.name)
            os.rename(new, target)
            shutil.rmtree(aside)
    _sync_names(target.parent)


def sync(file: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with open(file, "rb+") as written:  # Windows flushes nothing that is open for reading alone
        os.fsync(written.fileno())


def _sync_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system has a way to do that."""
    if sys.platform != "win32":
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _keep_attributes(old: Path, new: Path) -> None:
    """Give a new version the mode, owner and access list of the old one, if there is one."""
    try:
        before = old.stat()
    except FileNotFoundError:
        return
    if sys.platform != "win32":
        for owner in (before.st_uid, -1):  # only root may give a file away
            with suppress(OSError):
                os.chown(new, owner, before.st_gid)
                break
    shutil.copystat(old, new)
    os.utime(new)  # copystat took the times too
    mode = stat.S_IMODE(before.st_mode)
    if new.stat().st_gid != before.st_gid:  # another group must not get what that group had
        new.chmod(mode & ~stat.S_IRWXG | mode & mode << 3 & stat.S_IRWXG)


def _exchange(a: Path, b: Path) -> bool:
    """Exchange two names in one step; False if the system or the disk has no such step."""
    if sys.platform == "win32":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(a), os.fsencode(b)
    if hasattr(libc, "renameat2"):
        here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        failed = libc.renameat2(here, names[0], here, names[1], exchange)
    elif hasattr(libc, "renamex_np"):
        swap = 2  # RENAME_SWAP of macOS
        failed = libc.renamex_np(*names, swap)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number))
