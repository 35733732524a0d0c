"""Methods of a fitted metric on Dask arrays: lazy or refused, but never computed here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context

from sdpmetric import SDPMetric

da: Any = pytest.importorskip("dask.array")

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.arange(60) % 3


@pytest.fixture(scope="module")
def metric() -> SDPMetric:
    return SDPMetric(n_rounds=1, coordinates="raw", tol=1e-2).fit(X, Y)


def fails(block: Any) -> Any:
    raise AssertionError("a block was computed")


def forbidden(array: Any) -> Any:
    """A Dask array that cannot be computed."""
    lazy = da.from_array(array, chunks=(20, *array.shape[1:]))
    return lazy.map_blocks(fails, dtype=float, meta=np.empty((0,) * array.ndim))


@pytest.mark.parametrize("container", ["default", "pandas", "polars"])
def test_transform_stays_lazy_whatever_the_output(metric: SDPMetric, container: str) -> None:
    with config_context(transform_output=container):
        lazy: Any = metric.transform(forbidden(X))
    assert isinstance(lazy, da.Array)
    assert lazy.shape == (60, len(metric.components_))


def test_pandas_is_for_rows_in_memory() -> None:
    pandas = pytest.importorskip("pandas")
    metric = SDPMetric(n_rounds=1, coordinates="raw", tol=1e-2).set_output(transform="pandas")
    rows = da.from_array(X, chunks=(20, 4))
    lazy: Any = metric.fit_transform(rows, Y)
    assert isinstance(lazy, da.Array)
    table = metric.transform(X)
    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == list(metric.get_feature_names_out())
    np.testing.assert_allclose(lazy.compute(), table, atol=1e-12)
    assert isinstance(metric.fit_transform(X, Y), pandas.DataFrame)


def test_pairs_are_refused(metric: SDPMetric) -> None:
    with pytest.raises(ValueError, match="pairs is a Dask array, expected an array in one memory"):
        metric.pair_distance(forbidden(X.reshape(30, 2, 4)))
    with pytest.raises(ValueError, match="X is a Dask array, and SDPMetric needs its rows"):
        metric.pairwise_distances(X, forbidden(X))
