"""SQL for PostgreSQL with pgvector, which has no Mahalanobis distance: a function that maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..files import replacing
from .target import components_of

__all__ = ["pgvector_sql", "write_pgvector"]

_DIMENSIONS = 16_000  # of a vector
_INDEXED = 2_000  # of a vector in an index


def pgvector_sql(
    metric: Any, *, name: str = "sdpmetric", table: str | None = None, column: str = "embedding"
) -> str:
    """SQL that defines a function from raw vectors to mapped ones, to be compared by ``<->``.

    Parameters
    ----------
    metric : a fitted metric
    name : str, default="sdpmetric"
        Of the function.
    table : str, default=None
        A table that gets a column of mapped vectors, kept up to date by the database, and an index.
    column : str, default="embedding"
        The column of raw vectors in that table.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.exports import pgvector_sql
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = SDPMetric(1, tol=1e-2).fit(X, y)
    >>> print(pgvector_sql(metric).splitlines()[1])
    CREATE OR REPLACE FUNCTION "sdpmetric"(x vector) RETURNS vector
    """
    components = components_of(metric)
    k, D = components.shape
    if max(k, D) > _DIMENSIONS:
        raise ValueError(
            f"metric must have up to {_DIMENSIONS} features and components for pgvector, got {D} "
            f"and {k}."
        )
    function = _quoted("name", name)
    # The body is bound to pgvector's functions at once, so that a restored dump finds them.
    products = (f"  inner_product(x, '{_literal(row)}'::vector)" for row in components)
    lines = [
        f"-- Maps {D} numbers to {k}, between which <-> is the learned distance. PostgreSQL 14+.",
        f"CREATE OR REPLACE FUNCTION {function}(x vector) RETURNS vector",
        "LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE",
        "RETURN ARRAY[",
        ",\n".join(products),
        f"]::vector({k});",
    ]
    if table is not None:
        lines += _column(function, _quoted("table", table), column, k)
    return "\n".join(lines) + "\n"


def write_pgvector(
    metric: Any,
    path: Path,
    *,
    name: str = "sdpmetric",
    table: str | None = None,
    column: str = "embedding",
) -> None:
    """The SQL of `pgvector_sql` as a file for ``psql -f``."""
    text = pgvector_sql(metric, name=name, table=table, column=column)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _column(function: str, table: str, column: str, k: int) -> list[str]:
    raw, mapped = _quoted("column", column), _quoted("column", f"{column}_mapped")
    made = f"vector({k}) GENERATED ALWAYS AS ({function}({raw})) STORED"
    index = f"CREATE INDEX ON {table} USING hnsw ({mapped} vector_l2_ops);"
    if k > _INDEXED:
        index = f"-- No index: pgvector indexes up to {_INDEXED} dimensions."
    return [
        f"ALTER TABLE {table} ADD COLUMN {mapped} {made};",
        index,
        f"-- SELECT * FROM {table} ORDER BY {mapped} <-> {function}($1) LIMIT 10;",
    ]


def _literal(row: Any) -> str:
    """A vector in pgvector's own precision; nine digits tell all float32 apart."""
    return "[" + ",".join(f"{x:.9g}" for x in row.astype(np.float32).tolist()) + "]"


def _quoted(argument: str, name: str) -> str:
    """An identifier, ``schema.table`` included, that no name can break out of."""
    parts = name.split(".") if isinstance(name, str) else [""]
    if not all(parts) or any(not part.isprintable() for part in parts):
        raise ValueError(f"{argument} must be the name of a {argument} in SQL, got {name!r}.")
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
