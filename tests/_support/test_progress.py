"""Progress is shown with rich and without, and says what is being done."""

from __future__ import annotations

import io
import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sdpmetric import SDPMetric, SDPMetricCV, TripletSDPMetric, knn_triplets
from sdpmetric._support import progress
from sdpmetric._support.progress import gap_watch, shown, terminal

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4))
Y = np.arange(90) % 3
X[:, 0] += Y


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


both = pytest.mark.parametrize("kind", ["rich", "plain"])


def terminal_of(kind: str, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal, with rich or without. No fixture, since pytest sets stderr after these."""
    if kind == "rich":
        pytest.importorskip("rich")
    else:
        monkeypatch.setattr(progress, "is_installed", lambda package: False)
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr("sys.stderr", screen)
    return screen


def read(screen: Terminal) -> str:
    """What was written, without the codes that move the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue())


@both
def test_a_fit_shows_neighbours_rounds_and_gaps(kind: str, monkeypatch: Any) -> None:
    screen = terminal_of(kind, monkeypatch)
    SDPMetric(progress=True, n_rounds=2).fit(X, Y)
    said = read(screen)
    for text in ("nearest rows, round 1 of 2", "fit, round 2 of 2", "100", "gap ", "aim 1e-04"):
        assert text in said
    assert "?" not in said


@both
def test_comparisons_and_neighbours_alone(kind: str, monkeypatch: Any) -> None:
    screen = terminal_of(kind, monkeypatch)
    triplets = knn_triplets(X, Y, progress=True)
    assert "nearest rows" in read(screen)
    TripletSDPMetric(progress=True).fit(X, triplets)
    assert "aim 1e-04" in read(screen)


@both
def test_a_search_shows_settings_and_the_last_fit(kind: str, monkeypatch: Any) -> None:
    screen = terminal_of(kind, monkeypatch)
    grids: dict[str, Any] = {"n_neighbors": 2, "n_impostors": 2, "n_rounds": 1, "prior_weight": 0.0}
    SDPMetricCV([2.0], **grids, coordinates=["raw", "standard"], cv=2, progress=True).fit(X, Y)
    said = read(screen)
    assert "settings tried" in said
    assert "2 of 2" in said
    assert "nearest rows" in said


def test_a_setting_on_one_of_three_splits_is_a_third_of_it() -> None:
    told: list[float] = []

    class Told:  # it can be called itself, as plain text can: it was taken for a user's function
        def stage(self, title: str) -> Any:
            titles.append(title)
            return self

        def __call__(self, done: float, total: float, note: str = "") -> None:
            told.append(done)

    titles: list[str] = []
    grids: dict[str, Any] = {"n_neighbors": 2, "n_impostors": 2, "n_rounds": 1, "prior_weight": 0.0}
    search = SDPMetricCV([2.0], **grids, coordinates=["raw", "standard"], cv=3, n_jobs=1)
    search.set_params(progress=Told()).fit(X, Y)
    expected = [1 / 3, 2 / 3, 1.0, 4 / 3, 5 / 3, 2.0]
    assert told[:6] == pytest.approx(expected)
    assert titles == ["settings tried", "nearest rows", "fit"]


def test_nothing_stays_where_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "is_installed", lambda package: False)
    screen = Terminal()
    with terminal(screen, keep=False) as stages:
        assert stages is not None
        stages.stage("fit")(0.5, 1.0, "gap 1e-2")
    assert screen.getvalue().endswith("\r")
    assert screen.getvalue().split("\r")[-2].strip() == ""


def test_a_log_gets_a_line_every_ten_seconds() -> None:
    log, now = io.StringIO(), [0.0]
    from sdpmetric._support.plain_progress import PlainText

    with PlainText(log, clock=lambda: now[0]) as text:
        show = text.stage("nearest rows")
        for second in range(0, 26):
            now[0] = float(second)
            show(second, 50.0)
    assert log.getvalue().splitlines() == [
        "nearest rows: 20%, 0:00:10, about 0:00:40 left",
        "nearest rows: 40%, 0:00:20, about 0:00:30 left",
    ]


def test_the_inner_gap_moves_the_bar_and_only_a_proof_fills_it() -> None:
    told: list[tuple[float, str]] = []
    watch = gap_watch(lambda done, total, note="": told.append((done, note)), 1e-4)
    for n_iter, (inner, gap) in enumerate(
        (
            (math.inf, math.inf),  # nothing is known yet
            (1.0, math.inf),
            (1e-2, math.inf),
            (1e-1, 1e-2),  # new directions: the inner gap goes up, the bar does not go back
            (5e-5, 1e-2),
            (5e-5, 9e-5),
        )
    ):
        watch(SimpleNamespace(inner_gap=inner, gap=gap, n_iter=n_iter, seconds=2.0 + 0.5 * n_iter))
    assert [done for done, _ in told] == pytest.approx([0.0, 0.5, 0.5, 0.99, 1.0])
    assert told[0][1] == "gap 1e+00 (aim 1e-04), 0.5 s an evaluation"
    assert told[-1][1] == "gap 5e-05 (proven 9e-05, aim 1e-04), 0.5 s an evaluation"


def test_a_solver_reports_the_inner_gap_between_certificates() -> None:
    told: list[Any] = []
    metric = SDPMetric(n_rounds=1, tol=1e-8, C=10.0, h=0.01)
    metric._watch = told.append
    metric.fit(X, Y)
    inner = {now.inner_gap for now in told if now.inner_gap < math.inf}
    assert len(inner) > 2 * len({now.gap for now in told})
    assert min(inner) < 1e-6


@both
def test_two_fits_at_once_share_a_terminal(kind: str, monkeypatch: Any) -> None:
    """rich has one live display: a second one raised LiveError."""
    terminal_of(kind, monkeypatch)
    with shown(True), shown(True):
        pass
    SDPMetric(progress=True).fit(X, Y)


@pytest.mark.parametrize("estimator", [SDPMetric(), TripletSDPMetric(), SDPMetricCV()])
def test_nonsense_is_refused_before_any_work(estimator: Any) -> None:
    given = knn_triplets(X, Y) if isinstance(estimator, TripletSDPMetric) else Y
    with pytest.raises(ValueError, match=r"progress must be True, False or a function, got 'yes'"):
        estimator.set_params(progress="yes").fit(X, given)


def test_a_function_gets_rows_and_shares() -> None:
    told: list[tuple[float, float]] = []
    SDPMetric(n_rounds=1, progress=lambda *now: told.append(now)).fit(X, Y)
    assert (90, 90) in told
    assert told[-1][1] == 1.0


def test_a_bad_value_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SDPMetric, "_in_coordinates", lambda *_: pytest.fail("work began"))
    with pytest.raises(ValueError, match="progress must be True, False or a function, got 3"):
        SDPMetric(progress=3).fit(X, Y)  # type: ignore[arg-type]
