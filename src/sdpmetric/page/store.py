"""`Store`: the study file while a server writes to it.

An answer is on the disk before the browser hears that it is saved: every transaction ends with an
fsync (``synchronous=FULL``). The unique key of an event makes it safe to send one twice.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from .._support.files import as_target
from ..responses.study_files import APPLICATION, SCHEMA, VERSION, check_study

T = TypeVar("T")
_BUSY = 10.0  # seconds to wait for another process that writes


class Store:
    """A study file, opened for writing.

    Parameters
    ----------
    path : file; created if it does not exist
    kind : "odd-one-out" or "2afc"
    ids : the id of each item

    Attributes
    ----------
    secret : key of the signatures in participants' links
    token : password of the dashboard
    """

    def __init__(self, path: str | Path, kind: str, ids: Sequence[str]) -> None:
        self.path = Path(path)
        as_target(self.path)  # SQLite would wait for a FIFO without end
        self._lock, self._queueing = threading.Lock(), threading.Lock()
        self._queue: list[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = []
        new = not self.path.exists() or self.path.stat().st_size == 0
        if new:
            # Names of participants and the keys of links are for the owner alone.
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._connection = sqlite3.connect(
            self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False
        )
        try:
            if new:
                self._create(kind, ids)
            else:
                check_study(self._connection, str(path))
                self._check_same(kind, ids)
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
                self._connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            self._connection.close()
            raise
        # Of its own, so that the dashboard's long queries do not hold up those who answer.
        self._reader = sqlite3.connect(self.path, timeout=_BUSY, check_same_thread=False)
        self._reading = threading.Lock()
        self.secret, self.token = (str(self.setting(name)) for name in ("secret", "token"))

    def _create(self, kind: str, ids: Sequence[str]) -> None:
        self._connection.executescript(
            f"BEGIN; {SCHEMA} PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION};"
        )
        settings = {"kind": kind, "items": json.dumps(list(ids), ensure_ascii=False)}
        settings |= {"secret": secrets.token_hex(32), "token": secrets.token_urlsafe(18)}
        self._connection.executemany("INSERT INTO study VALUES (?, ?)", settings.items())
        self._connection.execute("COMMIT")

    def _check_same(self, kind: str, ids: Sequence[str]) -> None:
        if self.setting("kind") != kind:
            raise ValueError(
                f"{self.path} holds answers of kind {self.setting('kind')!r}, this study asks "
                f"{kind!r}; expected another file."
            )
        known = json.loads(str(self.setting("items")))
        if set(known) != set(ids):
            other = next(iter(sorted(set(known) ^ set(ids))))
            raise ValueError(
                f"{self.path} belongs to another study: it has {len(known)} items, this study "
                f"{len(ids)}, and {other!r} is in one of them only."
            )

    def setting(self, name: str) -> str | None:
        """A setting of the study, None if there is none of this name."""
        query = "SELECT value FROM study WHERE name = ?"
        found = self._connection.execute(query, (name,)).fetchone()
        return None if found is None else str(found[0])

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows that a query selects."""
        with self._reading:
            return self._reader.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write several events, all or none; they are on the disk when this ends."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function inside a transaction that may be shared with other threads.

        Where the disk is slow, answers come faster than it can be synced. So all functions that
        wait for their turn run in one transaction with one fsync. Each is undone alone if it
        raises.

        Parameters
        ----------
        work : called with the connection; what it wrote is on the disk when this returns

        Returns
        -------
        What ``work`` returns.
        """
        mine: Future[T] = Future()
        with self._queueing:
            self._queue.append((work, mine))
        with self._lock:
            if not mine.done():  # else the thread before this one has done it
                with self._queueing:
                    batch, self._queue = self._queue, []
                self._commit(batch)
        return mine.result()

    def _commit(self, batch: list[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]]) -> None:
        connection = self._connection
        results: list[Any] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            for work, future in batch:
                connection.execute("SAVEPOINT one")
                try:
                    results.append((future.set_result, work(connection)))
                except Exception as error:
                    connection.execute("ROLLBACK TO one")
                    results.append((future.set_exception, error))
                connection.execute("RELEASE one")
            connection.execute("COMMIT")
        except BaseException as error:  # such as a full disk: nothing is stored
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            results = [(future.set_exception, error) for _, future in batch]
        for tell, result in results:
            tell(result)

    def enrol(self, session: str, participant: str, arrival: dict[str, str]) -> bool:
        """Open a session, or open it again; False if its participant has withdrawn.

        ``arrival`` holds ids of a recruiting site.
        """
        with self.transaction() as connection:
            if is_withdrawn(connection, session):
                return False
            new = connection.execute(
                "INSERT OR IGNORE INTO sessions VALUES (?, ?, ?)",
                (session, participant, time.time()),
            )
            if new.rowcount and arrival:
                append(connection, session, "arrived", extra=arrival)
            return True

    def arrival(self, session: str) -> dict[str, str] | None:
        """The ids of a recruiting site that a session was opened with; None: it was not opened."""
        with self.transaction() as connection:
            if not connection.execute(
                "SELECT 1 FROM sessions WHERE session = ?", (session,)
            ).fetchone():
                return None
            found = connection.execute(
                "SELECT extra FROM events WHERE session = ? AND kind = 'arrived'", (session,)
            ).fetchone()
            return {} if found is None else dict(json.loads(found[0]))

    def log_fit(
        self, answers: int, gap: float, converged: bool, accuracy: dict[str, float] | None
    ) -> None:
        """Keep the certificate of a fit, and the accuracy on random questions if it is known."""
        values = (time.time(), answers, float(gap), int(converged))
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO fits (time, answers, gap, converged, accuracy) VALUES (?, ?, ?, ?, ?)",
                (*values, None if accuracy is None else json.dumps(accuracy)),
            )

    def withdraw(self, session: str) -> int:
        """Delete all events of a session and its participant's name; return the answers deleted."""
        with self.transaction() as connection:
            mine = (session,)
            [count] = connection.execute(
                "SELECT count(*) FROM events WHERE session = ? AND kind = 'answer'", mine
            ).fetchone()
            connection.execute(
                "INSERT OR IGNORE INTO withdrawals VALUES (?, ?, ?)", (session, time.time(), count)
            )
            connection.execute("DELETE FROM events WHERE session = ?", mine)
            connection.execute("UPDATE sessions SET participant = NULL WHERE session = ?", mine)
        with self._lock:
            # Pages of the write-ahead log may still hold the answers.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(count)

    def close(self) -> None:
        """Close the file; the write-ahead log is merged into it."""
        with self._reading:
            self._reader.close()
        with self._lock:
            self._connection.close()


def is_withdrawn(connection: sqlite3.Connection, session: str) -> bool:
    """Whether the participant of a session has withdrawn."""
    query = "SELECT 1 FROM withdrawals WHERE session = ?"
    return connection.execute(query, (session,)).fetchone() is not None


def append(
    connection: sqlite3.Connection,
    session: str,
    kind: str,
    trial: int = 0,
    attempt: int = 0,
    *,
    extra: dict[str, Any] | None = None,
    **cells: Any,
) -> bool:
    """Add an event inside a transaction; False if the same event is there already.

    Parameters
    ----------
    connection : of `Store.transaction`
    session, kind, trial, attempt : the key of the event
    extra : further values, stored as JSON
    **cells : values by the names of columns
    """
    row = {"session": session, "kind": kind, "trial": trial, "attempt": attempt} | cells
    row |= {"time": time.time(), "extra": json.dumps(extra, ensure_ascii=False) if extra else None}
    done = connection.execute(
        f"INSERT OR IGNORE INTO events ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        list(row.values()),
    )
    return done.rowcount == 1
