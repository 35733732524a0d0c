"""Descriptions that make Faiss crash end in one sentence; an index is that which Faiss builds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from sdpmetric.deployment.exports import faiss_process
from sdpmetric.deployment.exports.faiss_process import build_index

ROWS = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
LOADS = pytest.mark.slow  # Faiss is loaded again, in another process


@pytest.mark.parametrize("factory", ["HNSW0", "HNSW1", "HNSW01_PQ2", "IVF2_HNSW1,Flat"])
def test_a_graph_of_fewer_than_two_links_is_refused(factory: str) -> None:
    """Faiss reads foreign memory: SIGSEGV, SIGABRT, or an index that looks good."""
    for rows in (ROWS, None):
        with pytest.raises(ValueError, match=r"a graph needs at least two links for each row\.$"):
            build_index(4, factory, rows)


@LOADS
@pytest.mark.parametrize("filled", [True, False])
@pytest.mark.parametrize(
    ("factory", "signal"),
    [
        ("PQ2x0", "SIGFPE"),
        ("RR0,Flat", "SIGSEGV"),
    ],
)
def test_descriptions_that_make_faiss_crash(factory: str, signal: str, filled: bool) -> None:
    """Other versions of Faiss may refuse them, or end by another signal."""
    if not filled and faiss.__version__ != "1.15.1":
        pytest.skip("other versions of Faiss may build it while it is empty")
    message = (
        rf"^factory must be a description of an index that Faiss can build, such as 'Flat' or "
        rf"'HNSW32', got {factory!r}: .+\.$"
    )
    with pytest.raises(ValueError, match=message) as caught:
        build_index(4, factory, ROWS if filled else None)
    assert len(str(caught.value).splitlines()) == 1
    if faiss.__version__ == "1.15.1" and sys.platform == "linux":
        assert f"the process that tried it ended with {signal}." in str(caught.value)


@LOADS
@pytest.mark.parametrize(
    ("factory", "reason"),
    [
        ("IVF1000,Flat", r"Number of training points \(60\) .* number of clusters \(1000\)"),
        ("Flatt?", r"could not parse index string Flatt\?"),
        ("PQ3", r"should be a multiple of the number of subquantizers"),
        ("IDMap,Flat", r"add does not make sense"),
        ("IVF0,Flat", r"."),
        ("HNSW999999999", r"there is not enough memory for it"),
    ],
)
def test_descriptions_that_faiss_refuses(factory: str, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"got {re.escape(repr(factory))}: .*{reason}") as caught:
        build_index(4, factory, ROWS)
    assert len(str(caught.value).splitlines()) == 1
    assert "cpp" not in str(caught.value)


@pytest.mark.parametrize("factory", ["a\nb", "a\0b", "Flat" * 300, 3, None, b"Flat"])
def test_descriptions_that_are_no_text(factory: Any) -> None:
    with pytest.raises(ValueError, match=r"got .*: it is not a line of up to 1000 characters"):
        build_index(4, factory, ROWS)


@LOADS
@pytest.mark.parametrize("factory", ["HNSW8", "SQ8", "PCA2,Flat", "NSG8"])
def test_the_index_is_that_of_faiss(factory: str) -> None:
    rows = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    expected = faiss.index_factory(4, factory)
    expected.train(rows)
    expected.add(rows)
    found = build_index(4, factory, rows)
    assert type(found) is type(expected)
    for got, want in zip(found.search(rows, 3), expected.search(rows, 3), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@LOADS
def test_an_index_that_is_to_be_trained_later() -> None:
    """No rows, so that nothing but a crash is a reason to refuse it."""
    index = build_index(4, "IVF1000,Flat", None)
    assert (index.is_trained, index.ntotal, index.nlist) == (False, 0, 1000)


@LOADS
def test_what_faiss_warns_of_is_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"Faiss: clustering 60 points to 2 centroids: please"):
        build_index(4, "IVF2,Flat", ROWS)


@LOADS
def test_modules_of_the_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("faiss.py", "numpy.py", "signal.py"):
        (tmp_path / name).write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, ""])
    assert build_index(4, "HNSW8", ROWS).ntotal == 60


@pytest.mark.parametrize("trial", [b"", None])
def test_a_trial_that_takes_too_long(trial: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index itself comes before the trial; if not even that came, it is refused."""
    whole = faiss.serialize_index(faiss.index_factory(4, "HNSW8")).tobytes()

    def late(*_: Any, **options: Any) -> None:
        assert options["timeout"] == faiss_process._SECONDS
        raise subprocess.TimeoutExpired("python", 20.0, output=whole if trial is None else trial)

    monkeypatch.setattr(subprocess, "run", late)
    if trial is None:
        assert build_index(4, "HNSW8", None).hnsw.max_level == -1
    else:
        with pytest.raises(ValueError, match=r"did not end within 20 seconds"):
            build_index(4, "HNSW8", None)


@pytest.mark.parametrize("factory", ["HNSW8", "Flatt"])
def test_a_packed_program_starts_no_interpreter(
    factory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ``sys.executable`` is the program itself, which would start itself without end."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(subprocess, "run", None)
    if factory == "HNSW8":
        assert build_index(4, factory, ROWS).ntotal == 60
    else:
        with pytest.raises(ValueError, match=r"could not parse index string"):
            build_index(4, factory, ROWS)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows does not say who started a process")
def test_nothing_is_built_for_a_dead_process(tmp_path: Path) -> None:
    """A kill of the caller ends the process that builds, which could train for hours."""
    code = (
        "import numpy as np, sys\n"
        "from sdpmetric.deployment.exports.faiss_process import build_index\n"
        "rows = np.random.default_rng(0).normal(size=(5000, 64)).astype('f')\n"
        "print(flush=True)\n"
        "build_index(64, 'LSQ8x8', rows)\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert caller.stdout
    caller.stdout.readline()
    children = Path(f"/proc/{caller.pid}/task/{caller.pid}/children")
    if not children.exists():
        caller.kill()
        pytest.skip("this system does not list the children of a process")
    while not (found := children.read_text().split()):
        time.sleep(0.05)
    caller.kill()
    caller.communicate()
    for _ in range(100):
        if not Path(f"/proc/{found[0]}").exists():
            return
        time.sleep(0.1)
    os.kill(int(found[0]), 9)
    raise AssertionError("the process went on")
