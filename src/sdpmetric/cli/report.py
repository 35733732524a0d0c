"""A page about a model: scores, pictures and what they say, in one file that needs nothing else."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..displays import (
    ConvergenceDisplay,
    FeaturesDisplay,
    MapDisplay,
    MarginsDisplay,
    SpectrumDisplay,
)
from ..displays.fitted import fitted
from ..files import replacing
from .judgement import EUCLIDEAN, LEARNED, STANDARD, Judgement

__all__ = ["write_report"]

_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff }
h1 { overflow-wrap: anywhere } h2 { margin-top: 2.5rem } img { max-width: 100% }
.scores { overflow-x: auto } table { border-collapse: collapse }
th, td { padding: .3rem .8rem; text-align: right } th { font-weight: normal }
th:first-child { text-align: left; padding-left: 0 } tr { border-bottom: 1px solid #ddd }
tr:last-child th, tr:last-child td { font-weight: bold }
"""


def write_report(
    path: str, model: str, metric: Any, names: list[str] | None, judged: Judgement
) -> None:
    """Write the page; whole or not at all."""
    if find_spec("matplotlib") is None:
        raise ImportError("--report needs matplotlib: pip install 'sdpmetric[plot]'.")
    import matplotlib

    matplotlib.use("Agg")
    title = escape(f"{model} on {judged.facts['data']}")
    parts = [f"<h1>{title}</h1>", _table(judged), f"<p>{escape(_verdict(judged))}</p>"]
    parts += [f"<p>{escape(' '.join(judged.notes))}</p>"]
    for heading, display, reading in _sections(metric, names, judged):
        picture = f'<img alt="{escape(heading)}" src="{_picture(display)}">'
        parts.append(f"<h2>{escape(heading)}</h2>\n<p>{escape(reading)}</p>\n{picture}")
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )
    with replacing(Path(path)) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _sections(
    metric: Any, names: list[str] | None, judged: Judgement
) -> Iterator[tuple[str, Any, str]]:
    learner = fitted(metric).learner
    margins = MarginsDisplay.from_estimator(metric, judged.X, judged.y)
    before, after = (float(np.mean(z <= 0.0)) for z in (margins.before, margins.after))
    asked = "Bars right of the dotted line have the margin that the fit asked for."
    yield (
        "Near is nearer than far",
        margins.plot(),
        f"Each comparison says that one row is nearer than another. By Euclidean distance "
        f"{before:.1%} of {len(margins.before):,} are wrong, by the learned metric {after:.1%}: "
        f"bars left of zero. {asked if margins.rho > 0.0 else ''}",
    )
    labels = judged.y if judged.y.ndim == 1 else None
    yield (
        "The rows on a plane",
        MapDisplay.from_estimator(metric, judged.X, labels).plot(),
        "The two directions in which rows differ most, before and after. What is close here is "
        "close in truth only as far as two directions can show it.",
    )
    features = FeaturesDisplay.from_estimator(metric, judged.X, feature_names=names).plot(top=12)
    heavy = [f"{features.names[i]} ({features.weights[i]:.0%})" for i in features.shown_[:3]]
    yield (
        "What counts",
        features,
        f"How much of a distance comes from each feature where rows differ by one standard "
        f"deviation in it. Most come from {', '.join(heavy)}.",
    )
    spectrum = SpectrumDisplay.from_estimator(metric)
    yield (
        "How many directions",
        spectrum.plot(),
        f"{metric.components_.shape[1]} features become {len(metric.components_)} directions; the "
        f"effective rank is {spectrum.effective_rank:.1f}. Where the running sum is soon near one, "
        "few numbers per row are enough: fit --components cuts the rest.",
    )
    yield (
        "How sure this is the best",
        ConvergenceDisplay.from_estimator(metric).plot(),
        f"The fit ended ({learner.status_}) with a relative gap of {learner.gap_:.1e}: no other "
        "metric reaches an objective that is better by more than this share of the weighted far "
        "distance. That is proved for the data of the fit; the scores above say what it is worth "
        "on the data here.",
    )


def _table(judged: Judgement) -> str:
    names = list(judged.scores[LEARNED])
    rows = ["<tr><th></th>" + "".join(f"<th>{escape(name)}</th>" for name in names) + "</tr>"]
    for row, scores in judged.scores.items():
        cells = "".join(f"<td>{scores[name]:.3f}</td>" for name in names)
        rows.append(f"<tr><th>{escape(row)}</th>{cells}</tr>")
    return '<div class="scores"><table>\n' + "\n".join(rows) + "\n</table></div>"


def _verdict(judged: Judgement) -> str:
    """The first score in words."""
    name = next(iter(judged.scores[LEARNED]))
    learned, plain, standard = (judged.scores[n][name] for n in (LEARNED, EUCLIDEAN, STANDARD))
    learned, plain, standard = (round(value, 3) for value in (learned, plain, standard))
    what = "Answers predicted" if name == "accuracy" else f"Rows right ({name})"
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
    plt.close(display.figure_)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
