"""Certificates against the truth: ``python -m tests.campaigns.certificates --problems 10000``.

Each problem is fitted above and below the dense limit, and both results are compared with the truth
in long double. Most are fits of ``tests/support/adversaries.py``, some take the ways of large
problems (``large.py``), some are fits to all triplets, by lists and by tiles
(``every_triplet.py``), some matrices of ``hidden.py``. A finding is a gap below the true one, a
wrong objective, a bound below an objective, a metric outside the span of the compared differences,
a NaN, or any error.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from sdpmetric import Result
from sdpmetric.spectraplex.oracle import Oracle
from tests.support.adversaries import KINDS, Adversary, draw
from tests.support.every_triplet import WAYS, draw_labelled
from tests.support.hidden import hidden
from tests.support.large import as_if_large
from tests.support.truth import Truth, truth

__all__ = ["ALL_TRIPLETS", "AS_IF_LARGE", "MATRICES", "Verdict", "judge"]

AS_IF_LARGE = "as if large"
ALL_TRIPLETS = "all triplets"
MATRICES = "hidden eigenvalues"
_TOLERANCES = 1e-2, 1e-4, 1e-6, 1e-8
_MAX_ITER = {"low-rank": 300, "frank-wolfe": 40}


@dataclass(frozen=True)
class Verdict:
    """One result: what is wrong with it, and how far its gap is from the truth.

    ``under`` is by how much the gap is below the true one, ``loose`` by how much it is above,
    relative to the larger of the true gap and the tolerance.
    """

    kind: str
    seed: int
    findings: tuple[str, ...] = ()
    converged: bool = False
    under: float = -np.inf
    loose: float = 0.0


def judge(kind: str, seed: int) -> list[Verdict]:
    """Judge the results of one problem."""
    try:
        if kind == MATRICES:
            return _judge_matrix(seed)
        if kind == AS_IF_LARGE:
            return _judge_as_if_large(seed)
        return _judge_all_triplets(seed) if kind == ALL_TRIPLETS else _judge_fits(kind, seed)
    except Exception:
        return [Verdict(kind, seed, (traceback.format_exc(limit=-3),))]


def _judge_fits(kind: str, seed: int) -> list[Verdict]:
    problem, rng = draw(kind, seed), np.random.default_rng([seed, 7])
    tol = float(rng.choice(_TOLERANCES))
    solver = "frank-wolfe" if rng.random() < 0.1 else "low-rank"
    results = [
        problem.solve(
            tol=tol,
            solver=solver,
            max_iter=_MAX_ITER[solver],
            solver_options={"dense_limit": limit},
        )
        for limit in (1, 1024)
    ]
    return _compared(problem, tol, results)


def _judge_as_if_large(seed: int) -> list[Verdict]:
    rng = np.random.default_rng([seed, 10])
    problem = replace(draw(str(rng.choice(list(KINDS))), seed), kind=AS_IF_LARGE)
    tol = float(rng.choice(_TOLERANCES))
    results = []
    for limit in (1, 1024):
        with as_if_large(rng):
            results.append(
                problem.solve(
                    tol=tol,
                    max_iter=_MAX_ITER["low-rank"],
                    time_limit=1e-9 if rng.random() < 0.2 else None,
                    solver_options={"dense_limit": limit},
                    n_jobs=int(rng.choice([1, 3])),
                )
            )
    return _compared(problem, tol, results)


def _judge_all_triplets(seed: int) -> list[Verdict]:
    labelled, rng = draw_labelled(seed), np.random.default_rng([seed, 9])
    settings: dict[str, Any] = {
        "tol": float(rng.choice(_TOLERANCES)),
        "max_iter": _MAX_ITER["low-rank"],
        "dense_limit": int(rng.choice([1, 1024])),
    }
    results = []
    for way in WAYS:
        with as_if_large(rng) if rng.random() < 0.7 else nullcontext():
            results.append(labelled.fit(**settings, way=way, n_jobs=int(rng.choice([1, 3]))))
    return _compared(replace(labelled.problem, kind=ALL_TRIPLETS), settings["tol"], results)


def _compared(problem: Adversary, tol: float, results: list[Result]) -> list[Verdict]:
    truths = [truth(problem, result) for result in results]
    best = int(np.argmax([true.value for true in truths]))
    highest = truths[best].value - truths[best].value_rounding
    return [
        _verdict(problem, tol, result, true, highest)
        for result, true in zip(results, truths, strict=True)
    ]


def _verdict(
    problem: Adversary, tol: float, result: Result, true: Truth, highest: float
) -> Verdict:
    room = true.value_rounding
    wrong = {
        "a number is not finite": not np.isfinite(
            [result.rho, result.objective, *result.components.ravel()]
        ).all(),
        "the gap is NaN, or finite without a bound": not result.gap >= 0.0
        or (result.upper_bound == np.inf and result.gap < np.inf),
        "the gap is below the true one": not true.gap <= result.gap + true.gap_rounding,
        "the objective is wrong": not abs(result.objective - true.value) <= room,
        "the bound is below the objective": not result.objective <= result.upper_bound,
        "the bound is below another objective": not highest <= result.upper_bound + room,
        "M is outside the span": not true.outside <= 1e-6,
    }
    return Verdict(
        problem.kind,
        problem.seed,
        tuple(name for name, found in wrong.items() if found),
        result.converged,
        true.gap - result.gap,
        0.0 if true.gap == -np.inf else (result.gap - true.gap) / max(tol, abs(true.gap)),
    )


def _judge_matrix(seed: int) -> list[Verdict]:
    G, rng = hidden(seed), np.random.default_rng([seed, 8])
    top, size = float(G.e.max()), float(np.abs(G.e).max())
    tol = float(rng.choice(_TOLERANCES))
    reached = top - float(rng.choice([np.inf, 0.3, 1e-2, 1e-4])) * size
    found = Oracle(G, dense_limit=1, seed=seed).leading(
        G, int(rng.choice([1, 8])), tol=tol, reached=np.inf if reached == -np.inf else reached
    )
    wrong = not found.bound >= top - 1e-14 * size
    return [
        Verdict(
            MATRICES,
            seed,
            ("the bound is below the largest eigenvalue",) if wrong else (),
            found.bound <= top + 0.06 * (tol * size if reached == -np.inf else top - reached),
            (top - found.bound) / size,
            (found.bound - top) / size,
        )
    ]


def _judge_number(number: int) -> list[Verdict]:
    kinds = [*KINDS, AS_IF_LARGE, ALL_TRIPLETS, MATRICES]
    return judge(kinds[number % len(kinds)], number // len(kinds))


def _verdicts(problems: int, first: int, jobs: int) -> Iterator[Verdict]:
    pool = ProcessPoolExecutor(jobs, get_context("spawn"))
    try:
        for verdicts in pool.map(_judge_number, range(first, first + problems), chunksize=10):
            yield from verdicts
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, not all problems that are left


def main(argv: list[str] | None = None) -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--problems", type=int, default=10_000)
    arguments.add_argument("--first", type=int, default=0, help="number of the first problem")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = arguments.parse_args(argv)
    by_kind = defaultdict(list)
    try:
        for verdict in _verdicts(options.problems, options.first, options.jobs):
            by_kind[verdict.kind].append(verdict)
            for finding in verdict.findings:
                print(f"{verdict.kind} {verdict.seed}: {finding}", flush=True)
    except KeyboardInterrupt:
        print("Interrupted: these are the results so far.")
    print(f"{'kind':20} results  proven  findings  largest under-estimate  looseness 50 %  95 %")
    for kind, verdicts in by_kind.items():
        loose = np.array([v.loose for v in verdicts])
        print(
            f"{kind:20} {len(verdicts):7} {sum(v.converged for v in verdicts):7} "
            f"{sum(map(bool, (v.findings for v in verdicts))):9} "
            f"{max(v.under for v in verdicts):23.1e} "
            f"{np.median(loose):15.1e} {np.quantile(loose, 0.95):7.1e}"
        )
    return int(any(v.findings for found in by_kind.values() for v in found))


if __name__ == "__main__":
    sys.exit(main())
