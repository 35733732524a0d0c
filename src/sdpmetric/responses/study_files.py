"""Study files: SQLite databases into which `sdpmetric ask` writes what people answer.

The file is a log of events. Nothing in it is changed, and nothing is removed but the events of a
participant who withdraws. An answer that was taken back stays in the log beside its ``undo``; the
view ``answers`` leaves it out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from .._support.files import as_path, readable

APPLICATION = 0x5344504D  # "SDPM", in the header of every study file
VERSION = 1  # of the tables; a newer file is refused

# The columns of an answer by the kind of question: three items, and the one that was chosen.
COLUMNS = {
    "odd-one-out": ("a", "b", "c", "odd"),
    "2afc": ("anchor", "a", "b", "chosen"),
}
# Practice and catch questions have answers that are known: no metric learns from them.
COUNTED = ("active", "random", "repeat")

SCHEMA = """
CREATE TABLE study (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions (
    session TEXT PRIMARY KEY,
    participant TEXT UNIQUE,  -- NULL after a withdrawal
    started REAL NOT NULL
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES sessions,
    trial INTEGER NOT NULL,    -- 0: outside of the trials
    attempt INTEGER NOT NULL,  -- asked: 0; the first answer: 1; after an undo: 2
    kind TEXT NOT NULL,        -- asked, answer, undo, and the steps of a session
    time REAL NOT NULL,        -- seconds since 1970, by the server's clock
    a TEXT, b TEXT, c TEXT,    -- asked: three items as they were shown; 2AFC: a is the anchor
    source TEXT,               -- asked: active, random, repeat, catch or practice
    choice TEXT,               -- answer: the item; NULL: cannot tell
    seconds REAL,              -- answer: since all items were visible
    hidden REAL,               -- answer: seconds of these in which the page was not visible
    extra TEXT,                -- JSON
    UNIQUE (session, trial, attempt, kind)
);
CREATE TABLE withdrawals (session TEXT PRIMARY KEY, time REAL NOT NULL, answers INTEGER NOT NULL);
CREATE TABLE fits (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    answers INTEGER NOT NULL,  -- that the metric learned from
    gap REAL NOT NULL,         -- relative, certified
    converged INTEGER NOT NULL,
    accuracy TEXT              -- JSON: on random questions that it had not learned from
);
CREATE TRIGGER append_only BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER only_withdrawals BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM withdrawals WHERE session = OLD.session)
BEGIN SELECT RAISE(ABORT, 'events are removed by a withdrawal alone'); END;
CREATE VIEW answers AS
SELECT said.id, participant, said.session, said.trial, asked.a, asked.b, asked.c, said.choice,
       asked.source, said.seconds, said.hidden, said.time
FROM events AS said
JOIN events AS asked ON asked.session = said.session AND asked.trial = said.trial
     AND asked.attempt = 0 AND asked.kind = 'asked'
JOIN sessions ON sessions.session = said.session
WHERE said.kind = 'answer' AND NOT EXISTS (
    SELECT 1 FROM events AS undo WHERE undo.session = said.session AND undo.trial = said.trial
    AND undo.attempt = said.attempt AND undo.kind = 'undo');
"""


def check_study(connection: sqlite3.Connection, name: str) -> None:
    """Raise ValueError unless a database is a study file that this version can read."""
    try:
        [application] = connection.execute("PRAGMA application_id").fetchone()
        [version] = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError:
        raise ValueError(f"{name} is not a database.") from None
    if application != APPLICATION:
        raise ValueError(f"{name} is a database, but not one of 'sdpmetric ask'.")
    if version > VERSION:
        raise ValueError(
            f"{name} has format {version}, but this version of sdpmetric reads up to {VERSION}."
        )


# Limits for a file that somebody else made: it may define the view that we read.
_TEXT_BYTES = 1_000_000  # of one value
_STEPS = 1_000_000  # of SQLite's machine, and as many for each byte:
_STEPS_PER_BYTE = 100  # reading answers takes less than one
_BATCH = 100_000  # steps between two looks at the count


def _restrict(connection: sqlite3.Connection, size: int) -> None:
    """Let no file run functions, make long values or keep SQLite busy without end."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _TEXT_BYTES)
    batches = iter(range((_STEPS + _STEPS_PER_BYTE * size) // _BATCH))
    connection.set_progress_handler(lambda: next(batches, None) is None, _BATCH)


@contextmanager
def reading(path: Any) -> Iterator[sqlite3.Connection]:
    """Open a study file for reading; a server may be writing to it."""
    file = as_path(path)
    with readable(file):
        file.open("rb").close()  # for its errors: SQLite's name no reason
    log = file.with_name(f"{file.name}-wal")  # what a server has written last
    size = file.stat().st_size + (log.stat().st_size if log.exists() else 0)
    with closing(_connected(file)) as connection:
        check_study(connection, str(path))
        _restrict(connection, size)
        yield connection


def _connected(file: Path) -> sqlite3.Connection:
    uri = f"{file.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError:
        # A write-ahead log cannot be opened in a folder that is read-only: no one can be writing.
        connection.close()
        connection = sqlite3.connect(f"{uri}&immutable=1", uri=True)
    except sqlite3.DatabaseError:
        pass  # `check_study` says what is wrong
    return connection


def kind_of(connection: sqlite3.Connection) -> str:
    """The kind of question of a study."""
    found = connection.execute("SELECT value FROM study WHERE name = 'kind'").fetchone()
    return str(found[0])


def answers_in(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The answers that count, as the columns that `Responses` reads.

    Answers "cannot tell", answers that were taken back, practice and catch questions are left out.
    """
    columns = COLUMNS[kind_of(connection)]
    rows = connection.execute(
        "SELECT participant, a, b, c, choice FROM answers WHERE choice IS NOT NULL AND source IN "
        f"({', '.join('?' * len(COUNTED))}) ORDER BY id",
        COUNTED,
    ).fetchall()
    cells = zip(*rows, strict=True) if rows else [()] * 5
    return {n: list(c) for n, c in zip(("participant", *columns), cells, strict=True)}


def read_study(path: Any) -> tuple[str, dict[str, list[str]]]:
    """The kind of question of a study file, and its answers as columns."""
    try:
        with reading(path) as connection:
            kind, answers = kind_of(connection), answers_in(connection)
    except (sqlite3.Error, KeyError, TypeError) as error:
        raise ValueError(f"{path} is a study file that cannot be read: {error}.") from None
    for name, cells in answers.items():
        if not all(isinstance(cell, str) for cell in cells):
            raise ValueError(f"{path} is a damaged study file: {name!r} holds more than texts.")
    return kind, answers
