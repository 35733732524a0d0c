"""`Trainer`: one round of learning: fit the metric, find questions to ask, judge the metric.

It runs in a process of its own (`work`), since its loops would otherwise hold Python's lock while
people wait for their next question.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from .._support.typing import Ints
from ..learning.estimators.triplet_sdp_metric import TripletSDPMetric
from ..responses.study_files import reading
from ..responses.suggest import suggest_triplets
from .accuracy import Accuracy, CrossFitted
from .collected import Collected
from .fitting import fit, new_metric
from .stimuli import Stimuli

_OFFERED = 60  # questions to choose at once


@dataclass(frozen=True, eq=False)
class Learned:
    """The metric so far.

    Attributes
    ----------
    version : counts what was learned
    metric : the fitted metric, on standardised features; None before the first answer
    n_answers : number of answers that it learned from
    seconds : time that the fit took
    offered : (n, 3) questions that it is least sure of; None if all were asked
    accuracy : on random questions; None while there are too few, or if it is not judged yet
    judged : whether this is the last word about this fit
    """

    version: int = 0
    metric: TripletSDPMetric | None = None
    n_answers: int = 0
    seconds: float = 0.0
    offered: Ints | None = None
    accuracy: Accuracy | None = None
    judged: bool = False


class Trainer:
    """Learns from the answers in a study file; goes on from its last fit.

    Parameters
    ----------
    path : study file
    stimuli, kind : of the study
    """

    def __init__(self, path: Path, stimuli: Stimuli, kind: str) -> None:
        self.path, self.stimuli, self.kind = path, stimuli, kind
        self._metric = new_metric()
        self._judge = CrossFitted(stimuli.standard)

    def learn(self) -> Iterator[Learned]:
        """Fit once. What is learned comes twice: at once, and when the metric was judged."""
        with reading(self.path) as connection:
            collected = Collected.of(connection, self.stimuli, self.kind)
        began = time.perf_counter()
        metric = None
        if collected.responses is not None:
            metric = fit(self._metric, self.stimuli.standard, collected.responses)
        learned = Learned(
            metric=_frozen(metric),
            n_answers=collected.n_answers,
            seconds=time.perf_counter() - began,
            offered=self._offered(metric, collected),
        )
        yield learned
        yield replace(learned, accuracy=self._judge.accuracy(collected), judged=True)

    def _offered(self, metric: TripletSDPMetric | None, collected: Collected) -> Ints | None:
        try:
            return suggest_triplets(
                self.stimuli.standard,
                metric,
                min(_OFFERED, self.stimuli.n_questions),
                ask=self.kind,
                asked=collected.asked,
                random_state=len(collected.asked),
            )
        except ValueError:
            return None  # nearly every question was asked: the chooser asks random ones


def _frozen(metric: TripletSDPMetric | None) -> TripletSDPMetric | None:
    """A copy that the next fit does not change."""
    if metric is None:
        return None
    copy = new_metric()
    copy.__dict__.update(metric.__dict__)  # a fit replaces these arrays and changes none in place
    return copy


def work(connection: Connection, path: Path, stimuli: Stimuli, kind: str) -> None:
    """Learn whenever a message comes, until the other end is closed; the target of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which closes the pipe
    if hasattr(os, "nice"):
        os.nice(10)  # people who wait for a question come first
    trainer = Trainer(path, stimuli, kind)
    try:
        while connection.recv():
            for learned in trainer.learn():
                connection.send(learned)
    except (EOFError, OSError):
        return  # the server has ended, by whatever means
