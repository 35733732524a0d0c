"""Certificates of hard problems against the truth in long double: never below it.

A few hundred problems here; ``python -m tests.campaigns.certificates`` runs as many as one likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric.linalg.dense_items import DenseItems
from sdpmetric.triplets.streamed import StreamedPoint
from tests.campaigns.certificates import ALL_TRIPLETS, AS_IF_LARGE, MATRICES, judge
from tests.support.adversaries import KINDS
from tests.support.lanes import some
from tests.support.problems import Floats


@pytest.mark.parametrize("kind", [*KINDS, AS_IF_LARGE, ALL_TRIPLETS, MATRICES])
@pytest.mark.parametrize("part", some(range(5), 1))
def test_no_gap_is_below_the_truth(kind: str, part: int) -> None:
    step = 6
    verdicts = [v for seed in range(step * part, step * part + step) for v in judge(kind, seed)]
    assert [(v.seed, v.findings) for v in verdicts if v.findings] == []


def test_a_bound_by_tiles_that_is_a_thousandth_too_low_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = StreamedPoint.times

    def low(self: StreamedPoint, V: Floats) -> Floats:
        return 0.999 * times(self, V)

    monkeypatch.setattr(StreamedPoint, "times", low)
    findings = [v.findings for seed in (5, 6, 8) for v in judge(ALL_TRIPLETS, seed)]
    # The list, the start by tiles, a later metric by tiles; a list is made without this product.
    assert findings[::3] == [()] * 3
    assert "the gap is below the true one" in np.concatenate(findings)


def test_a_block_of_a_product_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = DenseItems._blocks

    def without_the_last(self: DenseItems, part: slice, dtype: np.dtype[np.float64]) -> Any:
        found = list(blocks(self, part, dtype))
        return found[:-1] if len(found) > 1 else found

    monkeypatch.setattr(DenseItems, "_blocks", without_the_last)
    assert any(v.findings for seed in (8, 11) for v in judge(AS_IF_LARGE, seed))
