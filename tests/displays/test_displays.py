"""Pictures show the numbers of the estimator that they are made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import (
    SDPMetric,
    SDPMetricClassifier,
    SDPMetricCV,
    TripletSDPMetric,
    TripletSDPMetricCV,
    solve,
)
from sdpmetric.displays import (
    ConvergenceDisplay,
    FeaturesDisplay,
    MapDisplay,
    MarginsDisplay,
    NeighborsDisplay,
    PathDisplay,
    SpectrumDisplay,
)
from tests.support.problems import PAPER

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def search() -> SDPMetricCV:
    """On raw wine, where standardised columns win: the best estimator is a pipeline."""
    grids: Any = {"n_neighbors": [3, 5], "n_impostors": 3, "n_rounds": 1}
    where: Any = {
        "prior_weight": [0.0, 0.2],
        "coordinates": ["raw", "standard"],
        "triplets": "knn",
        "cv": 3,
    }
    found = SDPMetricCV([2.0, 8.0], **grids, **where, doubt=0.0)
    found.fit(*load_wine(return_X_y=True, as_frame=True))
    assert found.best_estimator_.coordinates_.kind == "standard"
    assert found.best_params_["prior_weight"] < 1.0
    return found


def new_axes() -> Any:
    return matplotlib.figure.Figure().subplots()


def huber_objective(z: Any, rho: float, C: float, h: float) -> float:
    """F for equal weights, from the formula."""
    short = np.maximum(rho + h - z, 0.0)
    loss = np.where(short <= 2.0 * h, short**2 / (4.0 * h), short - h)
    return float(rho - C * loss.mean())


def squared(M: Any, a: Any, b: Any) -> Any:
    return np.einsum("ij,jk,ik->i", a - b, M, a - b)


def test_convergence(blobs: tuple[Any, Any]) -> None:
    metric = SDPMetric(loss="hinge", tol=1e-3).fit(*blobs)
    display = ConvergenceDisplay.from_estimator(metric).plot()
    (gap, tol), (objective, bound) = (axes.get_lines() for axes in display.figure_.axes)
    assert display.ax_.get_yscale() == "log"
    for line, column in ((gap, "gap"), (objective, "objective")):
        np.testing.assert_array_equal(line.get_xdata(), metric.history_["seconds"])
        np.testing.assert_array_equal(line.get_ydata(), metric.history_[column])
    assert len(metric.history_) > 2
    assert gap.get_ydata()[-1] == metric.gap_ <= tol.get_ydata()[0] == 1e-3
    assert objective.get_ydata()[-1] == metric.objective_
    assert bound.get_ydata()[0] == metric.upper_bound_
    axes = new_axes()
    assert ConvergenceDisplay.from_estimator(metric).plot(axes).ax_ is axes


def test_convergence_of_a_result(triplets: tuple[Any, Any]) -> None:
    result = solve(*triplets)
    display = ConvergenceDisplay.from_result(result).plot()
    np.testing.assert_array_equal(display.gap, result.history["gap"])
    assert len(display.ax_.get_lines()) == 1  # no line for tol, which it does not know
    assert SpectrumDisplay.from_result(result).n_features == 4


def test_spectrum(blobs: tuple[Any, Any]) -> None:
    metric = SDPMetric(prior_weight=0.3, **PAPER).fit(*blobs)
    expected = np.linalg.eigvalsh(metric.get_mahalanobis_matrix())[::-1]
    display = SpectrumDisplay.from_estimator(metric).plot()
    points, rank = display.ax_.get_lines()
    np.testing.assert_allclose(points.get_ydata(), expected, atol=1e-12)
    entropy = -sum(e * np.log(e) for e in expected)
    assert rank.get_xdata()[0] == pytest.approx(np.exp(entropy))
    total = display.figure_.axes[1].get_lines()[0].get_ydata()
    np.testing.assert_allclose(total, np.cumsum(expected))
    cut = SDPMetric(2, prior_weight=0.3, **PAPER).fit(*blobs)
    np.testing.assert_allclose(SpectrumDisplay.from_estimator(cut).eigenvalues, expected)


def test_spectrum_leaves_out_what_no_distance_shows() -> None:
    display = SpectrumDisplay(np.array([0.7, 0.3, 1e-9]), 5).plot()
    assert display.ax_.get_xlabel() == "direction (1 more below 1e-06 of the first)"
    assert 2.0 < display.ax_.get_xlim()[1] < 3.0
    assert display.ax_.get_ylim()[0] > 0.1


@pytest.mark.slow
def test_numbers_of_the_objective_stand_at_their_ticks() -> None:
    """No common offset, which would be written over the legend."""
    values = np.array([-0.0293 + 1e-8 * i for i in range(3)])
    gaps = np.geomspace(1, 1e-5, 3)
    display = ConvergenceDisplay(np.arange(1.0, 4.0), values, gaps, 0.0)
    axis = display.plot().figure_.axes[1].yaxis
    display.figure_.canvas.draw()
    assert axis.get_offset_text().get_text() == ""


def test_effective_rank_of_equal_eigenvalues() -> None:
    e = np.array([0.25, 0.25, 0.25, 0.25, 0.0])
    assert SpectrumDisplay(e, 9).effective_rank == pytest.approx(4.0)


def test_margins_of_labels_give_the_objective(wine: tuple[Any, Any]) -> None:
    X, y = wine
    metric = SDPMetric(**PAPER | {"n_neighbors": 2, "n_impostors": 4}).fit(X, y)
    display = MarginsDisplay.from_estimator(metric, X, y).plot()
    assert len(display.after) == metric.n_triplets_ == len(y) * 2 * 4
    expected = huber_objective(display.after, metric.rho_, metric.C, metric.h)
    assert metric.objective_ == pytest.approx(expected, rel=1e-9)
    *bars, outline = display.ax_.patches
    edges = np.array([bar.get_x() for bar in bars] + [bars[-1].get_x() + bars[-1].get_width()])
    assert np.mean((edges[0] < display.after) & (display.after < edges[-1])) > 0.98
    drawn = [bar.get_height() for bar in bars], outline.get_xy()[1:-1:2, 1]
    for heights, z in zip(drawn, (display.before, display.after), strict=True):
        counts = np.histogram(np.clip(z, edges[0], edges[-1]), edges)[0]
        np.testing.assert_allclose(heights, 100.0 * counts / len(z), atol=0.1)
        assert sum(heights) == pytest.approx(100.0)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"{np.mean(display.before <= 0.0):.1%}" in texts[0]
    assert f"{np.mean(display.after <= 0.0):.1%}" in texts[1]


def test_margins_of_comparisons(triplets: tuple[Any, Any]) -> None:
    X, T = triplets
    metric = TripletSDPMetric().fit(X, T[:100])
    display = MarginsDisplay.from_estimator(metric, X, T[100:])
    anchor, near, far = (X[column] for column in T[100:].T)
    eye, M = np.eye(4), metric.get_mahalanobis_matrix()
    expected = squared(eye, anchor, far) - squared(eye, anchor, near)
    expected *= metric.scale_ * squared(M, anchor, far).mean() / squared(eye, anchor, far).mean()
    np.testing.assert_allclose(display.before, expected)
    expected = metric.scale_ * (squared(M, anchor, far) - squared(M, anchor, near))
    np.testing.assert_allclose(display.after, expected)
    assert np.mean(display.after > 0.0) == metric.score(X, T[100:])


@pytest.mark.slow
def test_margins_of_a_search(search: SDPMetricCV) -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    learner = search.best_estimator_
    display = MarginsDisplay.from_estimator(search, X, y)
    expected = huber_objective(display.after, learner.rho_, learner.C, learner.h)
    assert learner.objective_ == pytest.approx(expected, rel=1e-9)
    assert display.rho == learner.rho_
    # By Euclidean distance in the units of the columns.
    assert np.mean(display.before <= 0.0) > 5 * np.mean(display.after <= 0.0)


def test_margins_that_have_no_far_pair() -> None:
    X = np.array([[0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [0.0, 0.0]])
    metric = TripletSDPMetric().fit(X, [[0, 1, 2]])
    with pytest.raises(ValueError, match=r"X: the two rows of every far pair coincide"):
        MarginsDisplay.from_estimator(metric, X, [[0, 1, 3]])


@pytest.mark.slow
def test_features() -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    metric = SDPMetric().fit(X, y)
    diagonal = np.diag(metric.get_mahalanobis_matrix())
    display = FeaturesDisplay.from_estimator(metric)
    np.testing.assert_allclose(display.weights, diagonal)
    np.testing.assert_allclose(display.euclidean, 1.0 / 13.0)
    display = FeaturesDisplay.from_estimator(metric, X).plot(top=4)
    expected = pd.Series(diagonal * X.var(ddof=0), X.columns)
    expected = (100.0 * expected / expected.sum()).sort_values(ascending=False)[:4]
    bars = [patch.get_width() for patch in display.ax_.patches]
    np.testing.assert_allclose(bars, expected)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == list(expected.index)
    marks = display.ax_.get_lines()[0].get_xdata()
    np.testing.assert_allclose(marks, 100.0 * (X.var() / X.var().sum())[expected.index])
    assert "9 more features" in display.ax_.get_xlabel()
    long = FeaturesDisplay.from_estimator(metric, X, feature_names=[f"{i:40}" for i in range(13)])
    for drawn in (display, long.plot(top=4), long.plot()):
        drawn.figure_.canvas.draw()
        texts = [drawn.ax_.xaxis.label, *drawn.ax_.get_yticklabels()]
        for text in texts:
            box, whole = text.get_window_extent(), drawn.figure_.bbox
            assert whole.x0 <= box.x0 < box.x1 <= whole.x1
            assert whole.y0 <= box.y0


def test_names_of_features(blobs: tuple[Any, Any], search: SDPMetricCV) -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    names = list(X.columns)
    pipeline = make_pipeline(StandardScaler(), SDPMetric()).fit(X, y)
    assert FeaturesDisplay.from_estimator(pipeline).names == names
    assert FeaturesDisplay.from_estimator(search).names == names
    metric = SDPMetric().fit(*blobs)
    assert FeaturesDisplay.from_estimator(metric).names == ["x0", "x1", "x2", "x3", "x4"]
    long = ["a" * 40, *"bcde"]
    ticks = FeaturesDisplay.from_estimator(metric, feature_names=long).plot().ax_.get_yticklabels()
    assert max(len(tick.get_text()) for tick in ticks) == 28
    with pytest.raises(ValueError, match=r"feature_names must have 5 names, got 2"):
        FeaturesDisplay.from_estimator(metric, feature_names=["a", "b"])
    with pytest.raises(ValueError, match=r"top must be an integer of at least 1, got 0"):
        FeaturesDisplay.from_estimator(metric).plot(top=0)
    with pytest.raises(ValueError, match=r"X: the metric sees no difference"):
        FeaturesDisplay.from_estimator(metric, np.ones((3, 5)))


def principal(X: Any) -> Any:
    """The two leading principal components, by SVD; signs are free."""
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U[:, :2] * s[:2], s[:2] ** 2 / np.sum(s**2)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_map(kind: str, wine: tuple[Any, Any]) -> None:
    X, y = wine
    metric = SDPMetric().fit(X, y)
    given = sp.csr_array(X) if kind == "sparse" else X
    display = MapDisplay.from_estimator(metric, given, y).plot()
    for ax, rows in zip(display.ax_, (X, X @ metric.components_.T), strict=True):
        expected, shares = principal(rows)
        drawn = np.asarray(ax.collections[0].get_offsets())
        np.testing.assert_allclose(np.abs(drawn), np.abs(expected), atol=1e-6)
        assert f"{shares[0]:.0%}" in ax.get_xlabel()
        assert f"{shares[1]:.0%}" in ax.get_ylabel()
        colours = ax.collections[0].get_facecolors()
        assert len(np.unique(colours[y == 0], axis=0)) == 1
        assert len(np.unique(colours, axis=0)) == 3
        assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]


def test_map_on_given_axes(blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    display = MapDisplay.from_estimator(SDPMetric().fit(X, y), X)
    axes = matplotlib.figure.Figure().subplots(1, 2)
    assert display.plot(axes).ax_ == list(axes)
    single = new_axes()
    assert display.plot(single).ax_ == single.child_axes
    assert display.figure_ is single.figure
    with pytest.raises(ValueError, match=r"ax must be one axes or a sequence of 2, got 3 axes"):
        display.plot(matplotlib.figure.Figure().subplots(1, 3))


def test_map_of_a_single_direction(blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    display = MapDisplay.from_estimator(SDPMetric(1).fit(X, y), X, y).plot()
    np.testing.assert_array_equal(display.after[:, 1], 0.0)
    assert display.shares[1].tolist() == pytest.approx([1.0, 0.0])
    with pytest.raises(ValueError, match=r"y must have one label per row of X, shape \(60,\)"):
        MapDisplay.from_estimator(SDPMetric(1).fit(X, y), X, y[1:])


def test_map_of_two_sparse_columns() -> None:
    X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 0.0], [4.0, 0.0]])
    metric = SDPMetric(n_neighbors=1, n_impostors=1).fit(X, [0, 0, 1, 1])
    display = MapDisplay.from_estimator(metric, sp.csr_array(X))
    np.testing.assert_allclose(np.abs(display.before), np.abs(principal(X)[0]), atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_map_of_equal_rows(blobs: tuple[Any, Any], form: Any) -> None:
    """The rounding of their mean was shown as 100 % of the variance; ARPACK refused sparse ones."""
    metric = SDPMetric().fit(*blobs)
    display = MapDisplay.from_estimator(metric, form(np.full((7, 5), 0.1)), [0] * 7).plot()
    np.testing.assert_array_equal([display.before, display.after], 0.0)
    for ax in display.ax_:
        assert ax.get_xlabel() == "0% of the variance"


def test_map_of_a_single_row(blobs: tuple[Any, Any]) -> None:
    metric = SDPMetric().fit(*blobs)
    with pytest.raises(ValueError, match=r"X has a single row"):
        MapDisplay.from_estimator(metric, blobs[0][:1])


def test_names_in_a_map_keep_apart(blobs: tuple[Any, Any]) -> None:
    """Classes with one and the same middle are written side by side, and many not at all."""
    X = blobs[0]
    metric = SDPMetric().fit(*blobs)
    rows = np.vstack([X, X])
    twins = MapDisplay.from_estimator(metric, rows, np.repeat([0, 1], 60)).plot()
    a, b = (np.array(text.get_position()) for text in twins.ax_[0].texts)
    assert np.linalg.norm((a - b) / np.ptp(twins.before, axis=0)) > 0.05
    crowd = MapDisplay.from_estimator(metric, X, np.arange(60)).plot()
    assert not crowd.ax_[0].texts


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
def test_neighbors(alone: bool) -> None:
    X, y = load_digits(n_class=5, return_X_y=True)
    metric = SDPMetric(tol=1e-2).fit(X[400:], y[400:])
    Q, y_q, G, y_g = X[:200], y[:200], X[200:400], y[200:400]
    parts = (Q, y_q) if alone else (Q, y_q, G, y_g)
    display = NeighborsDisplay.from_estimator(
        metric, *parts, shape=(8, 8), queries=[3, 77, 150], n_neighbors=4
    ).plot()
    gallery, labels = (Q, y_q) if alone else (G, y_g)
    wrong = 0
    for side, how in ((display.before, np.asarray), (display.after, metric.transform)):
        found = NearestNeighbors(n_neighbors=5).fit(how(gallery)).kneighbors(how(Q))[1]
        expected = found[[3, 77, 150], 1:] if alone else found[[3, 77, 150], :4]
        np.testing.assert_array_equal(side.rows, expected)
        np.testing.assert_array_equal(side.pictures, gallery[expected].reshape(3, 4, 8, 8))
        np.testing.assert_array_equal(side.wrong, labels[expected] != y_q[[3, 77, 150], None])
        assert side.wrong is not None
        wrong += int(side.wrong.sum())
    np.testing.assert_array_equal(display.queries, Q[[3, 77, 150]].reshape(3, 8, 8))
    assert len(display.ax_.images) == 3 * (1 + 2 * 4)
    assert len(display.ax_.patches) == wrong
    drawn = [np.asarray(image.get_array()) for image in display.ax_.images]
    np.testing.assert_allclose(16.0 * drawn[0], Q[3].reshape(8, 8))  # 0 to 16, drawn from 0 to 1


@pytest.mark.slow
def test_frames_are_around_what_is_wrong() -> None:
    """Labels that are all their own: every neighbour is wrong; none without labels."""
    X, y = load_digits(n_class=3, return_X_y=True)
    metric = SDPMetric(tol=1e-2).fit(X, y)
    own = np.arange(len(y))
    display = NeighborsDisplay.from_estimator(metric, X, own, shape=(8, 8), queries=2).plot()
    frames = [patch.get_bbox().bounds for patch in display.ax_.patches]
    pictures = [image.get_extent() for image in display.ax_.images[2:]]
    assert len(frames) == 2 * 2 * 5
    for (left, bottom, *_), extent in zip(frames, pictures, strict=True):
        assert (left, bottom) == (extent[0], extent[2])
    plain = NeighborsDisplay.from_estimator(metric, X, shape=(8, 8)).plot(new_axes())
    assert not plain.ax_.patches
    assert plain.rows.tolist() == np.linspace(0, len(y) - 1, 6).astype(int).tolist()


def test_neighbors_of_few_rows() -> None:
    """By default as many neighbours as there are, up to five."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 4)), np.arange(8) % 2
    metric = SDPMetric(n_neighbors=2, n_impostors=2, tol=1e-2).fit(X, y)
    for n, expected in ((2, 1), (5, 4), (6, 5), (8, 5)):
        display = NeighborsDisplay.from_estimator(metric, X[:n], shape=(2, 2))
        assert display.after.rows.shape[1] == expected
    apart = NeighborsDisplay.from_estimator(metric, X[:1], None, X[1:4], shape=(2, 2))
    assert apart.after.rows.shape == (1, 3)
    with pytest.raises(ValueError, match=r"Q has a single row and G is None"):
        NeighborsDisplay.from_estimator(metric, X[:1], shape=(2, 2))


def test_bad_arguments_of_neighbors() -> None:
    X, y = load_digits(n_class=2, return_X_y=True)
    metric = SDPMetric(tol=1e-2).fit(X, y)
    show = NeighborsDisplay.from_estimator
    with pytest.raises(ValueError, match=r"shape must be .* 64 entries in all, .* got \(8, 9\)"):
        show(metric, X, shape=(8, 9))
    with pytest.raises(ValueError, match=r"queries must be rows of Q, 0 to 359, got \[360\]"):
        show(metric, X, shape=(8, 8), queries=[360])
    with pytest.raises(ValueError, match=r"queries must be a number or a list of rows"):
        show(metric, X, shape=(8, 8), queries=["a"])
    with pytest.raises(ValueError, match=r"n_neighbors must be .* at most 359, got 360"):
        show(metric, X, shape=(8, 8), n_neighbors=360)
    with pytest.raises(ValueError, match=r"y_g is given"):
        show(metric, X, None, X, y, shape=(8, 8))
    with pytest.raises(ValueError, match=r"y_g is None"):
        show(metric, X, y, X, shape=(8, 8))


def test_path(search: SDPMetricCV) -> None:
    results = search.cv_results_
    display = PathDisplay.from_estimator(search).plot()
    np.testing.assert_array_equal(display.C, [2.0, 8.0])
    score, rho = display.ax_.get_lines()[0], display.figure_.axes[1].get_lines()[0]
    np.testing.assert_array_equal(score.get_ydata(), display.score)
    assert display.coordinates == search.best_params_["coordinates"] == "standard"
    here = results["param_coordinates"] == "standard"
    assert set(display.score) <= set(results["mean_test_score"][here])
    assert np.all(np.diff(rho.get_ydata()) <= 1e-6)  # the margin falls along the path
    alone = here & (results["param_prior_weight"] == 1.0)
    assert display.prior_score == results["mean_test_score"][alone]
    axes = new_axes()
    assert PathDisplay.from_estimator(search).plot(axes).ax_ is axes


@pytest.mark.slow
def test_chosen_is_marked_on_its_path(wine: tuple[Any, Any]) -> None:
    grids: Any = {"n_neighbors": 3, "n_impostors": 3, "n_rounds": 1, "prior_weight": 0.0}
    search = SDPMetricCV([2.0, 8.0], coordinates="raw", triplets="knn", cv=3, doubt=0.0, **grids)
    display = PathDisplay.from_estimator(search.fit(*wine)).plot()
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    assert lines["chosen"].get_xdata()[0] == search.best_params_["C"]
    np.testing.assert_array_equal(
        lines["held-out score"].get_ydata(),
        search.cv_results_["mean_test_score"][search.cv_results_["param_prior_weight"] < 1.0],
    )


def test_search_shows_its_last_fit(search: SDPMetricCV) -> None:
    learner = search.best_estimator_
    display = ConvergenceDisplay.from_estimator(search)
    np.testing.assert_array_equal(display.gap, learner.history_["gap"])
    assert display.upper_bound == learner.upper_bound_
    spectrum = SpectrumDisplay.from_estimator(search)
    np.testing.assert_array_equal(spectrum.eigenvalues, learner.eigenvalues_)
    X, y = load_wine(return_X_y=True, as_frame=True)
    mapped = MapDisplay.from_estimator(search, X, y)
    expected = principal(search.transform(X))[0]
    np.testing.assert_allclose(np.abs(mapped.after), np.abs(expected), atol=1e-6)
    M = search.get_mahalanobis_matrix()
    np.testing.assert_allclose(FeaturesDisplay.from_estimator(search).weights, np.diag(M))


def test_pipelines_and_grid_searches(wine: tuple[Any, Any]) -> None:
    """Before is what the metric is given, so that a scaler is no merit of the metric's."""
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), SDPMetric(), KNeighborsClassifier(3))
    grid = GridSearchCV(model, {"sdpmetric__C": [5.0]}, cv=2).fit(X, y)
    metric = SDPMetric(C=5.0).fit(*wine)
    for estimator in (grid, grid.best_estimator_):
        display = MapDisplay.from_estimator(estimator, X, y)
        expected = MapDisplay.from_estimator(metric, *wine)
        np.testing.assert_allclose(display.before, expected.before, atol=1e-9)
        np.testing.assert_allclose(display.after, expected.after, atol=1e-9)
    nearest = NeighborsDisplay.from_estimator(grid, X, y, shape=(1, 13), n_neighbors=3)
    distances = cdist(wine[0], wine[0])
    np.fill_diagonal(distances, np.inf)
    expected_rows = np.argsort(distances, axis=1)[nearest.rows, :3]
    np.testing.assert_array_equal(nearest.before.rows, expected_rows)
    np.testing.assert_array_equal(nearest.queries[:, 0], X[nearest.rows])  # but shows rows as given


@pytest.mark.slow
def test_search_over_comparisons(triplets: tuple[Any, Any]) -> None:
    X, T = triplets
    search = TripletSDPMetricCV(2, cv=2, prior_weight=0.0).fit(X, T)
    assert PathDisplay.from_estimator(search).plot().C.tolist() == [1.25, 40.0]
    display = MarginsDisplay.from_estimator(search, X, T)
    assert np.mean(display.after > 0.0) == search.score(X, T)
    assert FeaturesDisplay.from_estimator(search, X).weights.argmax() == 0


@pytest.mark.parametrize("unfitted", [SDPMetric(), SDPMetricCV(), make_pipeline(SDPMetric())])
def test_not_fitted(unfitted: Any) -> None:
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(unfitted)
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(SDPMetricCV())


@pytest.mark.parametrize("other", [KNeighborsClassifier(), make_pipeline(StandardScaler()), None])
def test_no_metric(other: Any) -> None:
    with pytest.raises(ValueError, match=r"estimator must be a fitted SDPMetric"):
        SpectrumDisplay.from_estimator(other)


def test_says_what_to_install(blobs: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    display = SpectrumDisplay.from_estimator(SDPMetric().fit(*blobs))
    monkeypatch.setattr("sdpmetric._support.optional.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"sdpmetric\[plot\]"):
        display.plot()


def test_neighbors_of_rows_that_are_no_pictures() -> None:
    """Embeddings, shown by pictures beside them; by default no more queries than there are."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 3)), np.arange(25) % 2
    images, gallery_images = rng.integers(0, 256, size=(5, 4, 2, 3)), rng.random((20, 4, 2, 3))
    metric = SDPMetric(tol=1e-2).fit(X, y)
    show = NeighborsDisplay.from_estimator
    parts = X[:5], y[:5], X[5:], y[5:]
    display = show(metric, *parts, images=images, gallery_images=gallery_images)
    expected = np.argsort(cdist(X[:5], X[5:]), axis=1)[:, :5]
    np.testing.assert_array_equal(display.before.rows, expected)
    np.testing.assert_array_equal(display.queries, images)
    np.testing.assert_array_equal(display.before.pictures, gallery_images[expected])
    alone = show(metric, X[:5], images=images, n_neighbors=2)
    np.testing.assert_array_equal(alone.after.pictures, images[alone.after.rows])
    with pytest.raises(ValueError, match="gallery_images is given but G is None"):
        show(metric, X[:5], images=images, gallery_images=images)
    with pytest.raises(ValueError, match=r"gallery_images must have shape \(20, h, w\)"):
        show(metric, *parts, images=images, gallery_images=images)
    with pytest.raises(ValueError, match="images stands instead of shape"):
        show(metric, X[:5], images=images, shape=(1, 3))
    with pytest.raises(ValueError, match="or images be given; got None"):
        show(metric, X[:5])


def test_a_path_of_a_pipeline_is_that_of_its_search(search: SDPMetricCV) -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    grids: Any = {"n_neighbors": 3, "n_impostors": 3, "n_rounds": 1, "prior_weight": 0.0, "cv": 2}
    model = make_pipeline(
        StandardScaler(), SDPMetricCV([2.0, 8.0], **grids), KNeighborsClassifier()
    )
    display = PathDisplay.from_estimator(model.fit(X, y))
    expected = model[1].cv_results_["param_C"][model[1].cv_results_["param_prior_weight"] == 0.0]
    assert display.C.tolist() == sorted(set(expected.tolist()))
    classifier = SDPMetricClassifier(SDPMetricCV([2.0, 8.0], **grids)).fit(X, y)
    assert PathDisplay.from_estimator(classifier).C.tolist() == [2.0, 8.0]


def test_a_path_of_a_single_fit_is_refused(blobs: tuple[Any, Any]) -> None:
    metric = SDPMetric(tol=1e-2).fit(*blobs)
    with pytest.raises(ValueError, match=r"SDPMetric has tried no path over C"):
        PathDisplay.from_estimator(metric)


def test_names_stand_beside_points_where_they_cover_nothing(blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    metric = SDPMetric(tol=1e-2).fit(X, y)
    names = [f"song {i}" for i in range(len(X))]
    display = MapDisplay.from_estimator(metric, X, names=names).plot()
    display.figure_.canvas.draw()
    for ax in display.ax_:
        boxes = [text.get_window_extent() for text in ax.texts]
        assert 5 < len(boxes) < len(X)
        for i, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:i])
        assert {text.get_text() for text in ax.texts} <= set(names)
    with pytest.raises(ValueError, match=r"names must have one name per row of X, 60, got 3"):
        MapDisplay.from_estimator(metric, X, names=["a", "b", "c"])
