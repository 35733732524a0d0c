"""Everything in the library that writes a file, in two versions."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from sdpmetric import SDPMetric, export, load
from sdpmetric.cli import report
from sdpmetric.cli.evaluation import Evaluation, by_labels
from sdpmetric.cli.tables.model_rows import Model
from sdpmetric.cli.tables.writing import _WRITERS, write
from sdpmetric.deployment.exports import TARGETS
from tests.support.killing import Write, Writer, content
from tests.support.problems import labelled

__all__ = ["EXPORTS", "MODELS", "TABLES", "writers"]

EXPORTS = {to: f"metric{target.suffix or ''}" for to, target in TARGETS.items()}
MODELS = {".safetensors": "model.safetensors", ".json": "model.json"}
TABLES = {suffix: f"table{suffix}" for suffix in _WRITERS}


def writers(n_features: int, folder: Path) -> dict[str, Writer]:
    """All writers by name; a metric has ``n_features`` columns and half as many rows."""
    X, y = labelled(np.random.default_rng(0), 40, n_features)
    metrics = [SDPMetric(n_features // 2, C=C, tol=0.5).fit(X, y) for C in (2.0, 20.0)]
    made = {
        f"save {suffix}": Writer(name, _save(metrics), _model) for suffix, name in MODELS.items()
    }
    for to, name in EXPORTS.items():
        options = {"rows": X} if to == "faiss" else {}
        made[f"export {to}"] = Writer(name, _export(metrics, to, options), content)
    for suffix, name in TABLES.items():
        made[f"table {suffix}"] = Writer(name, _table(metrics), content)
    write(str(folder / "rows.csv"), {f"x{i}": column for i, column in enumerate(X.T)} | {"kind": y})
    model = Model(metrics[0], None)
    evaluation = by_labels(model, str(folder / "rows.csv"), "kind", (), 1, ())
    return made | {"report": Writer("report.html", _report(model, evaluation), content)}


def _save(metrics: list[Any]) -> Write:
    return lambda path, version: metrics[version].save(path)


def _export(metrics: list[Any], to: str, options: dict[str, Any]) -> Write:
    return lambda path, version: export(metrics[version], path, to, **options)


def _table(metrics: list[Any]) -> Write:
    tables = [{f"x{i}": x for i, x in enumerate(metric.components_.T)} for metric in metrics]
    return lambda path, version: write(str(path), tables[version])


def _report(model: Model, evaluation: Evaluation) -> Write:
    @cache
    def sections() -> list[tuple[str, str, str]]:
        """Drawn once: to draw takes seconds, in which nothing is written."""
        drawn = report._sections(model, evaluation)
        return [(heading, report._picture(display), text) for heading, display, text in drawn]

    def write_report(path: Path, version: int) -> None:
        drawn = sections()
        with (
            patch.object(report, "_sections", lambda *_: drawn),
            patch.object(report, "_picture", str),
        ):
            report.write_report(str(path), f"version {version}", model, evaluation, "sdpmetric")

    return write_report


def _model(path: Path) -> Any:
    """The header of a .safetensors file has no fixed order, so that bytes say nothing."""
    metric = load(path)
    return [metric.get_params(), metric.components_.tolist(), metric.gap_]
