"""`Chooser`: which three items to show next.

Most questions are those that the metric is least sure of. Some are random, and the accuracy on the
dashboard is computed from these alone: the metric's hardest questions would make it look bad, and
questions chosen by it are no sample of all questions. A few random questions are asked again, which
shows how far people agree.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from .._support.typing import Ints

RANDOM_SHARE = 0.2  # of the questions that are not repeats
REPEAT_SHARE = 0.05
_TRIES = 50  # draws of a random question that the participant has not seen
_APART = 5  # questions between a question and its repetition for the same participant

Rows: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class Question:
    """Three items in the order in which they are shown; for 2AFC the first one is the anchor.

    Attributes
    ----------
    rows : rows of the items
    source : "active", "random", "repeat", "catch" or "practice"
    expected : row of the right answer of a catch question
    """

    rows: Rows
    source: str
    expected: int | None = None


@dataclass(frozen=True)
class Seen:
    """What a participant was asked so far, and what others answered.

    Attributes
    ----------
    own : the questions of this participant, oldest first
    others : random questions that other participants answered
    """

    own: Sequence[Question] = ()
    others: Sequence[Rows] = ()


def key_of(kind: str, rows: Rows) -> Hashable:
    """What makes two questions the same: the items, and for 2AFC which of them is the anchor."""
    return frozenset(rows) if kind == "odd-one-out" else (rows[0], frozenset(rows[1:]))


class Chooser:
    """Chooses questions; safe to be called from several threads.

    Parameters
    ----------
    n_items : number of items
    kind : "odd-one-out" or "2afc"
    target : number of questions for each participant
    catch : questions with known answers; each is asked once of every participant
    active : whether to ask what the metric is least sure of; else all questions are random
    seed : of all random choices; None: another one each time
    """

    def __init__(
        self,
        n_items: int,
        kind: str,
        target: int,
        *,
        catch: Sequence[Question] = (),
        active: bool = True,
        seed: int | None = None,
    ) -> None:
        self.n_items, self.kind, self.target = n_items, kind, target
        self.catch, self.active = list(catch), active
        self._rng = np.random.default_rng(seed)
        self._lock = threading.Lock()
        self._pool: deque[Rows] = deque()

    def offer(self, questions: Ints) -> None:
        """Replace the questions that the metric is least sure of, the least sure one first."""
        with self._lock:
            self._pool = deque((i, j, k) for i, j, k in questions.tolist())

    @property
    def n_offered(self) -> int:
        """How many questions are left of those that were offered."""
        return len(self._pool)

    def practice(self, seen: Seen) -> Question:
        """A random question whose answer does not count."""
        with self._lock:
            return self._shuffled(self._random(self._known(seen)), "practice")

    def choose(self, seen: Seen) -> Question:
        """The next question of a participant."""
        with self._lock:
            due = self._due(seen)
            if due is not None:
                return due
            known = self._known(seen)
            if self._rng.random() < REPEAT_SHARE:
                again = self._repeatable(seen, known)
                if again:
                    return self._shuffled(again[int(self._rng.integers(len(again)))], "repeat")
            if self.active and self._rng.random() >= RANDOM_SHARE:
                for _ in range(len(self._pool)):
                    rows = self._pool.popleft()
                    if self._key(rows) not in known:
                        return self._shuffled(rows, "active")
                    self._pool.append(rows)  # another participant has not seen it
            # Without questions to offer, as while the first fit runs, a random one is asked. It
            # is as random as the others and counts as one.
            return self._shuffled(self._random(known), "random")

    def _due(self, seen: Seen) -> Question | None:
        """The next catch question, if it is time: they are spread evenly over the target."""
        asked = [q for q in seen.own if q.source == "catch"]
        n = len([q for q in seen.own if q.source != "practice"])
        if len(asked) == len(self.catch) or n * (len(self.catch) + 1) < self.target * (
            len(asked) + 1
        ):
            return None
        done = {self._key(q.rows) for q in asked}
        left = [q for q in self.catch if self._key(q.rows) not in done] or self.catch
        chosen = left[self._rng.integers(len(left))]
        return replace(self._shuffled(chosen.rows, "catch"), expected=chosen.expected)

    def _repeatable(self, seen: Seen, known: Collection[Hashable]) -> Sequence[Rows]:
        """Random questions of others; without others, own ones from some time ago."""
        others = [rows for rows in seen.others if self._key(rows) not in known]
        if others:
            return others
        old = [q for q in seen.own if q.source != "practice"][:-_APART]
        done = {self._key(q.rows) for q in seen.own if q.source == "repeat"}
        return [q.rows for q in old if q.source == "random" and self._key(q.rows) not in done]

    def _random(self, known: Collection[Hashable]) -> Rows:
        for _ in range(_TRIES):
            i, j, k = self._rng.choice(self.n_items, 3, replace=False).tolist()
            if self._key((i, j, k)) not in known:
                break
        return i, j, k

    def _shuffled(self, rows: Rows, source: str) -> Question:
        if self.kind == "odd-one-out":
            a, b, c = self._rng.permutation(rows).tolist()
        else:
            a, (b, c) = rows[0], self._rng.permutation(rows[1:]).tolist()
        return Question((a, b, c), source)

    def _key(self, rows: Rows) -> Hashable:
        return key_of(self.kind, rows)

    def _known(self, seen: Seen) -> set[Hashable]:
        return {self._key(q.rows) for q in seen.own}
