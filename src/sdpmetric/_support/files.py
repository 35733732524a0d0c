"""Read and write files: a file is written completely or not at all; errors are one sentence."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from .renaming import replace_file, replace_folder
from .scratch import scratch_folder

_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def as_path(path: Any) -> Path:
    """Return the name of a file as a Path; names may be strings, bytes or path objects."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        name = "\0"
    if "\0" in name:  # no system has such a name
        raise ValueError(f"path must be the name of a file, got {path!r}.")
    return Path(name)


def check_suffix(path: Path, suffixes: tuple[str, ...]) -> str:
    """Return the extension of a path, in lower case; raise unless it is one of ``suffixes``."""
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise ValueError(f"path must end in {' or '.join(suffixes)}, got {str(path)!r}.")
    return suffix


def as_target(path: Path, kind: str = "file") -> Path:
    """Return the file, or the folder, that a path leads to through links; it may be a new one.

    Raises if something else is there: a rename would put a file in the place of a device or a FIFO.
    Raises too if there is no folder for a new file.
    """
    target = Path(os.path.realpath(path))
    try:
        found = _KINDS.get(stat.S_IFMT(path.stat().st_mode), "special file")
    except FileNotFoundError:
        if target.parent.is_dir():
            return target
        link = "it is a link, and " if path.is_symlink() else ""
        folder = str(target.parent if link else path.parent)
        raise FileNotFoundError(
            f"Cannot write {str(path)!r}: {link}there is no folder {folder!r}."
        ) from None
    except OSError as error:
        _fail("write", path, error)
    if found == kind and not target.exists():  # /dev/fd/3, if that file was deleted
        found = "nameless file"
    if found != kind:
        link = f" (a link to {str(target)!r})" if path.is_symlink() else ""
        raise ValueError(f"path must name a {kind}, got the {found} {str(path)!r}{link}.")
    return target


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn the errors of reading a file into one sentence that names the file."""
    if path.is_dir():
        raise ValueError(f"path must name a file, got the folder {str(path)!r}.")
    if path.exists() and not path.is_file():  # a pipe may never end, nor a device
        raise ValueError(f"path must name a regular file, got {str(path)!r}.")
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {str(path)!r}.") from None
    except OSError as error:
        _fail("read", path, error)


def replace_bytes(path: Path, data: bytes | memoryview) -> None:
    """Write a file; an existing one is replaced."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path; on success the file written there replaces ``path``.

    The file keeps the mode and the owner of the one that it replaces; a new file gets those of any
    new file. Whatever happens, ``path`` holds the old version or the new one, complete.
    """
    target = as_target(path)
    with _scratch(path, target) as folder:
        temporary = folder / f"new{target.suffix}"
        yield temporary
        as_target(target)  # writing can take long enough for something else to get that name
        replace_file(temporary, target)


@contextmanager
def replacing_folder(
    path: Path, names: tuple[str, ...], *, folders: bool = False
) -> Iterator[Path]:
    """Yield a temporary folder; on success it replaces the folder ``path``.

    A folder that holds files other than ``names`` is not ours to replace: that raises. With
    ``folders`` these may be folders too.
    """
    target = as_target(path, "folder")
    _check_names(target, path, names, folders)
    with _scratch(path, target) as folder:
        temporary = folder / "new"
        temporary.mkdir()
        yield temporary
        _check_names(target, path, names, folders)
        replace_folder(temporary, target)


def _check_names(folder: Path, path: Path, names: tuple[str, ...], folders: bool) -> None:
    there = sorted(folder.iterdir()) if folder.exists() else []
    others = [e.name for e in there if e.name not in names or not (folders or e.is_file())]
    if others:
        raise ValueError(
            f"path must name a new folder or one that holds nothing but the files "
            f"{' and '.join(names)}; {str(path)!r} also holds {others[0]!r}."
        )


@contextmanager
def _scratch(path: Path, target: Path) -> Iterator[Path]:
    """Yield a scratch folder beside the target; errors name the user's path."""
    try:
        with scratch_folder(target.parent) as folder:
            yield folder
    except OSError as error:
        _fail("write", path, error)


def _fail(verb: str, path: Path, error: OSError) -> NoReturn:
    """Raise the same error again with a message that names the user's path.

    OSError has many subclasses; the two that callers catch are kept.
    """
    kind = next((k for k in (FileNotFoundError, PermissionError) if isinstance(error, k)), OSError)
    reason = error.strerror or str(error)
    raise kind(f"Cannot {verb} {str(path)!r}: {reason[:1].lower()}{reason[1:]}.") from None
