"""Scratch folders of dead writers are removed by the next write; all other folders stay."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sdpmetric._support import scratch
from sdpmetric._support.files import replace_bytes
from sdpmetric._support.scratch import scratch_folder

WRITER = """
import sys
from pathlib import Path
from sdpmetric._support.scratch import scratch_folder

with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "new").mkdir()
    (folder / "new" / "half").write_text("hal")
    print(folder.name, flush=True)
    sys.stdin.read()
"""


def writer(folder: Path) -> subprocess.Popen[str]:
    """A process that is in the middle of a write, until its input ends."""
    command = [sys.executable, "-c", WRITER, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def leftover(folder: Path, *, system: str | None = None, lock: bool = True) -> Path:
    """A scratch folder whose writer was killed."""
    left = folder / f".sdpmetric-{system or scratch._system()}-abc_1234"
    left.mkdir()
    (left / "new").mkdir()
    (left / "new" / "half").write_text("hal")
    if lock:
        (left / "sdpmetric.lock").touch()
    return left


def test_a_living_writer_keeps_its_folder_and_a_dead_one_does_not(tmp_path: Path) -> None:
    with writer(tmp_path) as process:
        assert process.stdout
        name = process.stdout.readline().strip()
        replace_bytes(tmp_path / "a", b"new")
        assert (tmp_path / name / "new" / "half").read_text() == "hal"
        process.kill()
    assert sorted(os.listdir(tmp_path)) == sorted([name, "a"])
    replace_bytes(tmp_path / "b", b"new")  # another file: leftovers go whatever is written
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_writer_that_ends_removes_its_folder(tmp_path: Path) -> None:
    with writer(tmp_path) as process:
        process.communicate()
    assert process.returncode == 0
    assert os.listdir(tmp_path) == []


def test_a_kill_before_the_lock_leaves_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / f".sdpmetric-{scratch._system()}-abc_1234").mkdir()
    replace_bytes(tmp_path / "a", b"new")
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "name", [".sdpmetric", ".sdpmetric-mine", "x.sdpmetric-{}-abc_1234", ".sdpmetric-{}-abc_12345"]
)
def test_folders_of_other_names_stay(name: str, tmp_path: Path) -> None:
    folder = leftover(tmp_path).rename(tmp_path / name.format(scratch._system()))
    replace_bytes(tmp_path / "a", b"new")
    assert (folder / "new" / "half").read_text() == "hal"


def test_folders_without_a_lock_stay(tmp_path: Path) -> None:
    folder = leftover(tmp_path, lock=False)
    replace_bytes(tmp_path / "a", b"new")
    assert (folder / "new" / "half").read_text() == "hal"


@pytest.mark.skipif(os.name == "nt", reason="links need a right on Windows")
def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "folder").mkdir()
    mine = leftover(tmp_path / "elsewhere").rename(tmp_path / "mine")
    (tmp_path / "folder" / f".sdpmetric-{scratch._system()}-abc_0000").symlink_to(mine)
    with_link = leftover(tmp_path / "folder", lock=False)
    (with_link / "sdpmetric.lock").symlink_to(mine / "sdpmetric.lock")
    replace_bytes(tmp_path / "folder" / "a", b"new")
    assert (mine / "new" / "half").read_text() == "hal"
    assert (with_link / "new" / "half").read_text() == "hal"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give files away")
def test_folders_of_other_users_stay(tmp_path: Path) -> None:
    folder = leftover(tmp_path)
    os.chown(folder, 12345, 12345)
    replace_bytes(tmp_path / "a", b"new")
    assert (folder / "new" / "half").read_text() == "hal"


@pytest.mark.parametrize(("hours", "stays"), [(23, True), (25, False)])
def test_folders_of_another_host_are_given_a_day(hours: int, stays: bool, tmp_path: Path) -> None:
    """Its locks may not be seen here, where a disk keeps those of each host apart."""
    folder = leftover(tmp_path, system="00000000")
    then = tmp_path.stat().st_mtime - 3600 * hours
    os.utime(folder, (then, then))
    replace_bytes(tmp_path / "a", b"new")
    assert folder.exists() is stays


@pytest.mark.skipif(os.name == "nt", reason="Windows has other locks")
def test_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a lock nobody can tell a dead writer: its folder stays, a living one's too."""

    def no_locks(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", no_locks)
    left = leftover(tmp_path)
    with scratch_folder(tmp_path) as folder:
        assert "sdpmetric.lock" not in os.listdir(folder)
        monkeypatch.undo()  # another writer, who has locks
        replace_bytes(tmp_path / "a", b"new")
        assert folder.exists()
    assert os.listdir(tmp_path) == ["a"]
    assert not left.exists()


@pytest.mark.parametrize("moment", ["before the lock file", "before the lock", "after the removal"])
def test_a_folder_taken_for_a_leftover_at_birth(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer looks between the steps that make a folder: the first one makes another."""
    made: list[Path] = []
    opened, locked = scratch._open_lock, scratch._locked

    def open_late(folder: Path, flags: int) -> Any:
        made.append(folder)
        if moment == "before the lock file" and len(made) == 1:
            folder.rmdir()
        return opened(folder, flags)

    def lock_late(lock: Any) -> bool:
        if moment == "before the lock" and len(made) == 1:
            return False
        if moment == "after the removal" and len(made) == 1:
            (made[0] / "sdpmetric.lock").unlink()
            made[0].rmdir()
        return locked(lock)

    monkeypatch.setattr(scratch, "_open_lock", open_late)
    monkeypatch.setattr(scratch, "_locked", lock_late)
    with scratch_folder(tmp_path) as folder:
        assert folder == made[1]
        assert (folder / "sdpmetric.lock").exists()
    assert not folder.exists()


def test_a_folder_that_cannot_be_listed_is_no_reason_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(_: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("sdpmetric._support.scratch.os.scandir", forbidden)
    replace_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
