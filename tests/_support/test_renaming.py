"""A folder replaces another one in one step, or the old one is put back."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sdpmetric._support import renaming
from sdpmetric._support.files import replace_bytes, replacing_folder

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems exchange on some disks")


def write(folder: Path, data: bytes) -> None:
    with replacing_folder(folder, ("a", "b")) as temporary:
        for name in "ab":
            (temporary / name).write_bytes(data)


def content(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in "ab"]


@pytest.fixture
def cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system or a disk that cannot exchange two names."""
    monkeypatch.setattr(renaming, "_exchange", lambda a, b: False)


@linux
def test_there_is_no_moment_without_either_version(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write(folder, b"old")
    seen: list[list[bytes]] = []

    def look(frame: FrameType, event: str, argument: object) -> Any:
        """Look before each line of the code that renames."""
        if frame.f_code.co_filename != renaming.__file__:
            return None
        seen.append(content(folder))
        return look

    before = sys.gettrace()  # that of a measurement of coverage
    sys.settrace(look)
    try:
        write(folder, b"new")
    finally:
        sys.settrace(before)
    assert seen[0] == [b"old"] * 2
    assert seen[-1] == [b"new"] * 2
    assert all(found in ([b"old"] * 2, [b"new"] * 2) for found in seen)
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.usefixtures("cannot")
def test_two_renames_where_names_cannot_be_exchanged(tmp_path: Path) -> None:
    for n in range(3):
        write(tmp_path / "folder", b"%d" % n)
        assert content(tmp_path / "folder") == [b"%d" % n] * 2
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.usefixtures("cannot")
def test_the_old_folder_is_put_back_if_the_second_rename_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the only version left was removed with the temporary folder."""
    write(tmp_path / "folder", b"old")
    rename = os.rename

    def fails(a: Any, b: Any) -> None:
        if Path(b) == tmp_path / "folder" and Path(a).name == "new":
            number = errno.EACCES if not Path(b).exists() else errno.ENOTEMPTY
            raise OSError(number, os.strerror(number))
        rename(a, b)

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(PermissionError, match=r"Cannot write .*folder': permission denied"):
        write(tmp_path / "folder", b"new")
    assert content(tmp_path / "folder") == [b"old"] * 2
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EACCES])
def test_disks_that_cannot_exchange(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Libc:
        @staticmethod
        def renameat2(*_: Any) -> int:
            return -1

    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: Libc())
    monkeypatch.setattr("ctypes.get_errno", lambda: number)
    monkeypatch.setattr(sys, "platform", "linux")
    if number == errno.EACCES:
        with pytest.raises(PermissionError):
            renaming._exchange(Path("a"), Path("b"))
    else:
        assert renaming._exchange(Path("a"), Path("b")) is False


@pytest.mark.skipif(os.name == "nt", reason="Windows has no groups of files")
def test_another_group_does_not_get_what_the_old_group_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a group that the writer is not in cannot be given to that group."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o664)

    def forbidden(*_: Any) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    class OtherGroup:
        """The old file, of a group that is not ours."""

        def __init__(self, found: os.stat_result) -> None:
            self.st_uid, self.st_gid, self.st_mode = found.st_uid, -2, found.st_mode

    found: Callable[..., Any] = Path.stat
    monkeypatch.setattr(os, "chown", forbidden)
    monkeypatch.setattr(
        Path,
        "stat",
        lambda self, **o: OtherGroup(found(self)) if self == path else found(self, **o),
    )
    replace_bytes(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
