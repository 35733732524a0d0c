"""The choice among candidates, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sdpmetric.learning.selection.table import Table, Trial, choose
from sdpmetric.learning.selection.triplet_split import TripletCandidate


def trials(*scores: float) -> list[Trial]:
    return [Trial(score, 0.0, 1, 0.0, 0.0) for score in scores]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"doubt": 0.0, "one_standard_error": False}, 3),
        ({"doubt": 2.0, "one_standard_error": False}, 3),
        ({"doubt": 2.0, "one_standard_error": True}, 1),  # leans on the prior, and is near enough
        ({"doubt": 20.0, "one_standard_error": False}, 0),
        ({"doubt": 20.0, "one_standard_error": True}, 0),
    ],
)
def test_rule_by_hand(rule: dict[str, Any], expected: int) -> None:
    rows = {
        1.0: trials(0.60, 0.70, 0.80),
        0.5: trials(0.75, 0.79, 0.89),
        0.2: trials(0.70, 0.72, 0.84),
        0.0: trials(0.74, 0.82, 0.90),
    }
    table = Table({(TripletCandidate("raw", t, 0.1), 2.0): list_ for t, list_ in rows.items()})

    assert choose(table, **rule) == expected
    single = Table({key: list_[:1] for key, list_ in table.rows.items()})
    assert choose(single, **rule) == 1  # one split tells no error: the best, 0.75
