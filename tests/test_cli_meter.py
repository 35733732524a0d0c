"""The bar goes from the first gap to tol, on a terminal alone."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from sdpmetric.cli.meter import gap_bar, search_bar

pytest.importorskip("rich")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """No fixture, since pytest sets stderr anew after these."""
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return screen


def test_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with gap_bar(1e-4) as watch:
        assert watch is not None
        for gap in (float("inf"), 1e-1, 1e-3, 1e-2, 1e-5):
            watch(SimpleNamespace(gap=gap))
    assert "log10 gap  -5.0  aim -4.0" in screen.getvalue()


def test_search(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with search_bar() as report:
        assert report is not None
        report(3, 40)
    assert "settings tried: 3 of 40" in screen.getvalue()


def test_nonsense_is_left_to_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    for tol in (0.0, -1, "small", None):
        with gap_bar(tol) as watch:
            assert watch is None


def test_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with gap_bar(1e-4) as watch, search_bar() as report:
        assert watch is report is None
    assert capsys.readouterr() == ("", "")
