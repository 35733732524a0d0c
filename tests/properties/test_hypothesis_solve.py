"""`solve` on problems that Hypothesis draws: a true certificate, or an error that names why not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import Result, solve
from tests.support.certified import check_certificate, check_metric
from tests.support.longdouble import LongProblem
from tests.support.strategies import Drawn, examples, problems

COINCIDE, TINY = "X: the two items of every far pair coincide", "X: the mean squared distance"


def solved(drawn: Drawn) -> Result | None:
    """The result, or None after a true error; a fit warns exactly if it did not converge."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            result = solve(
                drawn.table.given,
                drawn.triplets,
                sample_weight=drawn.weights,
                **drawn.settings,
            )
        except ValueError as error:
            check_error(str(error), problem(drawn))
            return None
    assert len(caught) == (0 if result.converged else 1)
    assert result.converged == (result.gap <= drawn.settings["tol"])
    return result


def check_error(message: str, p: LongProblem) -> None:
    """An error is a documented one, and true."""
    if message.startswith(COINCIDE):
        assert not np.any(p.far)
        return
    assert message.startswith(TINY), message
    largest = np.sum(np.vstack([p.near, p.far]) ** 2, axis=1).max()
    assert p.rows.shape[1] / p.scale < 1e-49 * largest


def problem(drawn: Drawn) -> LongProblem:
    s, D = drawn.settings, drawn.table.rows.shape[1]
    M0 = np.eye(D) / D
    if not isinstance(s["prior"], (str, type(None))):
        M0 = s["prior"] / np.trace(s["prior"])
    return LongProblem(
        drawn.table.rows,
        drawn.triplets,
        drawn.weights,
        s["loss"],
        s["C"],
        s["h"],
        M0,
        s["prior_weight"],
    )


@pytest.mark.slow
@examples(200)
@given(problems())
def test_every_result_is_certified(drawn: Drawn) -> None:
    result = solved(drawn)
    if result is not None:
        check_metric(result.components)
        check_certificate(problem(drawn), result)
