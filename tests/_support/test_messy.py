"""Errors about cells that are no numbers: the column's name, and the page that helps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdpmetric import SDPMetric, SDPMetricCV, TripletSDPMetric, solve
from sdpmetric._support.messy import HELP

ROOT = Path(__file__).parents[2]
Y = np.arange(12) % 2
T = [[0, 2, 1]]


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"age": rng.normal(size=12), "income": rng.normal(size=12)}
    return pd.DataFrame(columns)


FITS = {
    "labels": lambda X: SDPMetric().fit(X, Y),
    "search": lambda X: SDPMetricCV().fit(X, Y),
    "triplets": lambda X: TripletSDPMetric().fit(X, T),
    "solve": lambda X: solve(X, T),
    "transform": lambda X: SDPMetric(tol=0.1).fit(table(), Y).transform(X),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_nan_is_reported_by_the_name_of_its_column(fit: Any) -> None:
    X = table()
    X.loc[7, "income"] = np.nan
    with pytest.raises(ValueError, match=r"NaN, first at row 7, column 'income'") as error:
        fit(X)
    assert str(error.value).endswith(HELP)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize(
    ("column", "shown"),
    [
        (["7", *["Bern"] * 11], "'Bern' at row 1"),
        (pd.Categorical(["Genf"] * 12), "'Genf' at row 0"),
        (pd.to_datetime(["2020-02-03"] * 12), "'2020-02-03 00:00:00' at row 0"),
    ],
    ids=["texts", "categories", "dates"],
)
def test_words_are_reported_with_their_place(fit: Any, column: Any, shown: str) -> None:
    X = table()
    X["income"] = column
    with pytest.raises(ValueError, match=f"got {shown}, column 'income'") as error:
        fit(X)
    assert str(error.value).endswith(HELP)


def test_columns_without_names_are_counted() -> None:
    X = pd.DataFrame(table().to_numpy())
    X.loc[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 3, column 1;"):
        SDPMetric().fit(X, Y)


def test_other_columns_than_those_of_the_fit_are_reported_as_such() -> None:
    metric = SDPMetric(tol=0.1).fit(table(), Y)
    with pytest.raises(ValueError, match=r"feature names should match"):
        metric.transform(table().assign(city="Bern"))


def test_the_page_that_errors_name_is_there() -> None:
    page = HELP.rpartition("/latest/")[2].replace(".html", ".md")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert text.startswith("# " + HELP.partition(":")[0])
