"""The work of `sdpmetric adapt`: read vectors and pairs, fit an adapter with a progress bar."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..learning.embeddings.adapter import EmbeddingAdapter
from .fitting import fit_or_keep, with_parameters, with_settings
from .progress_bars import showing_progress
from .tables.answers import in_terms_of_file, role_columns
from .tables.joined import read_pairs
from .tables.reading import read
from .tables.table import Table, text


def adapted(
    vectors: str,
    pairs: Sequence[str],
    ids: str | None,
    queries: str | None,
    query_ids: str | None,
    settings: Sequence[str],
    given: dict[str, Any],
) -> EmbeddingAdapter:
    """Read the files and fit an `EmbeddingAdapter`; arguments are those of the command."""
    # Parameters first: a wrong one is found before a large file is read.
    adapter: EmbeddingAdapter = with_parameters(EmbeddingAdapter(), with_settings(given, settings))
    X = read(vectors).features()[0]
    Q = None if queries is None else read(queries).features()[0]
    table = read_pairs(pairs)
    # len() of sparse rows is an error; the adapter says that it needs dense ones.
    n, n_queries = X.shape[0], 0 if Q is None else Q.shape[0]
    stored, asking = _names(ids, n), _names(query_ids, n_queries)
    cells = {}
    for name in role_columns(table):
        if Q is not None and name in ("query", "anchor"):
            cells[name] = _cells(table, name, asking, n_queries, "--query-ids")
        else:
            cells[name] = _cells(table, name, stored, n, "--ids")
    try:
        with warnings.catch_warnings(), showing_progress(adapter):
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("always", ".*: chosen among", ConvergenceWarning)
            fit_or_keep(adapter, X, cells, Q, ids=stored, query_ids=asking)
    except ValueError as error:
        # An error about the pairs is said with the file's lines; any other is not about them.
        if not str(error).startswith(("pairs", *cells)):
            raise
        raise ValueError(in_terms_of_file(table, error, "--pairs")) from None
    return adapter


def _names(path: str | None, n: int) -> list[str] | None:
    """The ids of n rows: the one column of a file."""
    if path is None:
        return None
    table = read(path)
    if len(table.columns) != 1 or table.block is not None or len(table) != n:
        raise ValueError(f"{path}: expected one column with {n} ids.")
    return table.ids(next(iter(table.columns)))


def _cells(table: Table, name: str, known: list[str] | None, n: int, option: str) -> list[Any]:
    """A column of the pairs: ids if rows have them, else row numbers; None for an empty cell."""
    if known is None:
        return list(table.row_numbers(name, n, f"{option}, the names of the rows"))
    return [text(cell) or None for cell in table.column(name)]
