"""The pages "add a loss" and "add a solver" show real source, which works with everything else."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.extend.exponential_loss import Exponential
from examples.extend.rank_one_solver import RankOne

import sdpmetric
from sdpmetric import Status, check_loss, solve
from sdpmetric.problem.loss_names import LOSSES as TABLE
from sdpmetric.solvers import SOLVERS, Solver
from sdpmetric.solvers.protocol import Limits
from tests.support.problems import LOSSES, Case, labelled, random_case

ROOT = Path(__file__).parent.parent
INCLUDE = re.compile(r"```\{literalinclude\} (\S+)\n((?::[^\n]*\n)*)```")


@pytest.fixture
def rank_one() -> Iterator[str]:
    SOLVERS["rank-one"] = RankOne
    yield "rank-one"
    del SOLVERS["rank-one"]


def test_the_reference_problems_know_every_loss() -> None:
    assert sorted(LOSSES) == sorted(TABLE)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_solver_of_the_page_with_every_loss(loss: str, rank_one: str) -> None:
    case = random_case(8, loss)
    found = case.solve(solver=rank_one, tol=0.1 if loss == "hinge" else 0.02)
    expected = case.solve(tol=1e-6)
    assert found.status is Status.CONVERGED
    assert found.objective <= expected.upper_bound + 1e-9
    assert expected.objective <= found.upper_bound + 1e-9


def test_the_solver_of_the_page_has_options_and_statuses(rank_one: str) -> None:
    case = random_case(8)
    short = case.solve(solver=rank_one, tol=0.05, solver_options={"longest": 0.5})
    assert short.converged
    with pytest.raises(ValueError, match="which this solver does not know; expected some of dense"):
        case.solve(solver=rank_one, solver_options={"width": 1})
    X, y = labelled(np.random.default_rng(0), 60, 4)
    every = sdpmetric.SDPMetric(solver=rank_one, triplets="all", h=0.5, tol=0.05).fit(X, y)
    assert every.converged_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_solver_of_the_page_is_interrupted_at_any_moment(rank_one: str) -> None:
    case = random_case(8)
    for moment in range(5):

        def pressed(now: Any, moment: int = moment) -> None:
            if now.n_iter >= moment:
                raise KeyboardInterrupt

        found = case.solve(solver=rank_one, tol=1e-9, callback=pressed, on_interrupt="return")
        assert found.status is Status.INTERRUPTED
        assert found.objective <= found.upper_bound


@pytest.mark.parametrize("solver", [*SOLVERS, "rank-one"])
def test_the_loss_of_the_page_with_every_solver(solver: str, rank_one: str) -> None:
    loss = Exponential(0.5)
    check_loss(loss)
    case: Case = random_case(8)
    found = solve(case.X, case.triplets, loss=loss, C=case.C, solver=solver, tol=0.02)
    expected = solve(case.X, case.triplets, loss=loss, C=case.C, tol=1e-6)
    assert found.converged
    assert found.objective <= expected.upper_bound + 1e-9
    assert expected.objective <= found.upper_bound + 1e-9


@pytest.mark.parametrize("page", ["add-a-loss.md", "add-a-solver.md"])
def test_included_source_exists(page: str) -> None:
    found = INCLUDE.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert found
    for path, options in found:
        file = (ROOT / "docs" / path).resolve()
        assert file.exists()
        for name in re.findall(r":pyobject: (\w+)", options):
            text = file.read_text(encoding="utf-8")
            assert re.search(rf"^class {name}\b", text, re.MULTILINE)


def test_contributing_shows_the_contract_as_it_is() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    expected = "\n\n".join(inspect.getsource(kind) for kind in (Limits, Solver))
    assert [block.strip() for block in blocks] == [expected.strip()]


def test_contributing_lists_every_room() -> None:
    """The table of rooms is that of the packages, from the top floor down, in their own words."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)/` \| (.*?) \|$", text, re.MULTILINE))
    packages = Path(sdpmetric.__file__).parent
    expected = {}
    for init in packages.glob("*/__init__.py"):
        first = init.read_text(encoding="utf-8").split('"""')[1].strip().split("\n\n")[0]
        expected[init.parent.name] = " ".join(first.split())
    assert rows == expected
