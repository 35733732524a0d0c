"""Write to disks that are full or read-only: the old file or the new one, complete, must remain.

    python -m tests.campaigns.disks

Every kind of file is written to a small disk in memory, with just enough pages free, then with one
page less, down to none; then with few entries for new files; then to a disk made read-only. The
disks are seen by this process alone: the module starts itself again in a mount namespace of its
own. Where that is not allowed, it says so, with exit code 77.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.killing import Writer

PAGE = 4096
NOT_ALLOWED = 77
FILLER = "filler"


@dataclass
class Count:
    """What happened to one kind of file.

    Attributes
    ----------
    refused : writes that ended with an error
    nameless : errors that do not name the file
    written : writes that succeeded
    torn : files that were neither version, or not the one that was promised
    leftovers : writes that left something else behind
    """

    refused: int = 0
    nameless: int = 0
    written: int = 0
    torn: int = 0
    leftovers: int = 0


class Disk:
    """A small disk with one file of a kind on it."""

    def __init__(self, writer: Writer, folder: Path) -> None:
        folder.mkdir()
        self.writer, self.folder = writer, folder
        self.count = Count()
        self.contents: list[Any] = []
        for version in (0, 1):
            trial = folder / writer.name
            writer.write(trial, version)
            self.contents.append(writer.read(trial))
        self.pages = _pages(trial) + 2

    def mount(self, options: str) -> None:
        """Put a new disk at the folder, with version 0 on it."""
        mount("-t", "tmpfs", "-o", options, "tmpfs", str(self.folder))
        self.writer.write(self.folder / self.writer.name, 0)

    def write(self) -> bool:
        """Try to write version 1, and count what became of it."""
        path = self.folder / self.writer.name
        names = sorted(os.listdir(self.folder))
        try:
            self.writer.write(path, 1)
        except OSError as error:
            written = False
            self.count.refused += 1
            self.count.nameless += str(path) not in str(error)
        else:
            written = True
            self.count.written += 1
        self.count.torn += self.writer.version(path, self.contents) != written
        self.count.leftovers += sorted(os.listdir(self.folder)) != names
        return written


def full(disk: Disk, levels: int | None) -> None:
    """Fill the disk but for enough pages, for one page less, ...: so many writes must fail."""
    for free in range(disk.pages, -1, -1):
        disk.mount(f"size={3 * disk.pages * PAGE}")
        with open(disk.folder / FILLER, "wb") as filler:
            space = shutil.disk_usage(disk.folder).free // PAGE
            filler.write(bytes(max(space - free, 0) * PAGE))
        written = disk.write()
        unmount(disk.folder)
        if free == disk.pages and not written:
            raise RuntimeError(f"{disk.writer.name} could not be written to a disk with room.")
        if disk.count.refused == levels:
            return


def few_entries(disk: Disk) -> None:
    """Leave room for no further entry, for one, ... until a write succeeds."""
    for free in range(12):
        disk.mount(f"size={3 * disk.pages * PAGE}")
        used = os.statvfs(disk.folder)
        entries = used.f_files - used.f_ffree + free
        mount("-o", f"remount,nr_inodes={entries}", str(disk.folder))
        written = disk.write()
        unmount(disk.folder)
        if written:
            return
    raise RuntimeError(f"{disk.writer.name} needs more than twelve entries.")


def read_only(disk: Disk) -> None:
    """Try to write to a disk that cannot be written to."""
    disk.mount(f"size={3 * disk.pages * PAGE}")
    mount("-o", "remount,ro", str(disk.folder))
    if disk.write():
        raise RuntimeError(f"{disk.writer.name} was written to a read-only disk.")
    unmount(disk.folder)


def mount(*arguments: str) -> None:
    """Mount something, for this process alone."""
    subprocess.run(["mount", *arguments], check=True)


def unmount(folder: Path) -> None:
    """Undo `mount`."""
    subprocess.run(["umount", str(folder)], check=True)


def _pages(path: Path) -> int:
    files = list(path.iterdir()) if path.is_dir() else [path]
    return sum(-(-file.stat().st_size // PAGE) for file in files)


def campaign(levels: int | None) -> dict[str, Count]:
    """Write every kind of file to bad disks."""
    from tests.support.writers import writers

    counts = {}
    with TemporaryDirectory() as place:
        # An array of 45 x 91 numbers ends just behind a page: np.save would lose that end.
        for kind, writer in writers(91, Path(place)).items():
            disk = Disk(writer, Path(place) / kind)
            full(disk, levels)
            few_entries(disk)
            read_only(disk)
            counts[kind] = disk.count
    return counts


def apart() -> list[str]:
    """A command that runs others in a mount namespace of their own; empty if there is none."""
    for command in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        mounts = 'at=$(mktemp -d) && mount -t tmpfs tmpfs "$at" && umount "$at" && rmdir "$at"'
        try:
            tried = subprocess.run([*command, "sh", "-c", mounts], capture_output=True)
        except OSError:
            return []
        if tried.returncode == 0:
            return command
    return []


def main() -> int:
    """Run the campaign and print what was counted; the exit code is 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--levels", type=int, help="writes that fail on a full disk; default: all")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.inside:
        command = apart()
        if not command:
            print("This system lets us mount no disk of our own.", file=sys.stderr)
            return NOT_ALLOWED
        again = [sys.executable, "-m", "tests.campaigns.disks", *sys.argv[1:], "--inside"]
        return subprocess.run([*command, *again]).returncode
    counts = campaign(given.levels)
    print(json.dumps({kind: asdict(count) for kind, count in counts.items()}))
    return int(any(count.nameless or count.torn or count.leftovers for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
