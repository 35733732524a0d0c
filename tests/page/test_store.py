"""The study file while it is written: nothing is changed, nothing counts twice."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from sdpmetric.page.store import Store, append

IDS = ["a", "b", "c"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "s.db", "odd-one-out", IDS)
    made.enrol("s", "Ada", {"PROLIFIC_PID": "p1"})
    with made.transaction() as connection:
        append(connection, "s", "asked", 1, a="a", b="b", c="c", source="random")
        append(connection, "s", "answer", 1, 1, choice="a", seconds=1.25)
    return made


def test_every_commit_is_synced(store: Store) -> None:
    assert store.rows("PRAGMA journal_mode") == [("wal",)]
    assert store.rows("PRAGMA synchronous") == [(2,)]  # FULL


def test_the_same_event_twice(store: Store) -> None:
    with store.transaction() as connection:
        assert not append(connection, "s", "answer", 1, 1, choice="b")
    assert store.rows("SELECT choice FROM answers") == [("a",)]


def test_events_cannot_be_changed_or_removed(store: Store) -> None:
    for statement in ("UPDATE events SET choice = 'b'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError), store.transaction() as connection:
            connection.execute(statement)
    assert store.rows("SELECT choice FROM answers") == [("a",)]


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError), store.transaction() as connection:
        _undo_and_delete(connection)
    assert store.rows("SELECT count(*) FROM answers") == [(1,)]


def _undo_and_delete(connection: sqlite3.Connection) -> None:
    append(connection, "s", "undo", 1, 1)
    connection.execute("DELETE FROM events")


def test_withdrawal_removes_every_trace_but_its_log(store: Store) -> None:
    with store.transaction() as connection:
        append(connection, "s", "arrived", extra={"who": "Ada Lovelace of Marylebone"})
    assert store.withdraw("s") == 1
    assert store.rows("SELECT count(*) FROM events") == [(0,)]
    assert store.rows("SELECT participant FROM sessions") == [(None,)]
    assert store.rows("SELECT session, answers FROM withdrawals") == [("s", 1)]
    assert not store.enrol("s", "Ada", {})
    store.close()
    # Neither the file nor the write-ahead log beside it holds the name.
    for file in store.path.parent.iterdir():
        assert b"Marylebone" not in file.read_bytes()


def test_open_again(store: Store, tmp_path: Path) -> None:
    secret, token = store.secret, store.token
    store.close()
    again = Store(tmp_path / "s.db", "odd-one-out", ["c", "b", "a"])  # in another order
    assert (again.secret, again.token) == (secret, token)
    assert again.rows("SELECT choice, seconds FROM answers") == [("a", 1.25)]


def test_another_study_is_refused(store: Store, tmp_path: Path) -> None:
    store.close()
    with pytest.raises(ValueError, match="answers of kind 'odd-one-out', this study asks '2afc'"):
        Store(tmp_path / "s.db", "2afc", IDS)
    with pytest.raises(ValueError, match=r"belongs to another study.*3 items, this study 2.*'c'"):
        Store(tmp_path / "s.db", "odd-one-out", ["a", "b"])


def test_other_files_are_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_text("my notes")
    with pytest.raises(ValueError, match="is not a database"):
        Store(file, "2afc", IDS)
    assert file.read_text() == "my notes"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFO")
def test_a_fifo_is_refused(tmp_path: Path) -> None:
    """SQLite waited for it without end."""
    os.mkfifo(tmp_path / "s.db")
    with pytest.raises(ValueError, match="path must name a file, got the FIFO"):
        Store(tmp_path / "s.db", "odd-one-out", IDS)


def test_the_file_is_for_its_owner(store: Store) -> None:
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_writes_that_wait_share_a_transaction(store: Store) -> None:
    """One of them fails: it alone is undone. Each thread gets its own result."""
    inside, go_on = threading.Event(), threading.Event()
    began: list[str] = []
    store._connection.set_trace_callback(
        lambda statement: began.append(statement) if statement.startswith("BEGIN") else None
    )

    def first(connection: sqlite3.Connection) -> str:
        inside.set()
        assert go_on.wait(10)
        return "first"

    def later(number: int, connection: sqlite3.Connection) -> int:
        append(connection, "s", "undo" if number == 3 else "note", 1, number)
        if number == 3:
            raise ArithmeticError
        return number

    with ThreadPoolExecutor(10) as pool:
        one = pool.submit(store.write, first)
        assert inside.wait(10)
        others = [pool.submit(store.write, partial(later, number)) for number in range(8)]
        while len(store._queue) < 8:
            time.sleep(0.01)
        go_on.set()
        assert one.result() == "first"
        for number, other in enumerate(others):
            expected = ArithmeticError if number == 3 else None
            assert type(other.exception()) is (expected or type(None))
            assert expected or other.result() == number
    assert len(began) == 2
    kinds = store.rows("SELECT kind, count(*) FROM events WHERE attempt != 0 GROUP BY 1 ORDER BY 1")
    assert kinds == [("answer", 1), ("note", 6)]


def test_a_commit_that_fails_is_told_to_all(store: Store) -> None:
    store._connection.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.write(lambda connection: None)
