"""An HTML page about a model: scores and pictures, in one file without links to others."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from datetime import datetime
from html import escape as escape_html
from pathlib import Path
from typing import Any

import numpy as np

from .._support.files import replace_bytes
from .._support.optional import check_installed
from .._support.text import shorten, visible
from .._version import __version__
from ..displays import (
    ConvergenceDisplay,
    FeaturesDisplay,
    MapDisplay,
    MarginsDisplay,
    SpectrumDisplay,
)
from ..learning.fitted import fitted
from .evaluation import EUCLIDEAN, LEARNED, STANDARD, Evaluation
from .report_people import people_sections
from .tables.model_rows import Model

_LETTERS = 60  # of a name
_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff }
h1 { overflow-wrap: anywhere } h2 { margin-top: 2.5rem } img { max-width: 100% }
.scores { overflow-x: auto } footer { margin-top: 3rem; color: #555; font-size: .85rem }
code { overflow-wrap: anywhere } table { border-collapse: collapse }
th, td { padding: .3rem .8rem; text-align: right } th { font-weight: normal }
th:first-child { text-align: left; padding-left: 0 } tr { border-bottom: 1px solid #ddd }
.best tr:last-child th, .best tr:last-child td { font-weight: bold }
"""


def write_report(path: str, name: str, model: Model, evaluation: Evaluation, command: str) -> None:
    """Write the page about a model; ``name`` is its file, ``command`` what the user called."""
    check_installed("matplotlib", "--report")
    import matplotlib

    matplotlib.use("Agg")  # a backend that needs no screen
    title = _escape(f"{name} on {evaluation.facts['data']}")
    parts = [f"<h1>{title}</h1>", _table(evaluation), f"<p>{_escape(_verdict(evaluation))}</p>"]
    parts += [f"<p>{_escape(' '.join(evaluation.notes))}</p>"]
    for heading, display, reading in _sections(model, evaluation):
        picture = f'<img alt="{_escape(heading)}" src="{_picture(display)}">'
        parts.append(f"<h2>{_escape(heading)}</h2>\n<p>{_escape(reading)}</p>\n{picture}")
    parts += people_sections(evaluation, _escape)
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # An empty icon, or a browser would ask the server for one.
        '<link rel="icon" href="data:,">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + f"\n{_origin(command)}\n</body>\n</html>\n"
    )
    replace_bytes(Path(path), page.encode())


def _origin(command: str) -> str:
    """When, by which version and by which command the page was made."""
    now = datetime.now().astimezone().isoformat(" ", "minutes")
    said = f"Made on {now} by sdpmetric {__version__}"
    return f"<footer><p>{said}: <code>{_escape(command)}</code></p></footer>"


def _escape(text: str) -> str:
    """Text for the page: neither tags, nor characters that no reader can see."""
    return escape_html(visible(text))


def _sections(model: Model, evaluation: Evaluation) -> Iterator[tuple[str, Any, str]]:
    """Heading, picture and how to read it."""
    metric, X, y = model.metric, evaluation.X, evaluation.y
    learner = fitted(metric).learner
    margins = MarginsDisplay.from_estimator(metric, X, y)
    before, after = (float(np.mean(z <= 0.0)) for z in (margins.before, margins.after))
    asked = "Bars right of the dotted line have the margin that the fit asked for."
    yield (
        "Near is nearer than far",
        margins.plot(),
        f"Each comparison says that one row is nearer than another. By Euclidean distance "
        f"{before:.1%} of {len(margins.before):,} are wrong, by the learned metric {after:.1%}: "
        f"bars left of zero. {asked if margins.rho > 0.0 else ''}",
    )
    labels = y if y.ndim == 1 else None  # or they are comparisons
    yield (
        "The rows on a plane",
        MapDisplay.from_estimator(metric, X, labels, names=evaluation.names).plot(),
        "The two directions in which rows differ most, before and after. Rows that are close here "
        "may differ in other directions."
        + (" Names stand beside the points that have room." if evaluation.names else ""),
    )
    features = FeaturesDisplay.from_estimator(metric, X, feature_names=model.names).plot(top=12)
    names = [shorten(name, _LETTERS) for name in features.names]
    heavy = [f"{names[i]} ({features.weights[i]:.0%})" for i in features.shown_[:3]]
    yield (
        "Weights of the features",
        features,
        f"The share of each feature in the squared distance of rows that differ by one standard "
        f"deviation in it. The largest are those of {', '.join(heavy)}.",
    )
    spectrum = SpectrumDisplay.from_estimator(metric)
    yield (
        "How many directions",
        spectrum.plot(),
        f"{metric.components_.shape[1]} features become {len(metric.components_)} directions; the "
        f"effective rank is {spectrum.effective_rank:.1f}. If the running sum is near one after a "
        "few directions, a few numbers per row are enough: fit --components cuts the rest.",
    )
    yield (
        "How far from the optimum",
        ConvergenceDisplay.from_estimator(metric).plot(),
        f"The fit ended ({learner.status_}) with a relative gap of {learner.gap_:.1e}: no other "
        "metric reaches an objective that is better by more than this share of the weighted far "
        "distance. That is proved for the data of the fit. The scores above measure the metric on "
        "the data here.",
    )


def _table(evaluation: Evaluation) -> str:
    names = list(evaluation.scores[LEARNED])
    rows = ["<tr><th></th>" + "".join(f"<th>{_escape(name)}</th>" for name in names) + "</tr>"]
    for row, scores in evaluation.scores.items():
        cells = "".join(f"<td>{scores[name]:.3f}</td>" for name in names)
        rows.append(f"<tr><th>{_escape(row)}</th>{cells}</tr>")
    return '<div class="scores best"><table>\n' + "\n".join(rows) + "\n</table></div>"


def _verdict(evaluation: Evaluation) -> str:
    """The first score in words."""
    name = next(iter(evaluation.scores[LEARNED]))
    scores = (evaluation.scores[distance][name] for distance in (LEARNED, EUCLIDEAN, STANDARD))
    # Rounded as in the table, so that the words never claim more than the printed digits show.
    learned, plain, standard = (round(score, 3) for score in scores)
    what = "Answers predicted" if name == "accuracy" else f"Rows classified correctly ({name})"
    verdict = "better than" if learned > max(plain, standard) else "no better than"
    return (
        f"{what}: {learned:.1%} by the learned metric, {plain:.1%} by Euclidean distance, "
        f"{standard:.1%} by Euclidean distance of standardised columns. By this score the learned "
        f"metric is {verdict} the best of the other two here."
    )


def _picture(display: Any) -> str:
    import matplotlib.pyplot as plt

    data = io.BytesIO()
    display.figure_.savefig(data, format="png", dpi=110, bbox_inches="tight")
    # pyplot keeps every figure until it is closed.
    plt.close(display.figure_)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
