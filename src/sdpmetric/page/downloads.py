"""Files that the dashboard offers: answers, the whole log, the model."""

from __future__ import annotations

import copy
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._support.csv_text import csv_text
from .._support.optional import require
from ..learning.estimators.triplet_sdp_metric import TripletSDPMetric
from ..responses.study_files import answers_in
from .study import Study

_EVENTS = """SELECT id, participant, session, trial, attempt, kind, time, a, b, c, source, choice,
seconds, hidden, extra FROM events JOIN sessions USING (session) ORDER BY id"""
_NAMES = [name.strip() for name in _EVENTS[6 : _EVENTS.index("FROM")].split(",")]


@dataclass(frozen=True)
class Download:
    """A file: what it is, its media type, and the function that makes its content."""

    words: str
    media_type: str
    make: Callable[[Study], bytes]


def answers(study: Study) -> dict[str, list[str]]:
    """The answers that count, as the columns that `Responses` reads."""
    with study.store.transaction() as connection:
        return answers_in(connection)


def _csv(study: Study) -> bytes:
    return csv_text(answers(study)).encode()


def _jsonl(study: Study) -> bytes:
    columns = answers(study)
    rows = zip(*columns.values(), strict=True)
    return _lines(dict(zip(columns, row, strict=True)) for row in rows)


def _parquet(study: Study) -> bytes:
    pyarrow = require("pyarrow", "A parquet file")
    parquet = require("pyarrow.parquet", "A parquet file")
    columns = {n: pyarrow.array(c, pyarrow.string()) for n, c in answers(study).items()}
    target = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), target)
    return target.getvalue()


def _log(study: Study) -> bytes:
    """Every event, and every withdrawal: who withdrew is not known any more."""
    rows = (dict(zip(_NAMES, row, strict=True)) for row in study.store.rows(_EVENTS))
    events = [
        {n: json.loads(v) if n == "extra" else v for n, v in row.items() if v is not None}
        for row in rows
    ]
    gone = study.store.rows("SELECT session, time, answers FROM withdrawals")
    withdrawals = [
        {"kind": "withdrawal", "session": s, "time": t, "answers": n} for s, t, n in gone
    ]
    return _lines([*events, *withdrawals])


def _lines(rows: Any) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _model(study: Study) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.safetensors")
        model(study).save(file)
        return file.read_bytes()


def model(study: Study) -> TripletSDPMetric:
    """The metric so far, for rows as they stand in the table.

    Objective, rho and gap are those of the fit, which sees standardised features.
    """
    metric = study.learner.learned.metric
    if metric is None:
        raise ValueError("There is no answer yet, so that there is no model.")
    raw: TripletSDPMetric = copy.copy(metric)
    stimuli = study.stimuli
    raw.components_ = stimuli.coordinates.back(metric.components_)
    raw._factor = stimuli.coordinates.back(metric._factor.T).T
    raw.eigenvalues_ = np.sort(np.linalg.svd(raw.components_, compute_uv=False) ** 2)[::-1]
    raw.feature_names_in_ = np.array(stimuli.names, dtype=object)
    raw.set_params(warm_start=False)
    return raw


DOWNLOADS = {
    "answers.csv": Download("Answers, CSV", "text/csv", _csv),
    "answers.jsonl": Download("Answers, JSON lines", "application/x-ndjson", _jsonl),
    "answers.parquet": Download("Answers, Parquet", "application/vnd.apache.parquet", _parquet),
    "log.jsonl": Download("Whole log, JSON lines", "application/x-ndjson", _log),
    "model.safetensors": Download("Model", "application/octet-stream", _model),
}
