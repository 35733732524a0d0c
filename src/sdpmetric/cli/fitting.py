"""The work of `sdpmetric fit`: read the data, make an estimator, fit it with a progress bar."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..learning.estimators.sdp_metric import SDPMetric
from ..learning.estimators.triplet_sdp_metric import TripletSDPMetric
from ..learning.selection import SDPMetricCV, TripletSDPMetricCV
from .commands.fit import FitOptions
from .progress_bars import showing_progress
from .tables.answers import read_all_answers
from .tables.model_rows import Model, classes_of, open_model
from .tables.reading import read
from .tables.table import Table


def fit_model(options: FitOptions) -> Model:
    """Read the files that the options name and fit an estimator to them."""
    # Parameters first: a wrong one is found before a large file is read.
    parameters = with_settings(options.parameters(), options.pairs)
    learner = _learner(options, parameters)
    table = read(options.data)
    if options.label is not None:
        y: Any = np.array(classes_of(table, options.label))
        # For tables without names the labels are another file, and not a column to leave out.
        own = options.label if options.label in table.columns else None
        X, names = table.features(without=(own, options.id_, *options.drop))
        extra: dict[str, Any] = {}
    else:
        X, names = table.features(without=(options.id_, *options.drop))
        y, extra = _comparisons(options, table, learner, folds=parameters.get("folds"))
    with warnings.catch_warnings():
        # The command says in its own words that a fit did not converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # But that a search ended early is said at once, since the fit to all data follows.
        warnings.filterwarnings("always", ".*: chosen among", ConvergenceWarning)
        with showing_progress(learner):
            fit_or_keep(learner, X, y, **extra)
    return Model(learner, names)


def fit_or_keep(learner: Any, *data: Any, **extra: Any) -> None:
    """Fit; after Ctrl-C, go on with the last certified metric if there is one.

    The estimator takes that metric as its fitted attributes and raises KeyboardInterrupt again.
    """
    before = getattr(learner, "components_", None)  # not None with --start
    try:
        learner.fit(*data, **extra)
    except KeyboardInterrupt:
        if getattr(learner, "components_", None) is before:
            raise  # nothing new is certified, so there is nothing to save


def _comparisons(
    options: FitOptions, table: Table, learner: Any, *, folds: str | None
) -> tuple[Any, dict[str, Any]]:
    """Triplets, and the further arguments of ``fit`` for them.

    A search holds out whole participants where the files name several, unless ``folds`` says
    otherwise: answers of one person resemble each other, and the metric is for other people.
    """
    ids = table.ids(options.id_) if options.id_ else None
    answers = read_all_answers(options.triplets, ids, len(table))
    extra: dict[str, Any] = {"sample_weight": answers.weights}
    people = set() if answers.participants is None else set(answers.participants.tolist())
    if options.search and folds is None and len(people) > 1:
        learner.set_params(folds="group")
        folds = "group"
    if folds == "group":
        if answers.participants is None:
            files = ", ".join(options.triplets)
            raise ValueError(f"{files}: folds=group needs a column 'participant'.")
        extra["groups"] = answers.participants
    return answers.triplets, extra


def with_settings(options: dict[str, Any], pairs: Sequence[str]) -> dict[str, Any]:
    """Parameters of an estimator: those with an option of their own, and those of ``--set``.

    Parameters
    ----------
    options : the parameters whose own option was given
    pairs : texts NAME=VALUE, each value as JSON or as a word
    """
    found = dict(options)
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"--set takes NAME=VALUE, got {pair!r}.")
        if name in found:
            how = "by its own option and by --set" if name in options else "by --set"
            raise ValueError(f"{name} is given twice, {how}, expected once.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value  # a word without quotes, such as hinge
        except RecursionError:
            raise ValueError(f"--set {name}: the value is nested too deeply.") from None
    return found


def with_parameters(learner: Any, parameters: dict[str, Any]) -> Any:
    """Set the parameters of an estimator; raise if it has none of such a name."""
    unknown = [name for name in parameters if name not in learner.get_params()]
    if unknown:
        raise ValueError(
            f"{type(learner).__name__} has no parameter {unknown[0]!r}; it has "
            f"{', '.join(learner.get_params())}."
        )
    return learner.set_params(**parameters)


def _learner(options: FitOptions, parameters: dict[str, Any]) -> Any:
    """An estimator with these parameters; with ``--start``, the one in that model file."""
    kinds: dict[tuple[bool, bool], Any] = {
        (True, False): SDPMetric,
        (False, False): TripletSDPMetric,
        (True, True): SDPMetricCV,
        (False, True): TripletSDPMetricCV,
    }
    kind = kinds[options.label is not None, options.search]
    learner = kind() if options.start is None else open_model(options.start).metric
    if type(learner) is not kind:
        raise ValueError(
            f"{options.start} holds a {type(learner).__name__}, expected a {kind.__name__} to "
            "start from."
        )
    if options.start is not None:
        learner.set_params(warm_start=True)
    return with_parameters(learner, parameters)
