"""Small valid files of every kind that sdpmetric reads, from which damaged ones are made."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpmetric.responses.study_files import APPLICATION, SCHEMA
from tests.campaigns.mutation import NUMBERS

FILES = Path(__file__).parent.parent / "files"

TABLE = b"name,x,y\na,1,2\nb,3.5,-4\nc,5e-1,1\nd,2,2\n"
TRIPLETS = (
    b"anchor,positive,negative,weight,participant,answer\na,b,c,1,p,0\nb,a,d,0.5,q,1\nc,d,a,2,p,2\n"
)
RANKS = b"anchor;ranking\na;b|c|d\nb;c|a\n"
ROWS = [{"name": "a", "v": [1.0, 2.0], "y": 1}, {"name": "b", "v": [0.5, -1e300], "y": None}]
ANSWERS = [{"anchor": 0, "positive": 1, "negative": 2}, {"anchor": 1, "positive": 0, "negative": 2}]


def seeds(suffix: str) -> list[bytes]:
    """The seeds of a format, and what campaigns found before."""
    made: dict[str, Callable[[], list[bytes]]] = {
        ".csv": _csv,
        ".jsonl": _jsonl,
        ".npy": _npy,
        ".npz": _npz,
        ".parquet": _parquet,
        ".svmlight": _svmlight,
        ".db": _study,
    }
    found = [path.read_bytes() for path in sorted(FILES.rglob(f"*{suffix}"))]
    return (made[suffix]() if suffix in made else []) + found


def _csv() -> list[bytes]:
    return [
        TABLE,
        TRIPLETS,
        RANKS,
        b"a,b,c,odd\nx,y,z,y\n",
        b"anchor,positive,negative\n0,1,2\n1,2,0\n",
        '\ufeff"na ""me"\t"x"\n"a\nb"\t\'=1\n'.encode(),
    ]


def _jsonl() -> list[bytes]:
    return [_lines(ROWS), _lines(ANSWERS), b'{"x": 1, "y": "z"}\n{"y": "w", "x": 2.5}\n']


def _lines(rows: Sequence[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _npy() -> list[bytes]:
    arrays = [
        np.arange(12.0).reshape(4, 3),
        np.arange(12, dtype=np.float32).reshape(4, 3),
        np.asfortranarray(np.arange(12.0).reshape(4, 3)),
        np.array([[0, 1, 2], [1, 2, 0]]),
        np.array(["a", "bb", "ccc"]),
        np.array([b"a", b"bb"]),
        np.arange(3, dtype=">i4"),
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    ]
    return [_saved(array) for array in arrays]


def _saved(array: Any) -> bytes:
    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def _npz() -> list[bytes]:
    found = []
    for arrays in (
        {"X": np.arange(6.0).reshape(3, 2), "y": np.array(["u", "v", "u"])},
        {"a": np.arange(3.0), "b": np.arange(3)},
    ):
        data = io.BytesIO()
        np.savez(data, **arrays)
        found.append(data.getvalue())
    X = np.where(np.arange(24).reshape(6, 4) % 3 == 0, 0.0, np.arange(24.0).reshape(6, 4))
    for kind in ("csr", "csc", "bsr", "coo", "dia"):
        for compressed in (False, True):
            data = io.BytesIO()
            sp.save_npz(data, getattr(sp, f"{kind}_array")(X), compressed=compressed)
            found.append(data.getvalue())
    return found


def sparse_npz(rng: Random) -> bytes:
    """A sparse matrix in a whole archive with whole arrays, in which some numbers are wrong."""
    kind = rng.choice(("csr", "csc", "bsr", "coo", "dia"))
    n, D = rng.randrange(1, 9), rng.randrange(1, 9)
    dense = np.array([[rng.choice((0.0, 0.0, 1.0, -2.5)) for _ in range(D)] for _ in range(n)])
    X = getattr(sp, f"{kind}_array")(dense)
    held = {"format": np.array(kind), "shape": np.array(X.shape), "data": X.data}
    names = {"coo": ("row", "col"), "dia": ("offsets",)}.get(kind, ("indices", "indptr"))
    held |= {name: getattr(X, name) for name in names}
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice([*names, "shape", "data"])
        array = held[name].astype(rng.choice((np.int64, np.int64, np.int32, np.float64, np.uint8)))
        if array.size and rng.random() < 0.8:
            flat = array.ravel()
            value = int(rng.choice(NUMBERS[:22])) % 2**63 * rng.choice((1, 1, -1))
            with np.errstate(all="ignore"):
                flat[rng.randrange(len(flat))] = np.int64(value).astype(array.dtype)
        else:
            array = array[: rng.randrange(len(array) + 1)]
        held[name] = array
    data = io.BytesIO()
    np.savez(data, **held)
    return data.getvalue()


def _parquet() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 50
    tables = [
        {
            "x": pa.array(np.arange(n) * 1.5),
            "i": pa.array(range(n)),
            "s": pa.array(["a", "b"] * 25),
        },
        {"v": pa.array([[1.0, 2.0]] * n), "w": pa.array([["u", None]] * n)},
        {"b": pa.array([True, None] * 25), "d": pa.array(np.arange(n).astype("M8[s]"))},
        {"s": pa.array([{"a": i, "b": str(i)} for i in range(n)]), "n": pa.nulls(n)},
        {"anchor": ["a"] * n, "positive": ["b"] * n, "negative": ["c"] * n},
        {
            "f": pa.array([b"abcd"] * n, pa.binary(4)),
            "t": pa.array(["text"] * n, pa.large_string()),
        },
    ]
    found = []
    for i, table in enumerate(tables):
        for how in (
            {"compression": "none"},
            {"compression": "zstd", "use_dictionary": False},
            {"compression": "none", "data_page_version": "2.0", "row_group_size": 20},
        ):
            data = io.BytesIO()
            pq.write_table(pa.table(table), data, **how)
            found.append(data.getvalue())
        if i == 0:
            data = io.BytesIO()
            encodings = {
                "s": "DELTA_BYTE_ARRAY",
                "i": "DELTA_BINARY_PACKED",
                "x": "BYTE_STREAM_SPLIT",
            }
            pq.write_table(pa.table(table), data, use_dictionary=False, column_encoding=encodings)
            found.append(data.getvalue())
    return found


def _svmlight() -> list[bytes]:
    return [
        b"1 1:0.5 3:-2 # comment\n-1 2:1e5\n1 1:1\n",
        b"# head\n0 qid:1 1:0.5\n1 qid:2 2:3\n",
        b"1,2 1:1\n",
        b"1 1:1 2:2 20:3\n0 1:4\n",
    ]


def _study() -> list[bytes]:
    """A study file with a few answers; kept small by small pages."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA page_size = 512")
            connection.executescript(SCHEMA)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute("INSERT INTO study VALUES ('kind', 'odd-one-out')")
            connection.execute("INSERT INTO sessions VALUES ('s', 'p', 0.0)")
            for trial in (1, 2, 3):
                asked = ("s", trial, 0, "asked", 0.0, "a", "b", "c", "active", None)
                said = ("s", trial, 1, "answer", 1.0, None, None, None, None, "a")
                for row in (asked, said):
                    connection.execute(
                        "INSERT INTO events (session, trial, attempt, kind, time, a, b, c, source, "
                        "choice) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        row,
                    )
            connection.commit()
        return [path.read_bytes()]


_CELLS: list[Any] = [0, 1, 2, 3, -1, 2**63, 1.0, 1.5, float("nan"), None, True, "a", "b", ""]
_CELLS += [np.int64(1), np.float32(2.0), np.nan, [], [1, 2], ["a", "b"], (1, 2), {}, object, b"a"]
_CELLS += [np.array([1, 2]), np.array(3), "9" * 5000, 10**30, 1j, np.datetime64("NaT")]
_NAMES = ["anchor", "query", "positive", "negative", "negative_1", "a", "b", "c", "odd", "chosen"]
_NAMES += ["ranking", "clicked", "skipped", "shown", "weight", "", "negative_" + "9" * 5000]
_NO_TABLES: list[Any] = [None, 3, "text", b"x", [], {}, [[]], [None], np.zeros((2, 3)), np.zeros(3)]


def odd_table(rng: Random) -> Any:
    """A table of answers as a program may pass it, with cells that nobody expects."""
    few = rng.sample(_CELLS, 4) if rng.random() < 0.5 else [0, 1, 2, 3]
    n, width = rng.randrange(4), rng.randrange(1, 6)
    columns = [[rng.choice(few) for _ in range(n)] for _ in range(width)]
    names = rng.sample(_NAMES, width)
    if rng.random() < 0.6:
        names[:3] = ["anchor", "positive", "negative"][:width]
    by_name = dict(zip(names, columns, strict=True))
    rows = list(zip(*columns, strict=True))
    odd = {name: c if rng.random() < 0.8 else rng.choice(_CELLS) for name, c in by_name.items()}
    numbers = np.array([[rng.randrange(-1, 6) for _ in names] for _ in range(n)])
    arrays = {name: np.fromiter(c, dtype=object) for name, c in by_name.items()}
    records = [dict(zip(names, row, strict=True)) for row in rows]
    return rng.choice([by_name, rows, odd, numbers, arrays, records, rng.choice(_NO_TABLES)])
