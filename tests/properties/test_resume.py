"""Fits whose process is killed go on from their checkpoint: a short run of the campaign."""

from __future__ import annotations

import pytest

from tests.properties.test_crashes import campaign, posix


@posix
@pytest.mark.hard
def test_six_kills_of_fits_and_searches() -> None:
    kinds = ("rounds", "comparisons", "search by labels")
    code, counts = campaign("resume", "--kills", "6", "--kinds", *kinds)
    assert (code, len(counts)) == (0, 3)
    assert sum(count["kills"] for count in counts.values()) >= 6
    assert sum(count["resumed"] for count in counts.values()) > 0
    assert sum(count["fits"] for count in counts.values()) >= 1
