"""Deadlines by a clock of our own."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from sdpmetric._support import deadline
from sdpmetric._support.deadline import Deadline, OutOfTimeError


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(deadline, "time", clock)
    return clock


def test_without_a_limit_the_end_never_comes(clock: SimpleNamespace) -> None:
    never = Deadline()
    clock.now += 1e12
    assert (never.seconds, never.left, never.over) == (1e12, math.inf, False)
    never.check()
    assert not never.extended(0.25).over
    assert not never.shortened(0.75).over
    assert Deadline().limited(None).limit == math.inf


def test_the_limit_counts_from_the_beginning(clock: SimpleNamespace) -> None:
    began = Deadline()
    clock.now += 3.0
    end = began.limited(10.0)
    assert (end.seconds, end.left, end.over) == (3.0, 7.0, False)
    clock.now += 7.0
    assert (end.left, end.over) == (0.0, True)
    with pytest.raises(OutOfTimeError):
        end.check()


def test_a_share_ends_sooner_and_an_extension_later(clock: SimpleNamespace) -> None:
    end = Deadline().limited(8.0)
    assert end.shortened(0.75).left == 6.0
    # Enough is left: nothing is added.
    assert end.extended(0.25).left == 8.0
    clock.now += 7.0
    assert end.extended(0.25).left == 2.0
    clock.now += 93.0
    assert end.over
    assert end.extended(0.25).left == 2.0
