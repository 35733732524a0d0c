"""SQL for PostgreSQL with pgvector: a function that maps vectors.

pgvector has no Mahalanobis distance, but the Euclidean distance of mapped vectors is one.

Stored vectors and queries must be mapped by the same metric. A stored column keeps the values of
the function as it was, so the file is one transaction: it builds the column again with the
function, and fails, with everything as before, if other columns would be left with the old one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.files import replace_bytes
from ...learning.estimators.metric import components_of

_DIMENSIONS = 16_000  # pgvector's limit for a vector
_INDEXED = 2_000  # pgvector's limit for a vector in an index


def pgvector_sql(
    metric: Any, *, name: str = "sdpmetric", table: str | None = None, column: str = "embedding"
) -> str:
    """Write SQL that defines a function from raw vectors to mapped ones, for ``<->``.

    Parameters
    ----------
    metric : a fitted metric
    name : str, default="sdpmetric"
        Name of the function.
    table : str, default=None
        A table to add a column of mapped vectors to, kept up to date by the database, and an index.
        A column of an earlier export is built again.
    column : str, default="embedding"
        The column of raw vectors in that table.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.deployment.exports import pgvector_sql
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = SDPMetric(1, tol=1e-2).fit(X, y)
    >>> print(pgvector_sql(metric).splitlines()[-1])
    COMMIT;
    """
    components = components_of(metric)
    k, D = components.shape
    if max(k, D) > _DIMENSIONS:
        raise ValueError(
            f"metric must have up to {_DIMENSIONS} features and components for pgvector, got {D} "
            f"and {k}."
        )
    function = _quoted("name", name)
    # RETURN with an expression, not a quoted body: PostgreSQL binds inner_product when the function
    # is made, so that a dump restored under another search_path still finds it.
    products = [f"  inner_product(x, '{_literal(row)}'::vector)" for row in components]
    body = ",\n".join(products)
    mark = "sdpmetric " + hashlib.sha256(body.encode()).hexdigest()[:32]
    lines = [
        f"-- Maps {D} numbers to {k}, between which <-> is the learned distance. PostgreSQL 14+.",
        "BEGIN;",
    ]
    if table is not None:
        lines += [_drop(_quoted("table", table), column)]
    lines += [
        _refusal(function, mark),
        f"CREATE OR REPLACE FUNCTION {function}(x vector) RETURNS vector",
        "LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE",
        "RETURN ARRAY[",
        body,
        f"]::vector({k});",
        f"COMMENT ON FUNCTION {function}(vector) IS '{mark}';",
    ]
    if table is not None:
        lines += _add(function, _quoted("table", table), column, k)
    return "\n".join([*lines, "COMMIT;"]) + "\n"


def write_pgvector(
    metric: Any,
    path: Path,
    *,
    name: str = "sdpmetric",
    table: str | None = None,
    column: str = "embedding",
) -> None:
    """Write the SQL of `pgvector_sql` to a file for ``psql -f``."""
    replace_bytes(path, pgvector_sql(metric, name=name, table=table, column=column).encode())


def _mapped(column: str) -> str:
    """The column of mapped vectors beside a column of raw ones."""
    return _quoted("column", f"{column}_mapped")


def _drop(table: str, column: str) -> str:
    """Drop the mapped column, and with it its index: its values are those of the old metric."""
    return f"ALTER TABLE {table} DROP COLUMN IF EXISTS {_mapped(column)};"


def _add(function: str, table: str, column: str, k: int) -> list[str]:
    """Compute the mapped column of all rows, and index it."""
    raw, mapped = _quoted("column", column), _mapped(column)
    made = f"vector({k}) GENERATED ALWAYS AS ({function}({raw})) STORED"
    index = f"CREATE INDEX ON {table} USING hnsw ({mapped} vector_l2_ops);"
    if k > _INDEXED:
        index = f"-- No index: pgvector indexes up to {_INDEXED} dimensions."
    return [
        f"ALTER TABLE {table} ADD COLUMN {mapped} {made};",
        index,
        f"-- SELECT * FROM {table} ORDER BY {mapped} <-> {function}($1) LIMIT 10;",
    ]


def _refusal(function: str, mark: str) -> str:
    """Refuse to replace another metric under stored values that were computed by it.

    PostgreSQL replaces a function without a word while stored columns, indexes on expressions and
    materialised views keep the values of the old one. ``mark`` tells whether the metric is another.
    """
    known = function.replace("'", "''")
    tag = "sdpmetric"
    while f"${tag}$" in function:  # it would end the text of the block
        tag += "_"
    return f"""\
DO ${tag}$
DECLARE
  old oid := to_regprocedure('{known}(vector)');
  used text;
BEGIN
  IF old IS NULL OR obj_description(old, 'pg_proc') = '{mark}' THEN RETURN; END IF;
  SELECT string_agg(DISTINCT pg_describe_object(classid, objid, objsubid), ', ') INTO used
    FROM pg_depend WHERE refclassid = 'pg_proc'::regclass AND refobjid = old AND (
      classid IN ('pg_attrdef'::regclass, 'pg_class'::regclass) OR objid IN (
        SELECT r.oid FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
          WHERE c.relkind = 'm'));
  IF used IS NOT NULL THEN
    RAISE EXCEPTION 'values of the present metric % are stored: %', old::regprocedure, used
      USING HINT = 'Export with the table and column that hold them, or under another name.';
  END IF;
END ${tag}$;"""


def _literal(row: Any) -> str:
    """A vector in pgvector's own precision: nine digits distinguish all float32."""
    return "[" + ",".join(f"{x:.9g}" for x in row.astype(np.float32).tolist()) + "]"


def _quoted(argument: str, name: str) -> str:
    """Quote an identifier, ``schema.table`` included, so that no name can inject SQL."""
    parts = name.split(".") if isinstance(name, str) else [""]
    if not all(parts) or any(not part.isprintable() for part in parts):
        raise ValueError(f"{argument} must be the name of a {argument} in SQL, got {name!r}.")
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
