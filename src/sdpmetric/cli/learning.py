"""What `sdpmetric fit` does: a learner with the settings asked for, fitted and watched."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..estimators import SDPMetric, TripletSDPMetric
from ..models import load
from ..selection import SDPMetricCV, TripletSDPMetricCV
from .meter import gap_bar, search_bar

__all__ = ["fitted_to", "learner_of", "searched", "settings_of", "warn_of_units"]

_UNITS = 30.0  # deviations that differ by more are hardly of one kind


def settings_of(named: dict[str, Any], pairs: Sequence[str]) -> dict[str, Any]:
    """Parameters that were given: by options of their own, or as NAME=VALUE with JSON values."""
    settings = {name: value for name, value in named.items() if value is not None}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"--set takes NAME=VALUE, got {pair!r}.")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            settings[name] = value  # a word, such as hinge
    if settings.get("prior_weight"):
        settings.setdefault("prior", "identity")
    return settings


def learner_of(settings: dict[str, Any], *, labels: bool, search: bool, start: str | None) -> Any:
    """An estimator; with ``start``, the one of that file, to go on where it stopped."""
    kinds: dict[tuple[bool, bool], Any] = {
        (True, False): SDPMetric,
        (False, False): TripletSDPMetric,
        (True, True): SDPMetricCV,
        (False, True): TripletSDPMetricCV,
    }
    kind = kinds[labels, search]
    learner = kind() if start is None else load(start)
    if type(learner) is not kind:
        raise ValueError(
            f"{start} holds a {type(learner).__name__}, expected a {kind.__name__} to start from."
        )
    vars(learner).pop("feature_names_in_", None)
    unknown = [name for name in settings if name not in learner.get_params()]
    if unknown:
        raise ValueError(
            f"{kind.__name__} has no parameter {unknown[0]!r}; it has "
            f"{', '.join(learner.get_params())}."
        )
    return learner.set_params(**settings, **({} if start is None else {"warm_start": True}))


def warn_of_units(X: Any, names: list[str] | None) -> None:
    """A column of large numbers rules the metric, since its trace is one in the units given."""
    if names is None:
        return
    spread = X.std(axis=0)
    low, high = int(np.argmin(np.where(spread > 0.0, spread, np.inf))), int(np.argmax(spread))
    if spread[high] > _UNITS * spread[low] > 0.0:
        warnings.warn(
            f"{names[high]!r} varies {spread[high] / spread[low]:,.0f} times as much as "
            f"{names[low]!r}: standardise the columns, or let --search try it.",
            stacklevel=2,
        )


def fitted_to(learner: Any, X: Any, y: Any, **fit: Any) -> Any:
    """Fit with a bar; Ctrl-C ends the fit with what is certified by then."""
    with warnings.catch_warnings(), gap_bar(learner.tol) as watch:
        warnings.simplefilter("ignore", ConvergenceWarning)  # the command says it in its own way
        learner._watch = watch
        try:
            learner.fit(X, y, **fit)
        finally:
            del learner._watch
    return learner


def searched(learner: Any, X: Any, y: Any, **fit: Any) -> Any:
    """Search with a bar; Ctrl-C ends it with a choice among the settings tried by then.

    That is said at once, since the last fit follows; another Ctrl-C ends it as it ends any fit.
    """
    with warnings.catch_warnings(), search_bar() as report:
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("always", "Interrupted: chosen among", ConvergenceWarning)
        learner.progress = False if report is None else report
        try:
            learner.fit(X, y, **fit)
        finally:
            learner.progress = False
    return learner
