"""The main job in a minute: learn which part of a picture counts, and see it.

Each picture holds two handwritten digits of scikit-learn's, side by side. The label is the left
digit. The right digit is drawn at random, so it should not count; Euclidean distance does not know
that. Digits are split before they are paired, so no digit of a query was seen in the fit. The same
comparison is made on scikit-learn's wines and digits, where there is less to gain.

A peer runs beside us: scikit-learn's NeighborhoodComponentsAnalysis, with its defaults as ours.
Writes output/demo.png, or the file that is named: python examples/demo.py picture.png
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from sdpmetric import SDPMetric
from sdpmetric.displays import NeighborsDisplay

DIGITS = (1, 2, 3, 4, 5)  # the first query of each is shown, whatever its neighbours are
HEADER = f"{'data':21}{'distance':20}{'3-NN error':>10}{'seconds':>9}   certificate"

Split = tuple[Any, Any, Any, Any]  # rows to learn from, new rows, and the labels of both


def side_by_side(X: Any, random: np.random.Generator) -> Any:
    """Glue a random other picture to the right of every picture."""
    left = X.reshape(-1, 8, 8)
    right = left[random.permutation(len(left))]
    return np.concatenate([left, right], axis=2).reshape(len(left), 128)


def two_digits() -> Split:
    """Pictures of two digits, labelled by the left one."""
    random = np.random.default_rng(0)
    A, B, a, b = split(*load_digits(return_X_y=True))
    return side_by_side(A, random), side_by_side(B, random), a, b


def standardised(X: Any, y: Any) -> Split:
    """Rows whose columns have one unit, as a careful user prepares them for nearest neighbours."""
    A, B, a, b = split(X, y)
    scaler = StandardScaler().fit(A)
    return scaler.transform(A), scaler.transform(B), a, b


def split(X: Any, y: Any) -> Split:
    A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    return A, B, a, b


def error(A: Any, a: Any, B: Any, b: Any) -> float:
    """The share of new rows B whose three nearest rows of A vote for another label."""
    return 1.0 - float(KNeighborsClassifier(3).fit(A, a).score(B, b))


PEER = {"scikit-learn's NCA": NeighborhoodComponentsAnalysis(random_state=0)}
OURS = {"sdpmetric": SDPMetric()}


def compare(data: Split, methods: dict[str, Any]) -> Iterator[tuple[str, Any, float, float]]:
    """Fit every method; yield its name, its estimator, its error on new rows, and its seconds."""
    A, B, a, b = data
    yield "Euclidean", None, error(A, a, B, b), 0.0
    for name, method in methods.items():
        began = time.perf_counter()
        metric = clone(method).fit(A, a)
        seconds = time.perf_counter() - began
        yield name, metric, error(metric.transform(A), a, metric.transform(B), b), seconds


def certificate(metric: SDPMetric) -> str:
    return f"{metric.objective_:.4f} <= optimum <= {metric.upper_bound_:.4f}"


def draw(metric: SDPMetric, data: Split, errors: dict[str, float], path: Path) -> None:
    """Draw the nearest pictures of five queries, by Euclidean distance and by the metric."""
    A, B, a, b = data
    queries = [int(np.flatnonzero(b == digit)[0]) for digit in DIGITS]
    display = NeighborsDisplay.from_estimator(
        metric, B, b, A, a, shape=(8, 16), queries=queries
    ).plot(cmap="gray_r")
    heading, *sides = display.ax_.texts
    heading.set_text("query")
    for text, side, name, share in zip(
        sides,
        (display.before, display.after),
        ("Euclidean", "learned metric"),
        (errors["Euclidean"], errors["sdpmetric"]),
        strict=True,
    ):
        assert side.wrong is not None
        text.set_text(
            f"five nearest, {name} ({side.wrong.sum()} of {side.wrong.size} wrong)\n"
            f"3-NN error on all {len(b)} queries: {share:.1%}"
        )
        text.set_fontsize(9)
    display.figure_.savefig(path, dpi=130)


def picture(path: Path) -> dict[str, float]:
    """Only the picture; returns the errors that it speaks of."""
    data = two_digits()
    found = {name: (metric, share) for name, metric, share, _ in compare(data, OURS)}
    errors = {name: share for name, (_, share) in found.items()}
    draw(found["sdpmetric"][0], data, errors, path)
    return errors


def main(path: Path) -> None:
    print("The first fit on a machine compiles for a few seconds: that is not timed.\n")
    sets = {
        "left of two digits": two_digits(),
        "digits": split(*load_digits(return_X_y=True)),
        "wine, standardised": standardised(*load_wine(return_X_y=True)),
    }
    # Each set once: small and large problems run different compiled loops.
    for A, _, a, _ in sets.values():
        for ours in OURS.values():
            clone(ours).fit(A, a)
    print(HEADER + "\n" + "-" * 85)
    for name, data in sets.items():
        errors, metric = {}, None
        for method, fitted, share, seconds in compare(data, PEER | OURS):
            first = name if method == "Euclidean" else ""
            line = f"{first:21}{method:20}{share:10.1%}"
            if fitted is not None:
                line += f"{seconds:9.2f}"
            if isinstance(fitted, SDPMetric):
                metric, line = fitted, f"{line}   {certificate(fitted)}"
            print(line, flush=True)
            errors[method] = share
        if name == "left of two digits":
            assert metric is not None
            path.parent.mkdir(exist_ok=True)
            draw(metric, data, errors, path)
    print(
        "\nError: three nearest neighbours, on the 30 % of the rows that no fit has seen.\n"
        "Certificate: no metric has a better objective than the right-hand number.\n"
        f"Picture: {path}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("output") / "demo.png")
