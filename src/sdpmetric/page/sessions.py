"""What a participant's browser is given and sends: questions, answers, undos, steps.

The browser holds a few questions in advance, so that it can load pictures early and go on while it
is offline. It keeps every event until the server has confirmed it, and may send it again.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .questions import Question, Seen, key_of
from .store import append, is_withdrawn
from .study import Study

AHEAD = 3  # questions that a browser holds
HISTORY = 5  # answers that can be taken back after the page was loaded again
STEPS = ("consent", "instructions", "practice", "begin", "finished", "debriefing")
_KEY = re.compile(r"[a-z0-9:.-]{1,60}")  # by which a browser knows its events
_LONGEST = 7 * 24 * 3600.0  # seconds; longer times are a clock that jumped


class WithdrawnError(Exception):
    """The participant has withdrawn: nothing is stored any more."""


@dataclass(frozen=True)
class Trial:
    """A question of one participant, and how it stands.

    Attributes
    ----------
    number : from 1
    question : the items
    attempt : number of the next answer, from 1
    choice : row of the answer; None: cannot tell, or not answered
    answered : whether an answer stands
    """

    number: int
    question: Question
    attempt: int
    choice: int | None
    answered: bool


def trials_of(study: Study, session: str, connection: Any) -> list[Trial]:
    """All questions of a participant, in the order of asking."""
    row = study.stimuli.rows
    asked: dict[int, Question] = {}
    answers: dict[int, tuple[int, int | None]] = {}
    undone: dict[int, int] = {}
    kind_asked = study.settings.kind
    expected = {key_of(kind_asked, q.rows): q.expected for q in study.settings.catch}
    for trial, attempt, kind, a, b, c, source, choice in connection.execute(
        "SELECT trial, attempt, kind, a, b, c, source, choice FROM events WHERE session = ? AND "
        "trial > 0 ORDER BY id",
        (session,),
    ):
        if kind == "asked":
            rows = (row[a], row[b], row[c])
            answer = expected.get(key_of(kind_asked, rows)) if source == "catch" else None
            asked[trial] = Question(rows, source, answer)
        elif kind == "answer":
            answers[trial] = attempt, None if choice is None else row[choice]
        else:
            undone[trial] = attempt
    trials = []
    for number, question in asked.items():
        attempt, choice = answers.get(number, (0, None))
        stands = attempt > undone.get(number, 0)
        trials.append(
            Trial(
                number,
                question,
                attempt + (not stands),
                choice if stands else None,
                stands,
            )
        )
    return trials


def record(study: Study, session: str, entries: list[Any]) -> dict[str, Any]:
    """Store what a browser sends, ask as many questions as are needed, and say what is next.

    Parameters
    ----------
    study : Study
    session : key of the participant's session
    entries : events, oldest first; each with its ``key``, which is returned once it is stored

    Returns
    -------
    What the browser needs to go on. ``saved`` has the keys of events that are on the disk, whether
    they were sent for the first time or again; ``refused`` those that can never be stored.
    """
    view, changed = study.store.write(lambda c: _recorded(study, session, entries, c))
    if changed:
        study.learner.heard(changed)
    return view


def _recorded(
    study: Study, session: str, entries: list[Any], connection: sqlite3.Connection
) -> tuple[dict[str, Any], int]:
    """The reply to a browser, and how many answers were stored or taken back."""
    if is_withdrawn(connection, session):
        raise WithdrawnError
    saved: list[str] = []
    refused: list[str] = []
    changed = 0
    for entry in entries:
        key = entry.get("key") if isinstance(entry, dict) else None
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            continue  # no page of ours sends this
        try:
            changed += _store(study, session, connection, entry)
            saved.append(key)
        except (KeyError, TypeError, ValueError, OverflowError):
            refused.append(key)
    trials = _topped_up(study, session, connection)
    view = _view(study, trials, _steps(connection, session))
    return {"saved": saved, "refused": refused} | view, changed


def _store(study: Study, session: str, connection: sqlite3.Connection, entry: Any) -> int:
    """Store one event; return how many answers it adds or takes back."""
    kind = entry["kind"]
    if kind in STEPS:
        append(connection, session, kind)
        return 0
    if kind not in ("answer", "undo"):
        raise ValueError(f"there is no event {kind!r}")
    number, attempt = _whole(entry["trial"]), _whole(entry["attempt"])
    key = (session, number, attempt, kind)
    if connection.execute(
        "SELECT 1 FROM events WHERE (session, trial, attempt, kind) = (?, ?, ?, ?)", key
    ).fetchone():
        return 0  # it was sent before
    trial = next((t for t in trials_of(study, session, connection) if t.number == number), None)
    # An undo takes back the answer of this attempt; an answer is the first one, or follows an undo.
    if trial is None or trial.attempt != attempt or trial.answered != (kind == "undo"):
        raise ValueError("this event does not follow the events before it")
    if kind == "undo":
        append(connection, session, kind, number, attempt)
        return 1
    if "consent" in study.settings.texts and "consent" not in _steps(connection, session):
        raise ValueError("this participant has not agreed")
    choice = entry["choice"]
    allowed = trial.question.rows[study.settings.kind == "2afc" :]
    if choice is not None and _whole(choice) not in allowed:
        raise ValueError("the choice is none of the items")
    append(
        connection,
        session,
        kind,
        number,
        attempt,
        choice=None if choice is None else study.stimuli.ids[choice],
        seconds=_seconds(entry.get("seconds")),
        hidden=_seconds(entry.get("hidden")),
        extra={"by": str(entry["by"])[:20]} if "by" in entry else None,
    )
    return 1


def _topped_up(study: Study, session: str, connection: sqlite3.Connection) -> list[Trial]:
    """The participant's trials; new questions are asked if few are left."""
    trials = trials_of(study, session, connection)
    others: list[Any] | None = None
    while True:
        counted = [t for t in trials if t.question.source != "practice"]
        practising = len(trials) - len(counted) < study.settings.practice
        waiting = [t for t in trials if not t.answered]
        if len(waiting) >= AHEAD or (len(counted) >= study.settings.target and not practising):
            return trials
        if others is None:
            others = _of_others(study, session, connection)
        seen = Seen([t.question for t in trials], others)
        chooser = study.chooser
        question = chooser.practice(seen) if practising else chooser.choose(seen)
        number = trials[-1].number + 1 if trials else 1
        a, b, c = (study.stimuli.ids[i] for i in question.rows)
        append(connection, session, "asked", number, a=a, b=b, c=c, source=question.source)
        trials.append(Trial(number, question, 1, None, False))


def _of_others(study: Study, session: str, connection: sqlite3.Connection) -> list[Any]:
    """The latest random questions that other participants were asked."""
    row = study.stimuli.rows
    found = connection.execute(
        "SELECT q.a, q.b, q.c FROM events AS q WHERE q.kind = 'asked' AND q.source = 'random' AND "
        "q.session != ? ORDER BY q.id DESC LIMIT 200",
        (session,),
    )
    return [(row[a], row[b], row[c]) for a, b, c in found]


def _steps(connection: sqlite3.Connection, session: str) -> list[str]:
    done = connection.execute(
        "SELECT kind FROM events WHERE session = ? AND trial = 0 ORDER BY id", (session,)
    )
    return [kind for [kind] in done if kind in STEPS]


def _view(study: Study, trials: list[Trial], steps: list[str]) -> dict[str, Any]:
    counted = sum(t.answered for t in trials if t.question.source != "practice")
    answered = [t for t in trials if t.answered]
    target = study.settings.target
    return {
        "questions": [_as_json(study, t) for t in trials if not t.answered],
        "history": [_as_json(study, t) for t in answered[-HISTORY:]],
        "answered": counted,
        "target": target,
        # Not before the end: its code is what a participant is paid for.
        "completion": study.settings.completion if counted >= target else "",
        "steps": steps,
    }


def _as_json(study: Study, trial: Trial) -> dict[str, Any]:
    stimuli = study.stimuli
    shown: dict[str, Sequence[str]] = {}
    if stimuli.shown == "text":
        shown["text"] = stimuli.contents
    if stimuli.descriptions:
        shown["description"] = stimuli.descriptions
    items = [
        {"row": i} | {name: cells[i] for name, cells in shown.items()} for i in trial.question.rows
    ]
    return {
        "trial": trial.number,
        "attempt": trial.attempt,
        "practice": trial.question.source == "practice",
        "items": items,
    }


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"expected a whole number, got {value!r}")
    return value


def _seconds(value: object) -> float | None:
    """A duration that a browser measured; None if it makes no sense."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    seconds = float(value)
    return seconds if math.isfinite(seconds) and 0.0 <= seconds <= _LONGEST else None
