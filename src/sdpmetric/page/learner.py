"""`Learner`: has the metric fitted again while people answer; asking never waits for it."""

from __future__ import annotations

import logging
import multiprocessing
import threading
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from .accuracy import Accuracy
from .questions import Chooser
from .stimuli import Stimuli
from .store import Store
from .trainer import Learned, Trainer, work

_EVERY = 5  # answers after which the metric is fitted again at once
_PAUSE = 1.0  # seconds after which fewer answers are enough
_LOW = 15  # questions left below which new ones are chosen
_PATIENCE = 5.0  # seconds that a process gets to end

log = logging.getLogger("sdpmetric.page")


class Learner:
    """Starts a process that learns, tells it when, and publishes what it has learned.

    Parameters
    ----------
    store, stimuli, kind, chooser : of the study

    Attributes
    ----------
    learned : what is known by now
    """

    def __init__(self, store: Store, stimuli: Stimuli, kind: str, chooser: Chooser) -> None:
        self.store, self.stimuli, self.kind, self.chooser = store, stimuli, kind, chooser
        self.learned = Learned()
        self._trainer: Trainer | None = None
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._waiting = 0
        self._condition = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="sdpmetric-learner", daemon=True)

    def start(self) -> None:
        """Learn from the answers that the store holds, then go on in the background."""
        with self._condition:
            self._waiting = _EVERY
        self._thread.start()

    def stop(self) -> None:
        """End the background work."""
        with self._condition:
            self._stopped = True
            self._condition.notify()
        if self._thread.is_alive():
            self._end_process()  # a fit that is running is of no use any more
            self._thread.join()

    def heard(self, n_answers: int) -> None:
        """Tell that answers were stored, or taken back."""
        with self._condition:
            self._waiting += n_answers
            self._condition.notify()

    def learn(self) -> None:
        """Learn once, in this process and before this returns."""
        if self._trainer is None:
            self._trainer = Trainer(self.store.path, self.stimuli, self.kind)
        for learned in self._trainer.learn():
            self._publish(learned)

    def _publish(self, learned: Learned) -> None:
        before = self.learned
        metric, n = learned.metric, learned.n_answers
        if not learned.judged:
            if learned.offered is not None:
                self.chooser.offer(learned.offered)
            learned = replace(learned, accuracy=before.accuracy)  # until the new one is known
        elif metric is not None:
            self.store.log_fit(n, metric.gap_, metric.converged_, _plain(learned.accuracy))
        self.learned = replace(learned, version=before.version + 1)

    def _run(self) -> None:
        while self._wait():
            try:
                for learned in self._asked():
                    self._publish(learned)
            except Exception:  # people go on answering, whatever happens to a fit
                if not self._stopped:
                    log.exception("The metric could not be fitted; answers are stored.")
                self._end_process()

    def _asked(self) -> Iterator[Learned]:
        """Have the process learn once."""
        if self._pipe is None:
            # "spawn": a copy of this process would have its locks, but not the threads that hold
            # them.
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(
                target=work, args=(other, self.store.path, self.stimuli, self.kind), daemon=True
            )
            self._process.start()
            other.close()  # so that the end of the process is the end of the pipe
        self._pipe.send(True)
        judged = False
        while not judged:
            learned: Learned = self._pipe.recv()
            judged = learned.judged
            yield learned

    def _end_process(self) -> None:
        process, pipe, self._process, self._pipe = self._process, self._pipe, None, None
        if process is not None:
            process.terminate()
            process.join(_PATIENCE)
        if pipe is not None:
            pipe.close()

    def _wait(self) -> bool:
        """Wait until there is something to learn from; False to end."""
        with self._condition:
            self._condition.wait_for(lambda: self._stopped or self._waiting > 0)
            if self._waiting < _EVERY and self.chooser.n_offered >= _LOW:
                self._condition.wait_for(
                    lambda: self._stopped or self._waiting >= _EVERY, timeout=_PAUSE
                )
            self._waiting = 0
            return not self._stopped


def _plain(accuracy: Accuracy | None) -> dict[str, float] | None:
    """The accuracy as the log keeps it."""
    if accuracy is None:
        return None
    found, euclidean = accuracy.learned, accuracy.euclidean.accuracy
    interval = {"accuracy": found.accuracy, "low": found.low, "high": found.high}
    return interval | {"euclidean": euclidean}
