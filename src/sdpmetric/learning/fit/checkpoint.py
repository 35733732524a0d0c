"""`Checkpoint`: where a fit is, kept in a file, so that the next process can go on from there.

Little is needed to go on: the factor of the last step, the evaluations used, and how many rounds
are finished. Coordinates and comparisons are found again, from the same data by the same rules. The
certificate of a resumed fit is made at its end, like that of any fit.

A round before the last begins again if it was cut short. It stops at a loose gap: from another
start it would stop at another metric, and the next round would have other comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from ..._support.typing import Floats
from ...persistence.digest import digest
from ...persistence.state_file import BROKEN, StateFile, as_folder
from ...problem.result import Callback, Progress, Result
from .prepared import Solvable
from .run import Fit

__all__ = ["Checkpoint", "Fingerprinted", "FitState", "checkpointed", "problem_key"]

# Parameters that do not change the problem: limits may be raised before a fit goes on.
_LIMITS = ("tol", "max_iter", "time_limit", "n_jobs", "warm_start", "checkpoint", "progress")


class Fingerprinted(Protocol):
    """Rows, in memory or in chunks elsewhere."""

    @property
    def shape(self) -> tuple[int, int]: ...
    def fingerprint(self) -> bytes:
        """A digest of all rows."""


@dataclass(frozen=True, eq=False)
class FitState:
    """Where a fit is.

    Attributes
    ----------
    rounds : rounds that are finished
    n_iter : evaluations in all rounds
    under : (k, D) components of the metric that chooses the comparisons of this round; None:
        Euclidean distance
    factor : (D, d) factor of the last step; None: no step was made
    resume : the numbers of that step that `Limits.resume` takes; None: this round has not begun
    """

    rounds: int = 0
    n_iter: int = 0
    under: Floats | None = None
    factor: Floats | None = None
    resume: dict[str, float] | None = None

    @classmethod
    def of(cls, held: dict[str, Any], n_features: int) -> Self:
        """Check the state that a file holds."""
        state = cls(**held)
        for count in (state.rounds, state.n_iter):
            if type(count) is not int or count < 0:
                raise ValueError(f"{count!r} is no number of rounds or evaluations")
        for name, axis in (("under", 1), ("factor", 0)):
            array = getattr(state, name)
            if array is None:
                continue
            if array.ndim != 2 or array.dtype != np.float64 or array.shape[axis] != n_features:
                raise ValueError(f"its {name} does not match the features")
            if not (np.isfinite(array).all() and array.any()):
                raise ValueError(f"its {name} is not finite, or zero")
        for value in (state.resume or {}).values():
            if type(value) is not float or not 0.0 < value < np.inf:
                raise ValueError(f"{value!r} is no positive number")
        return state


class Checkpoint:
    """The state of a running fit; without a file it is in memory alone."""

    def __init__(self, file: StateFile | None, state: FitState) -> None:
        self.file, self.state = file, state
        self._resume = state.resume
        self._latest: Callable[[], FitState] | None = None  # not written yet
        self._last_round = True

    def next_round(self, last: Result) -> None:
        """Begin the round after the one that ended with this result."""
        self.state = FitState(self.state.rounds + 1, last.n_iter, last.components, last.factor)
        self._latest = None
        if self.file is not None:
            self.file.write(vars(self.state))

    def run(
        self,
        fit: Fit,
        prepared: Solvable,
        start: Floats | None,
        callback: Callback | None,
        *,
        last_round: bool = True,
    ) -> Result:
        """Run a fit from the state; from ``start`` if the state has no factor."""
        at, self._last_round = self.state, last_round
        start = start if at.factor is None else at.factor
        return fit.after(at.n_iter).run(prepared, start, self._watched(callback), at.resume)

    def run_once(
        self, fit: Fit, prepared: Solvable, start: Floats | None, callback: Callback | None
    ) -> Result:
        """`run` and `finish` a fit that has one round; ``n_iter`` counts earlier runs, too."""
        before = self.state.n_iter
        result = self.run(fit, prepared, start, callback)
        result = replace(result, n_iter=before + result.n_iter)
        self.finish(result)
        return result

    def finish(self, result: Result) -> None:
        """Write the result. Once it has converged, another problem may take the file."""
        if self.file is None or not self._last_round:
            return
        self._latest = None
        state = replace(self.state, n_iter=result.n_iter, factor=result.factor, resume=self._resume)
        self.file.write(vars(state), done=result.converged)

    def flush(self) -> None:
        """Write the last step if it is not written yet."""
        if self.file is not None and self._latest is not None:
            state, self._latest = self._latest(), None
            self.file.write(vars(state))

    def _watched(self, callback: Callback | None) -> Callback | None:
        """The callback, which also writes the state from time to time."""
        file, at = self.file, self.state
        if file is None or not self._last_round:
            return callback

        def watch(now: Progress) -> object:
            stop = None if callback is None else callback(now)
            self._resume = dict(now.resume)
            self._latest = lambda: replace(
                at, n_iter=at.n_iter + now.n_iter, factor=now.factor(), resume=dict(now.resume)
            )
            if file.due:
                self.flush()
            return stop

        return watch


@contextmanager
def checkpointed(folder: Any, key: Callable[[], str], n_features: int) -> Iterator[Checkpoint]:
    """Yield the checkpoint of a fit in a folder, None for none; it is written however a fit ends.

    ``key`` computes the digest of the problem.
    """
    if folder is None:
        yield Checkpoint(None, FitState())
        return
    folder = as_folder(folder)  # before the key, which takes a pass over the rows
    file = StateFile(folder, "fit", key())
    held, state = file.read(), FitState()
    if held is None:
        file.begin(vars(state))
    else:
        try:
            state = FitState.of(held, n_features)
        except BROKEN as error:
            file.refuse(error)
    checkpoint = Checkpoint(file, state)
    try:
        yield checkpoint
    finally:
        checkpoint.flush()


def problem_key(estimator: Any, seed: int, X: Fingerprinted, **data: Any) -> str:
    """The digest of a problem: an estimator's class and parameters, the seed, rows and labels.

    A name in ``data`` takes the place of the parameter of that name.
    """
    data = {n: v.fingerprint() if hasattr(v, "fingerprint") else v for n, v in data.items()}
    # The seed takes the place of random_state, which may be an object that moves on.
    params = estimator.get_params(deep=False)
    named = {n: v for n, v in params.items() if n not in (*_LIMITS, "random_state")}
    kind = type(estimator).__name__
    return digest({"class": kind, "seed": seed, "X": X.fingerprint(), **named, **data})
