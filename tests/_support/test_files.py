"""A file is replaced only by a file, keeps its mode, and holds one version or the other."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sdpmetric._support.files import as_path, as_target, replace_bytes, replacing, replacing_folder

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may do that")


def device(kind: int, major: int, minor: int) -> Callable[[Path], None]:
    """A node of our own, so that no device of the machine is at risk."""

    def make(path: Path) -> None:
        try:
            os.mknod(path, kind | 0o600, os.makedev(major, minor))
        except PermissionError:
            pytest.skip("only root may make a device")

    return make


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        # A relative name: the system limits its length.
        here = os.getcwd()
        os.chdir(path.parent)
        server.bind(path.name)
        os.chdir(here)


SPECIAL = {
    "FIFO": lambda path: os.mkfifo(path),
    "socket": bind,
    "character device": device(stat.S_IFCHR, 1, 3),
    "block device": device(stat.S_IFBLK, 7, 99),
}


@posix
@pytest.mark.parametrize("linked", ["direct", "link", "link to a link"])
@pytest.mark.parametrize("kind", SPECIAL)
def test_devices_and_fifos_are_not_replaced(kind: str, linked: str, tmp_path: Path) -> None:
    node = path = tmp_path / "node.json"
    SPECIAL[kind](node)
    before = node.lstat()
    for name in {"direct": "", "link": "a", "link to a link": "ab"}[linked]:
        (tmp_path / name).symlink_to(path)
        path = tmp_path / name
    names = sorted(os.listdir(tmp_path))
    to = rf" \(a link to '{node}'\)" if linked != "direct" else ""
    with pytest.raises(
        ValueError, match=rf"^path must name a file, got the {kind} '{path}'{to}\.$"
    ):
        replace_bytes(path, b"new")
    with pytest.raises(ValueError, match=rf"^path must name a folder, got the {kind} '{path}'"):
        replacing_folder(path, ("a",)).__enter__()
    assert sorted(os.listdir(tmp_path)) == names
    after = node.lstat()
    assert (after.st_ino, after.st_mode, after.st_rdev) == (
        before.st_ino,
        before.st_mode,
        before.st_rdev,
    )


@posix
def test_a_fifo_that_comes_during_the_write_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def write() -> None:
        with replacing(path) as temporary:
            temporary.write_bytes(b"new")
            os.mkfifo(path)

    with pytest.raises(ValueError, match="got the FIFO"):
        write()
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == ["a"]


@posix
def test_a_deleted_file_has_no_name_to_replace(tmp_path: Path) -> None:
    with open(tmp_path / "a", "wb") as file:
        path = Path(f"/proc/self/fd/{file.fileno()}")
        if not path.exists():
            pytest.skip("this system has no such links")
        (tmp_path / "a").unlink()
        with pytest.raises(ValueError, match="path must name a file, got the nameless file"):
            replace_bytes(path, b"new")
    assert os.listdir(tmp_path) == []


@posix
def test_links_lead_to_the_file(tmp_path: Path) -> None:
    for name, target in {"there": "old", "new": "made"}.items():
        (tmp_path / name).symlink_to(target)
    (tmp_path / "old").write_bytes(b"old")
    for name in ("there", "new"):
        replace_bytes(tmp_path / name, b"new")
        assert (tmp_path / name).is_symlink()
    assert (tmp_path / "old").read_bytes() == (tmp_path / "made").read_bytes() == b"new"


@posix
def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    dangling, loop = tmp_path / "dangling", tmp_path / "loop"
    dangling.symlink_to(tmp_path / "none" / "a")
    loop.symlink_to(loop)
    message = rf"^Cannot write '{dangling}': it is a link, and there is no folder '{tmp_path}/none'"
    with pytest.raises(FileNotFoundError, match=message):
        replace_bytes(dangling, b"new")
    with pytest.raises(OSError, match=rf"^Cannot write '{loop}': too many levels of symbolic"):
        replace_bytes(loop, b"new")
    assert sorted(os.listdir(tmp_path)) == ["dangling", "loop"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o400, 0o000, 0o750])
def test_the_mode_of_a_file_stays(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_bytes(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o600)
    assert path.read_bytes() == b"new"


@posix
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_new_files_follow_the_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        replace_bytes(tmp_path / "a", b"new")
        with replacing_folder(tmp_path / "folder", ("a",)) as temporary:
            (temporary / "a").write_bytes(b"new")
    finally:
        os.umask(before)
    for name, expected in {"a": 0o666, "folder": 0o777, "folder/a": 0o666}.items():
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == expected & ~umask


@posix
def test_the_modes_in_a_folder_stay(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    (folder / "a").write_bytes(b"old")
    (folder / "a").chmod(0o600)
    with replacing_folder(folder, ("a", "b")) as temporary:
        for name in "ab":
            (temporary / name).write_bytes(b"new")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o600
    assert [(folder / name).read_bytes() for name in "ab"] == [b"new"] * 2


@root
def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    replace_bytes(path, b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o640)


def test_the_time_of_a_file_is_that_of_its_content(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.utime(path, (1.0, 1.0))
    replace_bytes(path, b"new")
    assert path.stat().st_mtime > 1e9


def test_folders_with_other_content_are_left_alone(tmp_path: Path) -> None:
    for name, place in {"file": "folder", "folder": "folder/a"}.items():
        (tmp_path / name / place).mkdir(parents=True)
        with pytest.raises(ValueError, match=r"holds nothing but the files a; .* also holds '"):
            replacing_folder(tmp_path / name, ("a",)).__enter__()

    def write() -> None:
        """Another file comes while we write."""
        with replacing_folder(tmp_path / "new", ("a",)) as temporary:
            (temporary / "a").write_bytes(b"new")
            (tmp_path / "new").mkdir()
            (tmp_path / "new" / "b").write_bytes(b"not ours")

    with pytest.raises(ValueError, match="also holds 'b'"):
        write()
    assert (tmp_path / "new" / "b").read_bytes() == b"not ours"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "new"]


def test_long_names(tmp_path: Path) -> None:
    path = tmp_path / f"{'a' * 250}.json"
    replace_bytes(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.slow
def test_writers_at_the_same_moment(tmp_path: Path) -> None:
    """Each file is complete, and no writer takes another's scratch folder for a leftover."""
    contents = [bytes([n]) * 100_000 for n in range(4)]
    failed: list[Exception] = []

    def write(data: bytes) -> None:
        try:
            for _ in range(15):
                replace_bytes(tmp_path / "a", data)
                with replacing_folder(tmp_path / "folder", ("a",)) as temporary:
                    (temporary / "a").write_bytes(data)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(data,)) for data in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if (tmp_path / "a").exists():
            assert (tmp_path / "a").read_bytes() in contents
    assert failed == []
    assert sorted(os.listdir(tmp_path)) == ["a", "folder"]
    assert (tmp_path / "folder" / "a").read_bytes() in contents


def test_names_that_no_system_has() -> None:
    for bad in (3, None, "a\0b", b"a\0b"):
        with pytest.raises(ValueError, match="path must be the name of a file, got"):
            as_path(bad)
    assert as_target(Path("a")) == Path.cwd() / "a"
