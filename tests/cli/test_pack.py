"""`sdpmetric pack`: rows streamed into a .npy file, complete or not at all."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from sdpmetric.cli import main
from sdpmetric.cli.tables import row_streams

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zarr = pytest.importorskip("zarr")

X = np.random.default_rng(0).normal(size=(100, 3))


@pytest.fixture(autouse=True)
def small_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(row_streams, "_BLOCK_BYTES", 7 * 24)


def pack(line: str) -> Any:
    return CliRunner().invoke(main, ["pack", *line.split()])


def parquet(**columns: Any) -> None:
    pq.write_table(pa.table(columns), "rows.parquet", row_group_size=30)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_parquet(dtype: type) -> None:
    expected: Any = X.astype(dtype)
    parquet(a=expected[:, 0], id=[str(i) for i in range(100)], b=expected[:, 1], c=expected[:, 2])
    done = pack("rows.parquet --drop id -o rows.npy")
    assert (done.exit_code, done.stdout) == (0, "rows.npy: 100 rows of 3 columns\n")
    found = np.load("rows.npy")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


def test_vectors_and_integers_of_parquet() -> None:
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.astype(np.float32).ravel()), 3)
    parquet(v=vectors, n=np.arange(100))
    assert pack("rows.parquet -o rows.npy --float32").exit_code == 0
    found = np.load("rows.npy", mmap_mode="r")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:, :3], X.astype(np.float32))
    np.testing.assert_array_equal(found[:, 3], np.arange(100))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_zarr(version: int, dtype: str) -> None:
    expected = (100 * X).astype(dtype)
    array = zarr.create_array(
        "rows.zarr", shape=(100, 3), chunks=(16, 2), dtype=dtype, zarr_format=version
    )
    array[:] = expected
    done = pack("rows.zarr -o rows.npy --json")
    assert json.loads(done.stdout) == {"file": "rows.npy", "rows": 100, "columns": 3}
    found = np.load("rows.npy")
    assert found.dtype == (np.float32 if dtype == "f4" else np.float64)
    np.testing.assert_array_equal(found, expected)


def test_a_fit_reads_packed_rows_from_disk() -> None:
    parquet(**{f"x{i}": X[:, i] for i in range(3)})
    assert pack("rows.parquet -o rows.npy").exit_code == 0
    T = np.random.default_rng(1).permutation(99).reshape(-1, 3)
    np.save("triplets.npy", T)
    line = "fit rows.npy --triplets triplets.npy -o model.json --tol 0.1"
    done = CliRunner().invoke(main, line.split())
    assert done.exit_code == 0, done.stderr


def bad_files() -> dict[str, tuple[Any, str]]:
    inf, hole = X[:, 0].copy(), [1.0, None, 2.0]
    inf[57] = np.inf
    return {
        "infinity": (lambda: parquet(a=X[:, 1], b=inf), "row 58: 'b' is inf, expected a finite"),
        "missing": (lambda: parquet(a=hole), "row 2: 'a' is nan"),
        "text": (lambda: parquet(a=["x"]), "the column 'a' holds string, expected numbers"),
        "lists": (lambda: parquet(a=[[1.0], [1.0, 2.0]]), "the column 'a' holds list<"),
        "too large": (lambda: parquet(a=np.array([1e300])), "row 1: 'a' is inf"),
        "empty": (lambda: parquet(a=np.empty(0)), "no rows or no columns"),
        "no parquet": (lambda: Path("rows.parquet").write_text("PAR1"), "is no Parquet file"),
        "nothing": (lambda: None, "There is no file 'rows.parquet'"),
    }


@pytest.mark.parametrize("kind", bad_files())
def test_bad_input_is_refused_and_leaves_the_old_file(kind: str) -> None:
    make, message = bad_files()[kind]
    make()
    Path("rows.npy").write_bytes(b"old")
    done = pack("rows.parquet -o rows.npy --float32")
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert Path("rows.npy").read_bytes() == b"old"
    assert set(os.listdir()) <= {"rows.npy", "rows.parquet"}


def test_zarr_that_is_no_table_is_refused() -> None:
    zarr.create_array("cube.zarr", shape=(2, 2, 2), dtype="f4")[:] = 0.0
    assert "of shape (2, 2, 2), expected a table" in pack("cube.zarr -o rows.npy").stderr
    zarr.create_group("group.zarr")
    assert "is no Zarr array" in pack("group.zarr -o rows.npy").stderr
    Path("file.zarr").write_text("no")
    assert "is no Zarr array" in pack("file.zarr -o rows.npy").stderr


@pytest.mark.parametrize("place", ["compressor", "filters"])
def test_zarr_cannot_run_code(place: str) -> None:
    """A codec of numcodecs loads pickles, whatever the type of the array."""
    array = zarr.create_array("rows.zarr", shape=(4, 2), dtype="f8", zarr_format=2)
    array[:] = 1.0
    held = json.loads(Path("rows.zarr/.zarray").read_text())
    codec = {"id": "pickle", "protocol": 4}
    held[place] = codec if place == "compressor" else [codec]
    Path("rows.zarr/.zarray").write_text(json.dumps(held))
    Path("rows.zarr/0.0").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    done = pack("rows.zarr -o rows.npy")
    assert done.exit_code == 1
    assert not Path("ran").exists()
    assert done.stderr.count("\n") == 1


def test_other_names_are_refused() -> None:
    parquet(a=X[:, 0])
    assert "the extension must be one of .parquet, .zarr" in pack("rows.csv -o rows.npy").stderr
    assert "the extension must be one of .npy" in pack("rows.parquet -o rows.csv").stderr
    assert "has no column 'b'; it has 'a'" in pack("rows.parquet --drop b -o rows.npy").stderr
    assert "no rows or no columns" in pack("rows.parquet --drop a -o rows.npy").stderr


def test_a_disk_without_room_is_found_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    parquet(a=X[:, 0])
    usage = shutil.disk_usage(".")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage._replace(free=99))
    done = pack("rows.parquet -o rows.npy")
    assert done.stderr == "Error: rows.npy needs 800 bytes, and the disk has 99 bytes left.\n"
