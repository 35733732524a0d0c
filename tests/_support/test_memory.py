"""The memory that a process can still get, from files like those of Linux."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sdpmetric._support import memory
from sdpmetric._support.memory import address_space_left, available_memory, check_memory

MEMINFO = "MemTotal: 9000 kB\nMemAvailable: 5000 kB\nSwapFree: 1000 kB\nHugePages_Total: 0\n"


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 6 MB free, swap included, and no control group."""
    (tmp_path / "meminfo").write_text(MEMINFO, encoding="ascii")
    monkeypatch.setattr(memory, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_PROCESS", tmp_path)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
    return tmp_path


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="ascii")


def test_the_machine(system: Path) -> None:
    assert available_memory() == (6000.0 * 1024.0, "free memory of the machine")


def test_a_system_that_tells_nothing_has_no_limit(system: Path) -> None:
    (system / "meminfo").unlink()
    assert available_memory()[0] == math.inf
    check_memory(1e30, "Anything")


def test_a_control_group_of_version_2_and_those_above_it(system: Path) -> None:
    """Pages of files are given back when memory is short; swap is added."""
    write(system, cgroup="0::/job/step\n")
    stat = "anon 1\ninactive_file 300000\nactive_file 100000\n"
    job, step = system / "groups" / "job", system / "groups" / "job" / "step"
    write(step, memory__max="max\n", memory__current="1500000\n", memory__stat=stat)
    assert available_memory()[1] == "free memory of the machine"
    write(job, memory__max="2000000\n", memory__current="1500000\n", memory__stat=stat)
    expected = 2_000_000 - (1_500_000 - 400_000) + 1000 * 1024
    assert available_memory() == (expected, "limit of the control group")


def test_a_control_group_of_version_1_inside_a_container(system: Path) -> None:
    """The path is that of the host; the folder of the container is the root."""
    write(system, cgroup="5:cpu:/\n4:memory:/docker/abc\n0::/\n")
    write(
        system / "groups" / "memory",
        memory__limit_in_bytes="3000000\n",
        memory__usage_in_bytes="2500000\n",
        memory__stat="total_inactive_file 100000\n",
    )
    expected = 3_000_000 - 2_400_000 + 1000 * 1024
    assert available_memory() == (expected, "limit of the control group")


def test_the_error_has_both_numbers(system: Path) -> None:
    check_memory(2.0**26 - 1.0, "Little")  # too little to look
    with pytest.raises(
        MemoryError, match=r"^Things need at least 7\.00 GB of memory, and 0\.01 GB"
    ):
        check_memory(7e9, "Things")


LIMITED = """
import resource
from sdpmetric._support.memory import address_space_left, check_memory
assert address_space_left() == float("inf")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.{name}, (used + (300 << 20), -1))
left = address_space_left()
assert {low} < left / 2**20 < {high}, left
try:
    check_memory(10e9, "Things")
except MemoryError as error:
    assert "limit of the process" in str(error)
else:
    raise AssertionError("not refused")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="limits of Linux")
@pytest.mark.parametrize(
    ("name", "low", "high"), [("RLIMIT_AS", 250, 310), ("RLIMIT_DATA", 250, 1e4)]
)
def test_limits_of_the_process(name: str, low: int, high: int) -> None:
    code = LIMITED.format(name=name, low=low, high=high)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert address_space_left() > 0.0
