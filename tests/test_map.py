"""Every module has a test file of its name, or is listed with the test that covers it."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

import sdpmetric

SOURCE = Path(sdpmetric.__file__).parent
TESTS = Path(__file__).parent

# Folders of tests that mirror no folder of the source; see README.md.
OTHERS = {"benchmarks", "campaigns", "files", "properties", "support"}

# Types and versions: nothing that runs.
NOTHING_RUNS = {"_support/typing.py", "_version.py", "problem/protocols.py"}

# By module, or by pattern where one test file goes through a whole folder.
COVERED_BY = {
    "__main__.py": "cli/test_errors.py",
    "_support/checks.py": "properties/test_errors.py",
    "_support/lazy.py": "test_public_names.py",
    "_support/optional.py": "deployment/exports/test_exports.py",
    "_support/plain_progress.py": "_support/test_progress.py",
    "learning/selection/settings_bar.py": "_support/test_progress.py",
    "_support/registry.py": "persistence/test_model_file.py",
    "_support/warnings.py": "properties/test_status.py",
    "cli/asking.py": "cli/test_ask.py",
    "cli/commands/*.py": "cli/test_commands.py",
    "cli/conversion.py": "cli/test_commands.py",
    "cli/demo_data.py": "cli/test_commands.py",
    "cli/demo_pictures.py": "cli/test_ask.py",
    "cli/evaluation.py": "cli/test_commands.py",
    "cli/fitting.py": "cli/test_commands.py",
    "cli/interrupts.py": "cli/test_commands.py",
    "cli/options.py": "cli/test_errors.py",
    "cli/report_people.py": "cli/test_report.py",
    "cli/packing.py": "cli/test_pack.py",
    "cli/tables/*.py": "cli/test_errors.py",
    "deployment/exports/*.py": "deployment/exports/test_exports.py",
    "deployment/inner_product.py": "deployment/test_deployment.py",
    "deployment/load.py": "persistence/test_model_file.py",
    "deployment/reranking.py": "deployment/test_deployment.py",
    "displays/*.py": "displays/test_displays.py",
    "engines/dask_arrays.py": "learning/estimators/test_chunked_fit.py",
    "engines/processes.py": "engines/test_engine.py",
    "evaluation/bootstrap.py": "responses/test_intervals.py",
    "evaluation/ranking.py": "evaluation/test_scores.py",
    "evaluation/relevance.py": "evaluation/test_scores.py",
    "evaluation/scorers.py": "evaluation/test_scores.py",
    "linalg/stacked_items.py": "linalg/test_items.py",
    "learning/embeddings/corpus.py": "learning/embeddings/test_negatives.py",
    "learning/embeddings/folds.py": "learning/embeddings/test_adapter.py",
    "learning/embeddings/pairs.py": "learning/embeddings/test_negatives.py",
    "learning/embeddings/ranks.py": "learning/embeddings/test_negatives.py",
    "learning/embeddings/report.py": "learning/embeddings/test_adapter.py",
    "learning/embeddings/rounds.py": "learning/embeddings/test_adapter.py",
    "learning/embeddings/scan.py": "learning/embeddings/test_negatives.py",
    "learning/embeddings/split.py": "learning/embeddings/test_adapter.py",
    "learning/estimators/base.py": "learning/estimators/test_estimators.py",
    "learning/estimators/metric.py": "learning/estimators/test_estimators.py",
    "learning/estimators/rule_choice.py": "learning/estimators/test_classifier.py",
    "learning/estimators/sdp_metric.py": "learning/estimators/test_estimators.py",
    "learning/estimators/triplet_sdp_metric.py": "learning/estimators/test_estimators.py",
    "learning/estimators/validate.py": "properties/test_interoperability.py",
    "learning/fit/labelled.py": "properties/test_errors.py",
    "learning/fit/parameters.py": "properties/test_errors.py",
    "learning/fit/prepared.py": "learning/selection/test_search.py",
    "learning/fit/quiet.py": "learning/selection/test_search.py",
    "learning/fit/solve.py": "properties/test_errors.py",
    "learning/fitted.py": "displays/test_displays.py",
    "learning/selection/base.py": "learning/selection/test_search.py",
    "learning/selection/choice.py": "learning/selection/test_search.py",
    "learning/selection/label_split.py": "learning/selection/test_search.py",
    "learning/selection/rule.py": "learning/selection/test_table.py",
    "learning/selection/sdp_metric_cv.py": "learning/selection/test_search.py",
    "learning/selection/splits.py": "learning/selection/test_search.py",
    "learning/selection/triplet_sdp_metric_cv.py": "learning/selection/test_search.py",
    "learning/selection/triplet_split.py": "learning/selection/test_search.py",
    "linalg/blocks.py": "linalg/test_products.py",
    "linalg/dense_items.py": "linalg/test_items.py",
    "linalg/distances.py": "evaluation/test_scores.py",
    "linalg/extremes.py": "linalg/test_items.py",
    "linalg/interface.py": "linalg/test_items.py",
    "linalg/kernels/edges.py": "linalg/test_laplacian.py",
    "linalg/kernels/evaluation.py": "problem/test_objective.py",
    "linalg/kernels/jit.py": "properties/test_regressions.py",
    "linalg/kernels/margins.py": "problem/test_margin.py",
    "linalg/kernels/recursion.py": "solvers/test_lbfgs.py",
    "linalg/kernels/rows.py": "linalg/test_products.py",
    "linalg/lower_bounds.py": "triplets/test_knn.py",
    "linalg/mapped.py": "triplets/test_all_triplets.py",
    "linalg/scratch_rows.py": "linalg/test_memmap_items.py",
    "linalg/pieces.py": "learning/estimators/test_chunked_fit.py",
    "linalg/sparse_items.py": "linalg/test_items.py",
    "page/collected.py": "page/test_learner.py",
    "page/downloads.py": "page/test_dashboard.py",
    "page/guards.py": "page/test_app.py",
    "page/fitting.py": "page/test_accuracy.py",
    "page/links.py": "page/test_app.py",
    "page/serve.py": "cli/test_ask.py",
    "page/stimuli.py": "cli/test_ask.py",
    "page/study.py": "page/test_sessions.py",
    "page/trainer.py": "page/test_learner.py",
    "page/texts.py": "page/test_app.py",
    "parted/chunked.py": "learning/estimators/test_chunked_fit.py",
    "parted/given.py": "learning/estimators/test_chunked_fit.py",
    "parted/inverted_lists.py": "parted/test_neighbors.py",
    "parted/labelled.py": "learning/estimators/test_chunked_fit.py",
    "parted/parts.py": "learning/estimators/test_chunked_fit.py",
    "parted/rows.py": "learning/estimators/test_chunked_fit.py",
    "parted/tasks.py": "parted/test_objective.py",
    "persistence/certificate.py": "persistence/test_model_file.py",
    "persistence/checks.py": "persistence/test_model_file.py",
    "persistence/json_arrays.py": "persistence/test_model_file.py",
    "persistence/plain.py": "persistence/test_model_file.py",
    "problem/checks.py": "problem/test_comparisons.py",
    "problem/edge_points.py": "problem/test_objective.py",
    "problem/loss_arguments.py": "properties/test_errors.py",
    "problem/loss_names.py": "test_extend.py",
    "problem/result.py": "properties/test_status.py",
    "problem/scatter.py": "problem/test_objective.py",
    "problem/units.py": "properties/test_invariances.py",
    "problem/user_units.py": "properties/test_invariances.py",
    "responses/extras.py": "responses/test_responses.py",
    "responses/from_tables.py": "responses/test_responses.py",
    "responses/ids.py": "responses/test_bad_responses.py",
    "responses/judging.py": "responses/test_sign_flip.py",
    "responses/list_readers.py": "responses/test_responses.py",
    "responses/readers.py": "responses/test_responses.py",
    "responses/tables.py": "responses/test_responses.py",
    "solvers/budget.py": "solvers/test_continuation.py",
    "solvers/climb.py": "solvers/test_low_rank.py",
    "solvers/options.py": "properties/test_errors.py",
    "solvers/working_set.py": "triplets/test_all_triplets.py",
    "spectraplex/points.py": "spectraplex/test_oracle.py",
    "spectraplex/span.py": "spectraplex/test_oracle.py",
    "triplets/labels.py": "properties/test_errors.py",
    "triplets/nearest.py": "triplets/test_knn.py",
    "triplets/nearest_faiss.py": "properties/test_scale.py",
    "triplets/remembered.py": "triplets/test_streamed.py",
    "triplets/working_triplets.py": "triplets/test_all_triplets.py",
}

MODULES = sorted(
    path.relative_to(SOURCE).as_posix()
    for path in SOURCE.rglob("*.py")
    if path.name != "__init__.py"
)


def own(module: str) -> Path:
    """Where the test file of a module's name is, if there is one."""
    path = Path(module)
    return TESTS / path.parent / f"test_{path.name}"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_tested_somewhere(module: str) -> None:
    listed = [pattern for pattern in COVERED_BY if fnmatch(module, pattern)]
    assert own(module).exists() + bool(listed) + (module in NOTHING_RUNS) >= 1
    if own(module).exists():
        assert module not in COVERED_BY


def test_the_list_is_not_stale() -> None:
    for pattern, test in COVERED_BY.items():
        assert [module for module in MODULES if fnmatch(module, pattern)], pattern
        assert (TESTS / test).is_file(), test
    assert set(MODULES) >= NOTHING_RUNS


def test_folders_mirror_the_source() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    astray = [f for f in folders if not (SOURCE / f).is_dir() and f.parts[0] not in OTHERS]
    assert astray == []
