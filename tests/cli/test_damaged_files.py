"""Files that once ended a command in a traceback, a crash or a full memory: one sentence now.

The files are what campaigns of `tests/campaigns/fuzz.py` found, or are made after reports of bugs;
each is named after its bug. A test of its own tells the bugs that need more than one file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdpmetric.cli import main

FILES = sorted((Path(__file__).parent.parent / "files" / "damaged").iterdir())
MODELS = (".json", ".safetensors")


def arguments(path: Path) -> list[str]:
    """A command that reads all of the file."""
    return ["inspect", str(path)] if path.suffix in MODELS else ["suggest", str(path), "-n", "1"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_damaged_files_are_refused_in_one_sentence(path: Path) -> None:
    result = CliRunner().invoke(main, arguments(path))
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1
    assert result.stdout == ""
    [said] = result.stderr.splitlines()
    assert said.startswith("Error: ")
    assert path.name in said
    assert len(said) < 1100


@pytest.mark.slow
def test_no_damaged_file_ends_the_process_or_takes_much_memory() -> None:
    """All of them in a process of its own, in which 1.5 GB more than the imports are there."""
    code = """
import resource, sys
from click.testing import CliRunner
from pathlib import Path
from sdpmetric.cli import main
from tests.cli.test_damaged_files import FILES, arguments

for path in FILES[:3]:
    CliRunner().invoke(main, arguments(path))
pages = int(Path("/proc/self/statm").read_text().split()[0])
size = pages * resource.getpagesize() + 1_500_000_000
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for path in FILES:
    result = CliRunner().invoke(main, arguments(path))
    if path.name not in result.stderr or "not enough memory" in result.stderr:
        sys.exit(f"{path.name}: {result.stderr} {result.exception!r}")
"""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process is read from /proc")
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
