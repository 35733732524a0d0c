"""What the fuzzer calls: every reader, the door for sparse matrices, and the command line."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import click
import numpy as np
from click.testing import CliRunner

from sdpmetric import Responses, load
from sdpmetric.cli import main
from sdpmetric.cli.tables.answers import read_answers
from sdpmetric.cli.tables.limits import keep_max_bytes
from sdpmetric.cli.tables.model_rows import labels_of
from sdpmetric.cli.tables.reading import read
from sdpmetric.cli.tables.table import Table
from sdpmetric.displays import ConvergenceDisplay, FeaturesDisplay, PathDisplay, SpectrumDisplay
from sdpmetric.learning.embeddings.corpus import Vectors
from sdpmetric.learning.embeddings.pairs import read_pairs
from sdpmetric.linalg.items import as_items
from sdpmetric.persistence.model_file import read_header
from tests.campaigns.mutation import mutated, odd_value
from tests.campaigns.people import UnclearError, ask, programs, request, study_line, study_request
from tests.campaigns.seeds import odd_table, seeds, sparse_npz
from tests.campaigns.words import command_line, prepare, restore

MAX_BYTES = "64MB"  # far below the memory that a child may take: who allocates more is found
DOCUMENTED = (ValueError, OSError)
TABLES = (".csv", ".npy", ".npz", ".parquet", ".jsonl", ".svmlight", ".db")

Make = Callable[[Random], bytes]
Run = Callable[[Path], None]


@dataclass(frozen=True)
class Target:
    """A reader: the suffix of its files, how to make one, and what to do with it.

    ``seconds`` is the time that one input may take.
    """

    suffix: str
    make: Make
    run: Run
    seconds: float = 10.0


def quietly(call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Call, and let a documented error pass."""
    with warnings.catch_warnings(), suppress(*DOCUMENTED):
        warnings.simplefilter("ignore")
        call(*arguments, **named)


def read_table(path: Path) -> None:
    """Read a file as rows, as labels and as comparisons."""
    with click.Context(main) as ctx:
        keep_max_bytes(ctx, None, MAX_BYTES)
        try:
            table = read(str(path))
        except ValueError as error:
            if not str(error).startswith(str(path)):
                raise UnclearError(f"does not name the file: {error}") from error
            return
        except OSError as error:
            if str(path) not in str(error):
                raise UnclearError(f"does not name the file: {error}") from error
            return
        quietly(_use, table)
        for name in list(table.columns)[:4]:
            quietly(table.texts, name)
            quietly(table.ids, name)
            quietly(labels_of, table, name)
            quietly(table.features, only=[name], without=[name])
        quietly(read_answers, str(path), None, 4)
        quietly(read_answers, str(path), ["a", "b", "c", "d"], 4)


def _use(table: Table) -> None:
    """Products and distances of all rows: wrong indices would read foreign memory."""
    items = as_items(table.features()[0], scan=True)
    n, D = items.shape
    if D > 100_000:
        return
    items.times(np.ones((D, 2)))
    items.transposed_times(np.ones((n, 2)))
    rows = np.arange(n)
    found = items.squared_differences(rows, rows[::-1])
    if found.min() < 0.0:
        raise UnclearError("a negative distance")


def read_model(path: Path) -> None:
    """Load a model file, and use what was loaded in every way that reads it."""
    quietly(read_header, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric = load(path)
    except DOCUMENTED as error:
        if str(path) not in str(error):
            raise UnclearError(f"does not name the file: {error}") from error
        return
    D = metric.n_features_in_
    X = np.linspace(-1.0, 1.0, 3 * D).reshape(3, D)
    vars(metric).pop("feature_names_in_", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metric.transform(X)
        metric.pairwise_distances(X)
        ConvergenceDisplay.from_estimator(metric)
        repr(metric)
        str(getattr(metric, "report_", ""))
        if not math.isfinite(SpectrumDisplay.from_estimator(metric).effective_rank):
            raise UnclearError("the effective rank is not finite")
        quietly(FeaturesDisplay.from_estimator, metric, X)
        if hasattr(metric, "cv_results_"):
            quietly(PathDisplay.from_estimator, metric)
        else:
            quietly(metric.set_params(warm_start=True)._start, D)
    quietly(metric.save, path.with_name("again.json"))
    _command(["inspect", str(path)])


def read_responses(path: Path) -> None:
    """Read odd tables by every constructor of `Responses`, and as pairs of embeddings."""
    rng = Random(path.read_text())
    table = odd_table(rng)
    ids = rng.choice([None, None, ["a", "b", "c", "d"], [0, 1, 2, 3], odd_value(rng)])
    more = {name: odd_value(rng) for name in ("participants", "weights", "counts")}
    kept = {name: value for name, value in more.items() if rng.random() < 0.2}
    for kind in ("triplets", "odd_one_out", "2afc", "rankings", "clicks"):
        quietly(getattr(Responses, f"from_{kind}"), table, ids=ids, **kept)
    quietly(Responses.from_clicks, table, rule="skip-above", ids=ids, **kept)
    quietly(Responses.from_triplets, table, columns=odd_value(rng), ids=ids)
    quietly(Responses.from_odd_one_out, table, odd_value(rng), ids=ids)
    quietly(Responses.from_salmon, table, ids=ids)
    quietly(Responses.from_jspsych, table, ids=ids, first=rng.choice([0, 1, odd_value(rng)]))
    quietly(Responses.from_things, table, ids=ids, choice=rng.choice(["a", odd_value(rng)]))
    quietly(Responses, table)
    X = as_items(np.eye(4))
    quietly(read_pairs, table, Vectors(X), ids)
    quietly(read_pairs, table, Vectors(X, X), ids, rng.choice([None, ids, odd_value(rng)]))


def run_command(path: Path) -> None:
    """Run a command line on files as they were."""
    restore(path.parent, path)
    _command(json.loads(path.read_text()))


def _command(line: list[str]) -> None:
    result = CliRunner().invoke(main, line)
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise error
    if result.exit_code not in (0, 1, 2, 3):
        raise UnclearError(f"exit code {result.exit_code}")
    # A table on standard output is for programs, and stays as it is.
    table = line[:1] in (["transform"], ["triplets"], ["suggest"])
    shown = result.stderr if table else result.output
    hidden = [c for c in shown if not c.isprintable() and c != "\n"]
    if hidden:
        raise UnclearError(f"prints {hidden[0]!r}")
    said = [text for text in result.stderr.splitlines() if not text.startswith("Warning:")]
    if result.exit_code == 1 and (len(said) != 1 or not said[0].startswith("Error: ")):
        raise UnclearError(f"is no single sentence: {result.stderr}")


def _of_files(suffix: str) -> Make:
    made = seeds(suffix)
    return lambda rng: mutated(rng.choice(made), rng, made, suffix)


def _table_target(suffix: str) -> Target:
    return Target(suffix, _of_files(suffix), read_table)


def _model_target(suffix: str) -> Target:
    return Target(suffix, _of_files(suffix), read_model)


def _seed(rng: Random) -> bytes:
    return str(rng.getrandbits(60)).encode()


def targets() -> dict[str, Callable[[], Target]]:
    """The readers by name; a target is made, with its seeds, only when it is used."""
    found: dict[str, Callable[[], Target]] = {s[1:]: partial(_table_target, s) for s in TABLES}
    for suffix in (".json", ".safetensors"):
        found[f"model-{suffix[1:]}"] = partial(_model_target, suffix)
    found["sparse"] = partial(Target, ".npz", sparse_npz, read_table)
    found["responses"] = partial(Target, ".seed", _seed, read_responses)
    found["programs"] = partial(Target, ".seed", _seed, programs)
    found["requests"] = partial(Target, ".request", study_request, request, seconds=60.0)
    found["ask"] = partial(Target, ".study", study_line, ask, seconds=60.0)
    found["commands"] = partial(Target, ".command", command_line, run_command, seconds=60.0)
    return found


def ready(name: str, folder: Path) -> Target:
    """A target that is ready to run in a folder."""
    target = targets()[name]()
    if name == "commands":
        prepare(folder)
    return target
