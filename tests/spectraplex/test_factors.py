"""Components and eigenvalues of a factor."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric.spectraplex.factors import spectrum


@pytest.mark.parametrize("k", [None, 2])
def test_spectrum_of_a_known_factor(k: int | None) -> None:
    rng = np.random.default_rng(6)
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    e = np.array([0.7, 0.2, 0.1])
    mixing = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = spectrum(3.0 * (Q[:, :3] * np.sqrt(e)) @ mixing, k=k)
    np.testing.assert_allclose(found.eigenvalues, e, atol=1e-12)
    kept = e[:k] / e[:k].sum()
    expected = (Q[:, : len(kept)] * kept) @ Q[:, : len(kept)].T
    np.testing.assert_allclose(found.components.T @ found.components, expected, atol=1e-12)
    assert found.retained == pytest.approx(e[:k].sum(), abs=1e-12)
