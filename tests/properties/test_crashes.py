"""Kills, full disks and special files: each writer leaves the old file or the new one, complete."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sdpmetric.cli import main
from tests.campaigns.disks import NOT_ALLOWED
from tests.support.writers import EXPORTS, MODELS, TABLES, writers

ROOT = Path(__file__).parents[2]
KINDS = len(EXPORTS) + len(MODELS) + len(TABLES) + 1  # and the report

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no kill, no FIFO and no mounts")


def campaign(name: str, *arguments: str) -> tuple[int, Any]:
    """The exit code of a campaign and what it counted."""
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-m", f"tests.campaigns.{name}", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        # Threads of a library would not be there in a process that is forked.
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}


@posix
@pytest.mark.hard
@pytest.mark.slow
def test_five_kills_of_every_writer() -> None:
    code, counts = campaign("crashes", "--kills", "5", "--json")
    assert (code, len(counts)) == (0, KINDS)
    for count in counts.values():
        assert (count["kills"], count["lost"], count["torn"], count["leftovers"]) == (5, 0, 0, 0)
    # The writers did write, and some were killed in the middle.
    assert sum(count["written"] for count in counts.values()) > 0
    assert sum(count["unfinished"] for count in counts.values()) > 0


@posix
@pytest.mark.hard
@pytest.mark.slow
def test_kills_at_every_fourth_step() -> None:
    code, counts = campaign("crashes", "--kills", "0", "--steps", "4", "--json")
    assert (code, len(counts)) == (0, 3)
    for count in counts.values():
        assert (count["lost"], count["torn"], count["leftovers"]) == (0, 0, 0)
        assert count["unfinished"] > 25


@posix
@pytest.mark.hard
@pytest.mark.slow
def test_full_and_read_only_disks() -> None:
    code, counts = campaign("disks", "--levels", "3")
    if code == NOT_ALLOWED:
        pytest.skip("this system lets us mount no disk of our own")
    assert (code, len(counts)) == (0, KINDS)
    for count in counts.values():
        assert (count["nameless"], count["torn"], count["leftovers"]) == (0, 0, 0)
        assert count["written"] >= 2  # on a disk that had room, and with enough entries
        assert count["refused"] >= 5


@posix
@pytest.mark.slow
def test_no_writer_replaces_a_fifo(tmp_path: Path) -> None:
    for kind, writer in writers(5, tmp_path).items():
        (tmp_path / kind).mkdir()
        path = tmp_path / kind / writer.name
        fifo = path.with_name("fifo")
        os.mkfifo(fifo)
        path.symlink_to(fifo)
        with pytest.raises(
            ValueError, match=rf"path must name a (file|folder), got the FIFO '{path}"
        ):
            writer.write(path, 0)
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert sorted(os.listdir(path.parent)) == sorted([writer.name, "fifo"])


@posix
@pytest.mark.parametrize(
    "line",
    [
        "fit wine-train.csv -l cultivar -o fifo.safetensors",
        "transform none.safetensors wine-test.csv -o fifo.csv",
        "evaluate none.safetensors wine-test.csv -l cultivar --report fifo.html",
        "triplets labels wine-train.csv -l cultivar -o fifo.csv",
        "suggest songs.csv --id song -o fifo.csv",
        "ask songs.csv --id song -o fifo.db",
        "adapt none.npy --pairs none.csv -o fifo.safetensors",
        "export none.safetensors fifo.npy",
        "export none.safetensors fifo --to onnx",
        "export model.json fifo --to sentence-transformers",
    ],
)
def test_no_command_replaces_a_fifo(line: str, folder: Path) -> None:
    """And it says so before the work: the model of most lines is not even looked for."""
    name = next(word for word in line.split() if word.startswith("fifo"))
    os.mkfifo(name)
    if "model.json" in line:
        fit = "fit wine-train.csv -l cultivar -o model.json --tol 0.5"
        assert CliRunner().invoke(main, fit.split()).exit_code == 0
    done = CliRunner().invoke(main, shlex.split(line))
    assert done.exit_code == 1
    wanted = "folder" if line.endswith("sentence-transformers") else "file"
    assert done.stderr == f"Error: The path must name a {wanted}, got the FIFO {name!r}.\n"
    assert stat.S_ISFIFO(Path(name).stat().st_mode)
