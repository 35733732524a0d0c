"""Arrays in files: other byte orders, bytes and dates, sparse formats; only what fits a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric.cli.tables.reading import read

X = np.where(np.arange(12).reshape(4, 3) % 2 == 0, 0.0, np.arange(12.0).reshape(4, 3))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
@pytest.mark.parametrize("form", ["array", "matrix"])
def test_sparse_files_of_every_format(kind: str, form: str) -> None:
    sp.save_npz("t.npz", getattr(sp, f"{kind}_{form}")(X))
    found = read("t.npz").features()[0]
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X)


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("csr", "indices", lambda a: a + 0.7),
        ("csr", "indices", lambda a: a > 0),
        ("csr", "indptr", lambda a: a.astype("S")),
        ("csc", "indices", lambda a: a[None]),
        ("coo", "row", lambda a: np.full(a.shape, np.nan)),
        ("dia", "offsets", lambda a: a.astype(np.int64) + 2**40),
    ],
)
def test_indices_of_another_type_are_refused(kind: str, name: str, change: Any) -> None:
    """SciPy casts them, and reads another table."""
    sp.save_npz("t.npz", getattr(sp, f"{kind}_matrix")(X))
    held = dict(np.load("t.npz"))
    held[name] = change(held[name])
    np.savez("t.npz", **held)
    with pytest.raises(ValueError, match=r"^t\.npz holds a sparse matrix w"):
        read("t.npz")


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f2", ">i4", "u1", "?"])
@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_numbers_of_every_kind(dtype: str, name: str) -> None:
    given = (X % 2).astype(dtype)
    np.save(name, given) if name == "t.npy" else np.savez(name, X=given)
    found: Any = read(name).features()[0]
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, given)


def test_columns_of_texts() -> None:
    columns = {
        "u": np.array(["a", "bb"]),
        "other": np.array(["a", "bb"], dtype=">U2"),
        "s": np.array([b"a", b"bb"]),
        "d": np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    }
    np.savez("t.npz", **columns)  # type: ignore[arg-type]
    table = read("t.npz")
    for name in ("u", "other", "s"):
        assert table.texts(name) == ["a", "bb"]
    assert table.texts("d") == ["2020-01-01", "2021-01-01"]
    with pytest.raises(ValueError, match=r"row 1: 'd' is .*2020.*, expected a number"):
        table.numbers("d")
    np.savez("t.npz", s=np.array([b"\xff"]))
    with pytest.raises(ValueError, match=r"t\.npz is not UTF-8 text"):
        read("t.npz")


def test_other_members_of_an_archive_are_left_alone() -> None:
    import zipfile

    np.savez("t.npz", X=X)
    with zipfile.ZipFile("t.npz", "a") as archive:
        archive.writestr("README.txt", "what this is")
    np.testing.assert_array_equal(read("t.npz").features()[0], X)


def test_arrays_that_are_no_table() -> None:
    for given in (np.zeros((2, 2, 2)), np.array(1.0), np.array([[1j]]), np.array([["a"]])):
        np.save("t.npy", given)
        with pytest.raises(ValueError, match=r"^t\.npy"):
            read("t.npy")
        np.savez("t.npz", x=given)
        with pytest.raises(ValueError, match=r"^t\.npz"):
            read("t.npz")
