"""The client of a cluster holds neither the rows nor the comparisons that are mined there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed")
PROGRAM = Path(__file__).with_name("client_memory.py")


@pytest.mark.hard
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_fits_need_less_memory_in_the_client_than_rows_or_comparisons() -> None:
    found = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=500
    )
    assert found.returncode == 0, found.stderr[-2000:]
    assert found.stdout == "nothing held\n"
