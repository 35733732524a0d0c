"""The fast lane goes through every room."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdpmetric

SOURCE, TESTS = Path(sdpmetric.__file__).parent, Path(__file__).parent


def test_every_room_is_in_the_fast_lane(request: pytest.FixtureRequest) -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    found: dict[str, bool] = {}
    for item in request.session.items:
        if item.path.is_relative_to(TESTS):
            room = item.path.relative_to(TESTS).parts[0]
            found[room] = found.get(room, False) or item.get_closest_marker("slow") is None
    rooms.add("properties")
    if not found.keys() >= rooms:
        pytest.skip("only a part of the tests is run")
    assert [room for room in rooms if not found[room]] == []
