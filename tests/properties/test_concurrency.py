"""Threads, processes and forks: no fit hangs, and all of them find the same bits.

The same machine and the same ``n_jobs``: another number of threads may round differently.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from tests.support.fits import digest, rows, short, word

ROOT = Path(__file__).parents[2]
METHODS = ["fork", "spawn", "forkserver"]
FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
# Python 3.12 and newer warn of forks while there are threads, which is what is tested here.
MAY_FORK = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@pytest.fixture(scope="module")
def expected() -> str:
    return digest()


def test_one_after_the_other(expected: str) -> None:
    digest(n_jobs=1, C=3.0)
    assert digest() == expected


def test_in_threads_of_the_user(expected: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: digest(), range(6))) == [expected] * 6


@MAY_FORK
@pytest.mark.hard
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_in_processes(method: str, expected: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    context: Any = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(digest, [2, 2, 2])) == [expected] * 3


@MAY_FORK
@pytest.mark.hard
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_in_joblib(backend: str, expected: str) -> None:
    with joblib.parallel_config(backend, n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(digest)() for _ in range(3))
    assert found == [expected] * 3


@pytest.mark.hard
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_inside_the_processes_of_a_grid_search() -> None:
    """``n_jobs`` of the search, of the metric and of the classifier at once."""
    X, y = rows()

    def found(n_jobs: int) -> Any:
        model = make_pipeline(short(tol=0.5), KNeighborsClassifier(3, n_jobs=n_jobs))
        return GridSearchCV(model, {"sdpmetric__C": [2.0, 8.0]}, cv=2, n_jobs=n_jobs).fit(X, y)

    alone, nested = found(1), found(2)
    assert nested.best_params_ == alone.best_params_
    np.testing.assert_array_equal(
        nested.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )
    assert word(nested.best_estimator_[0]) == word(alone.best_estimator_[0])


@FORK
@MAY_FORK
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_child_that_is_forked_inside_a_fit_goes_on_with_it(expected: str, tmp_path: Path) -> None:
    """Its threads stay with the parent: it starts others, and finds the same bits."""
    metric, parent = short(), os.getpid()
    children: list[int] = []

    def fork_once(now: Any) -> None:
        if now.n_iter == 3 and not children:
            children.append(os.fork())

    metric._watch = fork_once
    try:
        found = word(metric.fit(*rows()))
        if os.getpid() != parent:
            (tmp_path / "found").write_text(found, encoding="ascii")
    finally:
        if os.getpid() != parent:
            os._exit(0)
    os.waitpid(children[0], 0)
    assert found == expected
    assert (tmp_path / "found").read_text(encoding="ascii") == expected


FORKING = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore")
from tests.support.fits import digest
expected, over = digest(), threading.Event()

def work():
    while not over.is_set():
        assert digest() == expected

thread = threading.Thread(target=work)
thread.start()
codes = []
for _ in range(4):
    time.sleep(0.1)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if digest() == expected else 1)
    codes.append(os.waitpid(pid, 0)[1])
over.set()
thread.join()
print(expected)
sys.exit(any(codes))
"""


@FORK
@pytest.mark.hard
@pytest.mark.slow
def test_a_fork_while_another_thread_fits(expected: str) -> None:
    """The child's fit hung: OpenBLAS had two threads in the thread's fit, and a lock was held."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
