"""Estimators on rows that Hypothesis draws: certified metrics, and what they answer."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import SDPMetric, SDPMetricCV, TripletSDPMetricCV, knn_triplets, load
from tests.support.certified import check_certificate, check_metric
from tests.support.longdouble import LongProblem, long_rows, squared_lengths
from tests.support.problems import Floats, Ints
from tests.support.strategies import (
    Drawn,
    Table,
    examples,
    labels,
    problems,
    tables,
    unless_refused,
)

# Small classes are warned of; a fit that did not converge warns too.
ALLOWED = re.compile(r".*class\(es\)|.*row\(s\) have fewer|The relative gap is|.*least populated")
DOCUMENTED = (
    r"(X: the two items of every far pair coincide|X: the mean squared distance|X: all \d+ rows"
    r"|class_weight is zero everywhere|class_weight: split|cv: split|sample_weight: split"
    r"|C must be greater than|cv cannot split|anchors of triplets: found 1"
    r"|X: coordinates|coordinates='within' needs a dense X)"
)


def fitted(estimator: Any, *data: Any) -> Any:
    """The fitted estimator, or None after a documented error; other warnings are errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = unless_refused(DOCUMENTED, lambda: estimator.fit(*data))
    for warning in caught:
        assert issubclass(warning.category, (UserWarning, ConvergenceWarning)), warning
        assert ALLOWED.match(str(warning.message)), warning
    return found


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Table, Ints, dict[str, Any]]:
    """Rows, imbalanced classes and settings of `SDPMetric`."""
    table = draw(tables(least=6))
    y = draw(labels(len(table.rows)))
    loss = draw(st.sampled_from(["huber", "squared_hinge"]))
    parameters = {
        "loss": loss,
        "C": draw(st.sampled_from([2.0, 10.0])),
        "h": draw(st.sampled_from([0.02, 0.5])),
        "n_neighbors": draw(st.integers(1, 3)),
        "n_impostors": draw(st.integers(1, 3)),
        "triplets": draw(st.sampled_from(["knn", "knn", "all"])),
        "n_rounds": draw(st.sampled_from([1, 1, 2])),
        "class_weight": draw(st.sampled_from([None, "balanced", "zero"])),
        "max_iter": 100,
    }
    if parameters["class_weight"] == "zero":
        parameters["class_weight"] = {c: float(c != 0) for c in range(int(y.max()) + 1)}
    return table, y, parameters


@pytest.mark.slow
@examples(50)
@given(labelled())
def test_a_metric_from_labels(drawn: tuple[Table, Ints, dict[str, Any]]) -> None:
    table, y, parameters = drawn
    # The objective is one of the fit's coordinates, and the reference below has the given ones.
    metric = fitted(SDPMetric(coordinates="raw", **parameters), table.given, y)
    if metric is None:
        return
    check_metric(metric.components_)
    check_answers(metric, table, y)
    if parameters["triplets"] == "knn" and parameters["n_rounds"] == 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            T = knn_triplets(table.given, y, parameters["n_neighbors"], parameters["n_impostors"])
        check_certificate(
            LongProblem(
                table.rows,
                T,
                anchors(parameters["class_weight"], y)[T[:, 0]],
                parameters["loss"],
                parameters["C"],
                parameters["h"],
            ),
            _as_result(metric),
        )


def anchors(class_weight: Any, y: Ints) -> Floats:
    """The weight of each row: n / (k n_c) for class c if balanced, as scikit-learn defines it."""
    if class_weight is None:
        return np.ones(len(y))
    if class_weight == "balanced":
        sizes = np.bincount(y)
        return np.asarray(len(y) / (np.count_nonzero(sizes) * sizes[y]))
    return np.array([class_weight[int(c)] for c in y])


def _as_result(metric: Any) -> Any:
    """The attributes of a fitted estimator under the names of a result."""
    names = ("components", "objective", "upper_bound", "gap", "rho", "scale")
    return type("Fitted", (), {name: getattr(metric, f"{name}_") for name in names})


def check_answers(metric: Any, table: Table, y: Ints) -> None:
    """Distances, order and files, against the definition in long doubles."""
    rows, exponent = long_rows(table.rows)
    unit = 2.0**exponent
    apart = rows[:, None] - rows[None]
    expected = np.sqrt(squared_lengths(apart, metric.components_)).astype(np.float64)
    # Rounding of the map: that of the rows, which may be far from each other and from zero.
    size = float(np.abs(np.ldexp(table.rows, -exponent)).max()) * table.rows.shape[1]
    found = metric.pairwise_distances(table.given) / unit
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14 * size)
    pairs = np.stack([table.rows[:-1], table.rows[1:]], axis=1)
    np.testing.assert_allclose(
        metric.pair_distance(pairs) / unit,
        expected[np.arange(len(rows) - 1), 1:].diagonal(),
        rtol=1e-9,
        atol=1e-14 * size,
    )
    mapped = metric.transform(table.given)
    assert np.isfinite(mapped).all()
    assert mapped.shape == (len(y), len(metric.components_))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.safetensors"
        metric.save(path)
        np.testing.assert_array_equal(load(path).transform(table.given), mapped)


GRIDS: dict[str, Any] = {"Cs": 2, "prior_weight": [0.0, 0.5], "cv": 2, "max_iter": 30}


@pytest.mark.slow
@examples(12)
@given(labelled(), st.sampled_from([None, "raw", "standard", "within"]))
def test_a_search_by_labels(
    drawn: tuple[Table, Ints, dict[str, Any]], coordinates: str | None
) -> None:
    table, y, parameters = drawn
    grids = GRIDS | {name: parameters[name] for name in ("loss", "class_weight", "triplets")}
    search = SDPMetricCV(coordinates=coordinates, n_neighbors=2, n_rounds=1, **grids)
    metric = fitted(search, table.given, y)
    if metric is not None:
        check_metric(metric.components_)
        assert np.isfinite(metric.cv_results_["mean_test_score"]).all()


@pytest.mark.slow
@examples(12)
@given(problems(), st.sampled_from([None, "raw", "standard", "within"]))
def test_a_search_by_comparisons(drawn: Drawn, coordinates: str | None) -> None:
    folds = {"folds": "comparison"} | GRIDS
    search = TripletSDPMetricCV(loss=drawn.settings["loss"], coordinates=coordinates, **folds)
    metric = fitted(search, drawn.table.given, drawn.triplets, drawn.weights)
    if metric is not None:
        check_metric(metric.components_)
        assert np.isfinite(metric.cv_results_["mean_test_score"]).all()
