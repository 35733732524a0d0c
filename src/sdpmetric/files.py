"""Files are written whole or not at all, and what goes wrong is said in one sentence."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["as_path", "check_suffix", "readable", "replacing", "replacing_folder"]


def as_path(path: Any) -> Path:
    try:
        return Path(os.fsdecode(path))
    except TypeError:
        raise ValueError(f"path must be the name of a file, got {path!r}.") from None


def check_suffix(path: Path, suffixes: tuple[str, ...]) -> str:
    """The extension of a path, if it is one of those expected."""
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        raise ValueError(f"path must end in {' or '.join(suffixes)}, got {str(path)!r}.")
    return suffix


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What can be wrong with a path that is to be read."""
    if path.is_dir():
        raise ValueError(f"path must name a file, got the folder {str(path)!r}.")
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {str(path)!r}.") from None
    except OSError as error:
        _fail("read", path, error)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to that takes the place of ``path`` at the end, if all went well.

    It lies in a new folder beside ``path``: on the same disk, and with the permissions that any
    new file has, which those of `tempfile.mkstemp` are not.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"path must name a file, got the folder {str(path)!r}.")
    with _beside(target, path) as temporary:
        yield temporary
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, target)


@contextmanager
def replacing_folder(path: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """As `replacing`, for a folder of files of these names; one with others in it is left alone."""
    target = Path(os.path.realpath(path))
    if target.exists():
        if not target.is_dir():
            raise ValueError(f"path must name a folder, got the file {str(path)!r}.")
        others = sorted({entry.name for entry in target.iterdir()} - set(names))
        if others:
            raise ValueError(
                f"path must name a new folder or one that holds nothing but {' and '.join(names)}; "
                f"{str(path)!r} also holds {others[0]!r}."
            )
    with _beside(target, path) as temporary:
        temporary.mkdir()
        yield temporary
        if target.exists():
            os.replace(target, temporary.with_name("old"))
        os.replace(temporary, target)


@contextmanager
def _beside(target: Path, path: Path) -> Iterator[Path]:
    try:
        room = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            yield room / f"new{target.suffix}"
        finally:
            shutil.rmtree(room, ignore_errors=True)
    except OSError as error:
        _fail("write", path, error)


def _fail(verb: str, path: Path, error: OSError) -> NoReturn:
    """The same error, but one that names the user's path."""
    kind = next((k for k in (FileNotFoundError, PermissionError) if isinstance(error, k)), OSError)
    reason = error.strerror or str(error)
    if kind is FileNotFoundError and not path.parent.exists():
        reason = f"there is no folder {str(path.parent)!r}"
    raise kind(f"Cannot {verb} {str(path)!r}: {reason[:1].lower()}{reason[1:]}.") from None
