"""`Collected`: the answers of a running study as `Responses`."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._support.typing import Ints
from ..responses.responses import Responses
from ..responses.study_files import COUNTED
from .stimuli import Stimuli

_ANSWERS = f"""SELECT a, b, c, choice, source, session FROM answers WHERE choice IS NOT NULL
AND source IN ({", ".join(map(repr, COUNTED))}) ORDER BY id"""


@dataclass(frozen=True, eq=False)
class Collected:
    """Answers that count, and which of them are to random questions.

    Attributes
    ----------
    responses : the triplets; None if there is no answer yet
    random : (m,) whether each triplet comes from a random question, or from one that was repeated
    asked : (q, 3) rows of every question that was asked
    n_answers : number of answers
    """

    responses: Responses | None
    random: npt.NDArray[np.bool_]
    asked: Ints
    n_answers: int

    @classmethod
    def of(cls, connection: sqlite3.Connection, stimuli: Stimuli, kind: str) -> Collected:
        """Read the answers that a study file holds by now."""
        row = stimuli.rows
        asked = connection.execute("SELECT DISTINCT a, b, c FROM events WHERE kind = 'asked'")
        asked_rows = np.array([[row[i] for i in three] for three in asked], dtype=np.int64)
        found = connection.execute(_ANSWERS).fetchall()
        if not found:
            return cls(None, np.zeros(0, dtype=bool), asked_rows.reshape(-1, 3), 0)
        items = np.array([[row[i] for i in cells[:3]] for cells in found])
        chosen = np.array([row[cells[3]] for cells in found])
        random = np.array([cells[4] != "active" for cells in found])
        who = np.array([cells[5] for cells in found])
        read = Responses.from_odd_one_out if kind == "odd-one-out" else Responses.from_2afc
        responses = read(items, chosen, participants=who)
        return cls(responses, random[responses.answers], asked_rows, len(found))
