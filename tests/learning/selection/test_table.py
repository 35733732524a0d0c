"""The choice among candidates, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sdpmetric.learning.selection.rule import choose
from sdpmetric.learning.selection.table import Key, Table, Trial
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


FITTED = TripletCandidate("within", 0.0, 0.1)
DEFAULT, BETTER, ALONE = (
    (TripletCandidate("raw", 0.0, 0.1), 10.0),
    (TripletCandidate("raw", 0.2, 0.1), 10.0),
    (TripletCandidate("raw", 1.0, 0.1), 10.0),
)


@pytest.mark.parametrize(
    ("doubt", "expected"),
    [
        (0.0, BETTER),
        (2.0, BETTER),  # a gain of 1.29 standard errors on the default settings
        (3.0, DEFAULT),
        (9.0, DEFAULT),  # they are better than the prior alone, and neither had luck
    ],
)
def test_defaults_have_to_be_improved_on(doubt: float, expected: Any) -> None:
    table = Table(
        {
            ALONE: trials(0.50, 0.50, 0.55, 0.60),
            DEFAULT: trials(0.70, 0.60, 0.70, 0.70),
            BETTER: trials(0.72, 0.68, 0.69, 0.71),
        }
    )
    rule: Any = {"doubt": doubt, "one_standard_error": False}
    keys = list(table.rows)
    assert keys[choose(table, **rule, references=[DEFAULT])] == expected
    # Unless they are known as defaults they are a candidate like others.
    if expected == DEFAULT and doubt < 9.0:
        assert keys[choose(table, **rule)] == BETTER


@pytest.mark.parametrize(
    ("doubt", "sampled", "expected"),
    [
        (1.0, False, BETTER),  # a gain of 1.29 standard errors
        (2.0, False, ALONE),  # it has the whole doubt, the defaults would have half of it
        (2.0, True, BETTER),
    ],
)
def test_the_prior_alone_has_more_protection_than_the_defaults(
    doubt: float, sampled: bool, expected: Any
) -> None:
    table = Table(
        {
            ALONE: trials(0.70, 0.60, 0.70, 0.70),
            DEFAULT: trials(0.70, 0.60, 0.65, 0.70),
            BETTER: trials(0.72, 0.68, 0.69, 0.71),
        }
    )
    rule: Any = {"doubt": doubt, "one_standard_error": False, "sampled": sampled}
    assert list(table.rows)[choose(table, **rule, references=[DEFAULT])] == expected


@pytest.mark.parametrize(("coordinates", "expected"), [("standard", 0), ("within", 1)])
def test_whitened_coordinates_are_not_protected(coordinates: str, expected: int) -> None:
    """They are learned from the labels, so they are a candidate like others."""
    whitened, raw = (TripletCandidate(kind, 1.0, 0.1) for kind in (coordinates, "raw"))
    rows: dict[Key, list[Trial]] = {
        (whitened, 2.0): trials(0.70, 0.60, 0.70, 0.70),
        (FITTED, 2.0): trials(0.72, 0.68, 0.69, 0.71),
        (raw, 2.0): trials(0.50, 0.50, 0.50, 0.50),
    }
    rule: Any = {"doubt": 2.0, "one_standard_error": False}
    assert choose(Table(rows), **rule) == expected
    del rows[raw, 2.0]  # unless there are no others
    assert choose(Table(rows), **rule) == 0


def test_defaults_that_were_not_tried_on_all_splits() -> None:
    table = Table({ALONE: trials(0.5, 0.5), DEFAULT: trials(0.9), BETTER: trials(0.7, 0.7)})
    rule: Any = {"doubt": 2.0, "one_standard_error": False}
    assert choose(table, **rule, references=[DEFAULT]) == 2
