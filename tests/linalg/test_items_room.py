"""X is touched in one room: outside `linalg`, items are asked, never indexed or multiplied."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sdpmetric

ROOT = Path(sdpmetric.__file__).parent
ITEMS = {"X", "raw"}  # what items go by, as variable or attribute, and what holds their numbers
OPENED = {"T", "data", "indices", "indptr", "tocsr", "toarray"}
# Where X is made or first recognised, and is not yet items; and where X is something else.
GIVEN = {
    "cli/evaluation.py": "a scaler centres dense tables alone",
    "cli/tables/table.py": "fills an array from a file",
    "cli/tables/model_rows.py": "the last columns of a sparse file may be missing",
    "datasets.py": "makes rows",
    "spectraplex/krylov.py": "X are eigenvectors",
    "responses/suggest.py": "reads a few rows of a data frame, which the metric then validates",
}


def named(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ITEMS
    return isinstance(node, ast.Name) and node.id in ITEMS


def violations(source: str) -> Iterator[str]:
    """Line and kind of each place that looks inside of items."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name == "issparse" or name.startswith("isspmatrix"):
                yield f"{node.lineno}: asks whether rows are sparse"
        if isinstance(node, ast.Subscript) and named(node.value):
            yield f"{node.lineno}: indexes items"
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
            if any(named(side) for side in sides):
                yield f"{node.lineno}: multiplies items"
        if isinstance(node, ast.Attribute) and node.attr in OPENED and named(node.value):
            yield f"{node.lineno}: opens items"


def outside() -> list[str]:
    paths = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
    return sorted(path for path in paths if not path.startswith("linalg/") and path not in GIVEN)


@pytest.mark.parametrize("path", outside())
def test_items_are_touched_in_linalg_alone(path: str) -> None:
    assert list(violations((ROOT / path).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", GIVEN)
def test_the_exceptions_are_needed(path: str) -> None:
    assert list(violations((ROOT / path).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "planted",
    [
        "Y = X[rows]",
        "Y = self.X @ P",
        "Y = P.T @ objective.X",
        "Y = items.raw[:, kept]",
        "if sp.issparse(table): pass",
        "G = X.T @ S",
        "found = objective.X.raw.indptr",
    ],
)
def test_a_planted_violation_is_found(planted: str) -> None:
    assert list(violations(planted))


@pytest.mark.parametrize("allowed", ["Y = X.times(P)", "n = X.shape[0]", "model.fit(items.raw, y)"])
def test_asking_is_allowed(allowed: str) -> None:
    assert not list(violations(allowed))
