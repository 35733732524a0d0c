"""Certificates of hard problems against the truth in long double: never below it.

A few hundred problems here; ``python -m tests.campaigns.certificates`` runs as many as one likes.
"""

from __future__ import annotations

import pytest

from tests.campaigns.certificates import ALL_TRIPLETS, AS_IF_LARGE, MATRICES, judge
from tests.support.adversaries import KINDS
from tests.support.lanes import some


@pytest.mark.parametrize("kind", [*KINDS, AS_IF_LARGE, ALL_TRIPLETS, MATRICES])
@pytest.mark.parametrize("part", some(range(5), 1))
def test_no_gap_is_below_the_truth(kind: str, part: int) -> None:
    step = 6
    verdicts = [v for seed in range(step * part, step * part + step) for v in judge(kind, seed)]
    assert [(v.seed, v.findings) for v in verdicts if v.findings] == []
