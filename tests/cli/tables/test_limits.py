"""A small file that unpacks to a huge table is refused by its header; --max-bytes allows more."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner, Result

from sdpmetric.cli import main
from sdpmetric.cli.tables.limits import MAX_BYTES, in_words
from sdpmetric.cli.tables.reading import read

MANY = 3_000_000  # rows of zeros: 24 MB, in files of a few kilobytes

Make = Callable[[Path], None]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def suggest(name: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["suggest", name, "-n", "1", *options])


def zeros(path: Path) -> None:
    np.savez_compressed(path, X=np.zeros((MANY, 1)))


def svmlight(path: Path) -> None:
    path.write_text(f"1 {MANY}:1\n0 1:1\n")


def short_texts(path: Path) -> None:
    np.savez_compressed(path, y=np.full(MANY, "u"))


def parquet(column: Callable[[Any], Any]) -> Make:
    def make(path: Path) -> None:
        pa, pq = (pytest.importorskip(f"pyarrow{name}") for name in ("", ".parquet"))
        pq.write_table(pa.table({"x": column(pa)}), path)

    return make


BOMBS: dict[str, Make] = {
    "zeros.npz": zeros,
    "short-texts.npz": short_texts,
    "numbers.parquet": parquet(lambda pa: np.zeros(MANY)),
    "texts.parquet": parquet(lambda pa: pa.array(["u"] * MANY)),
    "one-long-text.parquet": parquet(lambda pa: pa.array(["u" * 20_000] * 1_000)),
    "long-lists-of-numbers.parquet": parquet(lambda pa: pa.array([np.zeros(MANY)])),
    "long-lists-of-texts.parquet": parquet(lambda pa: pa.array([["u" * 20_000] * 1_000])),
    "nothing-of-fixed-size.parquet": parquet(
        lambda pa: pa.array([None], pa.list_(pa.float64(), MANY))
    ),
    "bytes-of-fixed-size.parquet": parquet(lambda pa: pa.nulls(8, pa.binary(MANY))),
    "columns.svmlight": svmlight,
    "columns.npz": lambda path: sp.save_npz(path, sp.csr_array((2, MANY))),
    "rows.npz": lambda path: sp.save_npz(path, sp.coo_array((MANY, 2))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_by_their_headers(name: str) -> None:
    BOMBS[name](Path(name))
    assert Path(name).stat().st_size < 60_000
    result = suggest(name, "--max-bytes", "10MB")
    assert result.exit_code == 1
    assert name in result.stderr
    assert "expected at most 10 MB (--max-bytes raises this)." in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_bomb_takes_no_memory_before_it_is_refused() -> None:
    """3.4 GB of zeros in 3 MB, as reported; the memory that was used at most is that of imports."""
    head = np.lib.format.header_data_from_array_1_0(np.zeros((2, 17)))
    head["shape"] = (25_000_000, 17)
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(start, head)
    with (
        zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w", force_zip64=True) as member,
    ):
        member.write(start.getvalue())
        for _ in range(34):
            member.write(bytes(100_000_000))
    assert Path("bomb.npz").stat().st_size < 4_000_000
    code = """
import resource
from click.testing import CliRunner
from sdpmetric.cli import main
from sdpmetric.cli.tables import reading
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
said = CliRunner().invoke(main, ["suggest", "bomb.npz", "-n", "1"]).stderr
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, said)
"""
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    grown, said = done.stdout.split(" ", 1)
    assert "bomb.npz holds 3.4 GB once it is unpacked, expected at most 2 GB" in said
    assert int(grown) < 300_000  # kilobytes


def test_a_large_array_on_disk_is_mapped_whatever_its_size() -> None:
    """20 GB, of which the disk holds next to nothing."""
    X = np.lib.format.open_memmap(
        "large.npy", mode="w+", dtype=np.float32, shape=(5_000_000, 1_000)
    )
    del X
    assert Path("large.npy").stat().st_size > 5 * MAX_BYTES
    block: Any = read("large.npy").block
    assert block.shape == (5_000_000, 1_000)


def test_text_files_and_streams_have_the_same_limit() -> None:
    for name in ("t.csv", "t.jsonl", "t.svmlight"):
        Path(name).write_text("x,y\n" * 1000)
        assert "expected at most 2 kB" in suggest(name, "--max-bytes", "2kB").stderr
    line = ["suggest", "-", "-n", "1", "--max-bytes", "2kB"]
    for text in ("x,y\n1,2\n" * 1000, "x" * 5000):
        result = CliRunner().invoke(main, line, input=text)
        assert "standard input holds" in result.stderr
        assert "expected at most 2 kB" in result.stderr


def test_labels_of_which_one_is_long_do_not_fill_an_array() -> None:
    """An array of texts has room for the longest one in every row: 10,000 times 100,000."""
    rows = [f"{i % 2},{i}" for i in range(10_000)]
    Path("t.csv").write_text("\n".join(["kind,x", "u" * 100_000 + ",1", *rows]))
    line = ["fit", "t.csv", "-l", "kind", "-o", "m.json"]
    result = CliRunner().invoke(main, line)
    assert "t.csv: the texts of 'kind' take 4 GB, expected at most 2 GB" in result.stderr


def test_the_limit_can_be_raised() -> None:
    np.savez("t.npz", X=np.random.default_rng(0).normal(size=(40, 3)))
    assert suggest("t.npz", "--max-bytes", "100").exit_code == 1
    for size in ("1100", "1.2kB", "2 KB", "1GB", "0.001TB"):
        assert suggest("t.npz", "--max-bytes", size).exit_code == 0, size
    for size in ("", "many", "-1", "1e400", "1XB", "9" * 50):
        result = suggest("t.npz", "--max-bytes", size)
        assert result.exit_code == 2, size
        assert "is no size such as 500MB or 8GB" in result.stderr


@pytest.mark.parametrize(
    "command", ["fit", "transform", "evaluate", "inspect", "export", "suggest"]
)
def test_every_command_that_reads_a_table_says_so(command: str) -> None:
    said = " ".join(CliRunner().invoke(main, [command, "--help"]).stdout.split())
    assert f"[default: {in_words(MAX_BYTES)}]" in said


def test_every_kind_of_answers_has_the_option() -> None:
    for command in main.commands["triplets"].commands:  # type: ignore[attr-defined]
        assert "--max-bytes" in CliRunner().invoke(main, ["triplets", command, "--help"]).stdout
