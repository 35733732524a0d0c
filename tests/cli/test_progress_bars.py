"""The command line shows progress on a terminal alone, and leaves nothing of it in a model."""

from __future__ import annotations

import io

import pytest

from sdpmetric import SDPMetric
from sdpmetric.cli.progress_bars import bars, showing_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    metric = SDPMetric()
    with showing_progress(metric):
        metric.progress.stage("fit")(0.5, 1.0, "gap 1e-2")  # type: ignore[union-attr]
    assert "fit" in screen.getvalue()
    assert metric.progress is False


def test_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with bars() as stages:
        assert stages is None
    assert capsys.readouterr() == ("", "")
