"""How much memory a process can still get, and a clear error where that is too little.

Three limits count: those of the process (``ulimit -v``, ``ulimit -d``), those of its control group
(containers, batch systems), and the memory of the machine. What a system does not tell is no limit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["address_space_left", "available_memory", "check_memory"]

_LITTLE = 1 << 26  # bytes that are not worth a look at the limits, which takes 0.2 ms
_PROCESS, _GROUPS, _MACHINE = Path("/proc/self"), Path("/sys/fs/cgroup"), Path("/proc/meminfo")
# Files of a control group: its limit, its use, and the pages in memory.stat that it can give back.
_VERSIONS = {
    2: ("memory.max", "memory.current", ("inactive_file", "active_file")),
    1: (
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
}


def check_memory(needed: float, what: str) -> None:
    """Raise MemoryError if memory that is needed for sure is not there.

    Parameters
    ----------
    needed : bytes that will be in use at the same time, without what is in use already; a lower
        bound, so that nothing is refused that would succeed
    what : the things that need it
    """
    if needed < _LITTLE:
        return
    available, limit = available_memory()
    if needed > available:
        raise MemoryError(
            f"{what} need at least {_gigabytes(needed)} of memory, and {_gigabytes(available)} "
            f"are available ({limit})."
        )


def available_memory() -> tuple[float, str]:
    """Return the bytes that this process can still get, and the name of the limit that decides."""
    machine = _fields(_MACHINE)
    swap = 1024.0 * machine.get("SwapFree:", 0.0)
    free = 1024.0 * machine["MemAvailable:"] if "MemAvailable:" in machine else math.inf
    return min(
        (address_space_left(), "limit of the process"),
        (_group_left() + swap, "limit of the control group"),
        (free + swap, "free memory of the machine"),
    )


def address_space_left() -> float:
    """Return the bytes of address space that the limits of this process leave."""
    try:
        import resource

        pages = [int(n) for n in (_PROCESS / "statm").read_text(encoding="ascii").split()]
    except (ImportError, OSError, ValueError):
        return math.inf
    page = os.sysconf("SC_PAGE_SIZE")
    left = math.inf
    # The first and the sixth number of statm: the whole address space, and the data in it.
    for name, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        limit = resource.getrlimit(name)[0]
        if limit != resource.RLIM_INFINITY:
            left = min(left, max(0.0, limit - float(page) * used))
    return left


def _group_left() -> float:
    """Return the bytes that the control groups of this process leave."""
    left = math.inf
    for folder, version in _groups():
        limit, use, given_back = _VERSIONS[version]
        total, used = _number(folder / limit), _number(folder / use)
        if math.isfinite(total) and math.isfinite(used):
            stat = _fields(folder / "memory.stat")
            used -= sum(stat.get(name, 0.0) for name in given_back)
            left = min(left, max(0.0, total - used))
    return left


def _groups() -> Iterator[tuple[Path, int]]:
    """The folders of the control groups of this process, and the version of their files."""
    try:
        lines = (_PROCESS / "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        version = 1 if controllers else 2
        if version == 2 or "memory" in controllers.split(","):
            root = _GROUPS if version == 2 else _GROUPS / "memory"
            # A group has the limits of all groups above it. In a container the path is that of the
            # host, but its own folder is the root.
            group = root / path.strip("/")
            for folder in (group, *group.parents):
                if folder.is_relative_to(root):
                    yield folder, version


def _number(path: Path) -> float:
    """The number in a file; infinite if there is none, or if it says "max"."""
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return math.inf


def _fields(path: Path) -> dict[str, float]:
    """The lines "name number ..." of a file; none if it cannot be read."""
    try:
        lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
        return {line[0]: float(line[1]) for line in lines if len(line) > 1}
    except (OSError, ValueError):
        return {}


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:,.2f} GB"
