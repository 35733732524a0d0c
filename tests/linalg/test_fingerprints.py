from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric.engines.threads import thread_pool
from sdpmetric.linalg import fingerprints
from sdpmetric.linalg.fingerprints import array_digest
from sdpmetric.linalg.items import items_of


def test_digests_tell_arrays_apart_by_entries_type_and_shape() -> None:
    A = np.random.default_rng(0).normal(size=(6, 4))
    changed = A.copy()
    changed[5, 3] = np.nextafter(changed[5, 3], 2.0)
    others: list[Any] = [changed, A.reshape(4, 6), A.astype(np.float32), A[:5], A[::-1], A[:, ::-1]]
    assert len({array_digest(other) for other in [A, *others]}) == 7


def test_digests_do_not_depend_on_layout_threads_or_files(tmp_path: Path) -> None:
    A = np.random.default_rng(0).normal(size=(500, 4))
    expected = array_digest(A)
    np.save(tmp_path / "A.npy", A)
    assert array_digest(np.asfortranarray(A)) == expected
    assert array_digest(np.repeat(A, 2, axis=0)[::2]) == expected
    assert array_digest(np.load(tmp_path / "A.npy", mmap_mode="r")) == expected


def test_blocks_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(0).normal(size=(500, 4))
    monkeypatch.setattr(fingerprints, "_BLOCK_BYTES", 1000)
    expected = array_digest(A)
    with thread_pool(3):
        assert array_digest(A) == expected
    changed = A.copy()
    changed[499, 0] += 1.0
    assert array_digest(changed) != expected


def test_items_of_one_table_differ_by_their_form() -> None:
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    sparse = items_of(sp.csr_array(X))
    assert sparse.fingerprint() == items_of(sp.csr_array(X.copy())).fingerprint()
    wider = sp.csr_array((sparse.raw.data, sparse.raw.indices, sparse.raw.indptr), shape=(2, 3))
    assert (
        len({sparse.fingerprint(), items_of(X).fingerprint(), items_of(wider).fingerprint()}) == 3
    )
