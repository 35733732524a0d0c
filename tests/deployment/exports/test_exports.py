"""Exports: what each file computes is the quadratic form, on correlated data, k = 3 and D = 6."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import safetensors.numpy
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sdpmetric import SDPMetric, SDPMetricCV, TripletSDPMetric, export
from sdpmetric.deployment.exports import SUFFIXES, TARGETS, faiss_index, onnx_model, pgvector_sql
from sdpmetric.learning.estimators.coordinates import Coordinates
from tests.support.lanes import some
from tests.support.problems import Floats, Ints

FILES = {
    "numpy": "m.npy",
    "json": "m.json",
    "faiss": "m.faiss",
    "onnx": "m.onnx",
    "torch": "m.safetensors",
    "sentence-transformers": "dense",
    "pgvector": "m.sql",
}


@pytest.fixture(scope="module")
def rows() -> tuple[Floats, Ints]:
    """Strongly correlated columns of different size."""
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    X[:, 0] += 2.0 * y
    X.setflags(write=False)
    return X, y


@pytest.fixture(scope="module")
def metric(rows: tuple[Floats, Ints]) -> Any:
    return SDPMetric(3, tol=1e-2).fit(*rows)


@pytest.fixture(scope="module")
def expected(rows: tuple[Floats, Ints], metric: Any) -> Floats:
    """(x - y)'M(x - y) for all pairs of ten rows."""
    return form(metric.components_, rows[0][:10])


def form(L: Floats, X: Floats) -> Floats:
    M = sum(np.outer(row, row) for row in L)
    d = X[:, None] - X[None]
    return np.asarray(np.einsum("abi,ij,abj->ab", d, M, d))


def distances(mapped: Floats) -> Floats:
    return np.asarray(np.sum((mapped[:, None] - mapped[None]) ** 2, axis=2, dtype=np.float64))


def by_numpy(path: Path, X: Floats) -> Floats:
    return np.asarray(X @ np.load(path).T)


def by_json(path: Path, X: Floats) -> Floats:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["feature_names"] is None
    return np.asarray(X @ np.array(document["components"]).T)


def by_faiss(path: Path, X: Floats) -> Floats:
    index: Any = faiss.read_index(str(path))  # which owns its transform
    return np.asarray(index.chain.at(0).apply(X.astype(np.float32)))


def by_onnx(path: Path, X: Floats) -> Floats:
    (mapped,) = onnxruntime.InferenceSession(path).run(["mapped"], {"X": X.astype(np.float32)})
    return np.asarray(mapped)


def by_torch(path: Path, X: Floats) -> Floats:
    state = safetensors.numpy.load_file(path)
    assert list(state) == ["weight"]  # torch.nn.Linear computes x @ weight.T
    assert state["weight"].dtype == np.float32
    return np.asarray(X @ state["weight"].T)


def by_dense(path: Path, X: Floats) -> Floats:
    assert sorted(os.listdir(path)) == ["config.json", "model.safetensors"]
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    state = safetensors.numpy.load_file(path / "model.safetensors")
    assert list(state) == ["linear.weight"]
    weight = state["linear.weight"]
    assert (config["out_features"], config["in_features"]) == weight.shape
    assert config["bias"] is False
    assert config["activation_function"] == "torch.nn.modules.linear.Identity"
    return np.asarray(X @ weight.T)


def by_sql(path: Path, X: Floats) -> Floats:
    text = path.read_text(encoding="utf-8")
    vectors = re.findall(r"^  inner_product\(x, '(\[.*\])'::vector\),?$", text, re.MULTILINE)
    assert f"]::vector({len(vectors)});" in text
    return np.asarray(X @ np.array([json.loads(vector) for vector in vectors]).T)


READERS: dict[str, Callable[[Path, Floats], Floats]] = {
    "numpy": by_numpy,
    "json": by_json,
    "faiss": by_faiss,
    "onnx": by_onnx,
    "torch": by_torch,
    "sentence-transformers": by_dense,
    "pgvector": by_sql,
}


@pytest.mark.parametrize("to", TARGETS)
def test_quadratic_form(
    to: str, rows: tuple[Floats, Ints], metric: Any, expected: Floats, tmp_path: Path
) -> None:
    path = export(metric, str(tmp_path / FILES[to]), to)
    assert path == tmp_path / FILES[to]
    assert os.listdir(tmp_path) == [path.name]
    exact = to in ("numpy", "json")
    rtol, atol = (1e-10, 1e-12) if exact else (1e-4, 1e-5)
    np.testing.assert_allclose(
        distances(READERS[to](path, rows[0][:10])), expected, rtol=rtol, atol=atol
    )
    np.testing.assert_allclose(
        np.mean(expected), np.mean(metric.pairwise_distances(rows[0][:10]) ** 2)
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_extension_decides(suffix: str, metric: Any, tmp_path: Path) -> None:
    by_name, by_suffix = tmp_path / f"a{suffix}", tmp_path / f"b{suffix.upper()}"
    export(metric, by_name, SUFFIXES[suffix])
    export(metric, by_suffix)
    assert by_name.read_bytes() == by_suffix.read_bytes()


@pytest.mark.parametrize("to", TARGETS)
def test_files_are_replaced(
    to: str, rows: tuple[Floats, Ints], metric: Any, tmp_path: Path
) -> None:
    other = SDPMetric(1, loss="squared_hinge", tol=1e-2).fit(*rows)
    path = tmp_path / FILES[to]
    export(other, path, to)
    export(metric, path, to)
    assert os.listdir(tmp_path) == [path.name]
    assert READERS[to](path, rows[0]).shape[1] == 3


@pytest.mark.filterwarnings("ignore:Faiss")
@pytest.mark.parametrize("factory", some(["Flat", "HNSW8", "IVF2,Flat"], 1))
def test_faiss_searches_raw_rows(
    factory: str, rows: tuple[Floats, Ints], metric: Any, expected: Floats, tmp_path: Path
) -> None:
    X = rows[0].astype(np.float32)
    export(metric, tmp_path / "m.faiss", rows=rows[0][:10], factory=factory)
    index = faiss.read_index(str(tmp_path / "m.faiss"))
    if factory.startswith("IVF"):
        faiss.extract_index_ivf(index).nprobe = 2
    found, nearest = index.search(X[:10], 10)
    np.testing.assert_allclose(found, np.sort(expected, axis=1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        np.take_along_axis(expected, nearest, axis=1), found, rtol=1e-3, atol=1e-4
    )
    assert faiss_index(metric).ntotal == 0


def test_feature_names_in_json(rows: tuple[Floats, Ints], tmp_path: Path) -> None:
    table = pd.DataFrame(rows[0], columns=list("abcdeß"))
    export(SDPMetric(tol=1e-2).fit(table, rows[1]), tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert document["feature_names"] == list("abcdeß")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["raw", "standard", "within"])
def test_onnx_of_a_pipeline(kind: str, rows: tuple[Floats, Ints], tmp_path: Path) -> None:
    X, y = rows
    model = make_pipeline(StandardScaler(), Coordinates(kind), SDPMetric(3, tol=1e-2)).fit(X, y)
    export(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    (mapped,) = session.run(None, {"X": X.astype(np.float32)})
    deviation = X.std(axis=0)
    scale = model[1].map_ if model[1].map_.ndim == 2 else np.diag(model[1].map_)
    expected = form(model[2].components_ @ scale / deviation, X[:10])
    np.testing.assert_allclose(distances(mapped[:10]), expected, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("search", [False, True])
def test_onnx_of_a_classifier(search: bool, rows: tuple[Floats, Ints], tmp_path: Path) -> None:
    X, y = rows
    metric: Any = SDPMetric(3, tol=1e-2)
    if search:
        options: dict[str, Any] = {"n_neighbors": 2, "n_impostors": 2, "n_rounds": 1, "cv": 2}
        metric = SDPMetricCV([2.0], n_components=3, prior_weight=0.0, **options)
    model = make_pipeline(StandardScaler(), metric, KNeighborsClassifier(3)).fit(X, y)
    export(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    labels, shares = session.run(None, {"X": X.astype(np.float32)})
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("rest", ["drop", "passthrough"])
def test_onnx_of_columns_selected_by_name(rest: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"age (years)": rng.normal(size=60), "income": rng.normal(size=60)}
    words = {"city": rng.choice(["a", "b", "c"], 60), "size": rng.choice(["x", "y"], 60)}
    table = pd.DataFrame(columns | words)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    named = ColumnTransformer(
        [("n", numbers, ["income"]), ("c", OneHotEncoder(), ["size", "city"])], remainder=rest
    )
    model = make_pipeline(named, SDPMetric(2, tol=1e-2)).fit(table, columns["income"] > 0)
    export(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    kinds = {"tensor(float)": np.float32, "tensor(string)": object}
    columns_of = {re.sub(r"\W", "_", column): column for column in table}
    given = {
        found.name: table[[columns_of[found.name]]].to_numpy(kinds[found.type])
        for found in session.get_inputs()
    }
    (mapped,) = session.run(None, given)
    np.testing.assert_allclose(mapped, model.transform(table), atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_onnx_of_a_step_that_its_converter_refuses(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [0.0, 1.0, 5.0, 6.0], "b": ["x", "y", "x", "y"]})
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    named = ColumnTransformer([("w", words, ["b"])], remainder="passthrough")
    model = make_pipeline(named, SDPMetric(1, n_neighbors=1, tol=1e-2)).fit(table, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"skl2onnx cannot convert: .*missing values"):
        export(model, tmp_path / "m.onnx")
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_onnx_of_a_step_nobody_knows(rows: tuple[Floats, Ints], tmp_path: Path) -> None:
    class Mine(StandardScaler):
        pass

    model = make_pipeline(Mine(), SDPMetric(3, tol=1e-2)).fit(*rows)
    with pytest.raises(ValueError, match=r"that skl2onnx cannot convert: 'mine': .*Mine"):
        export(model, tmp_path / "m.onnx")
    assert os.listdir(tmp_path) == []


def with_gaps(rows: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    X = rows[0].copy()
    X[::7, 1], X[::11, 3] = np.nan, np.nan
    return X, rows[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("features", ["missing-only", "all"])
def test_onnx_of_a_missing_indicator(
    features: str, rows: tuple[Floats, Ints], tmp_path: Path
) -> None:
    X, y = with_gaps(rows)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    every = slice(0, X.shape[1])
    both = ColumnTransformer(
        [("numbers", numbers, every), ("gaps", MissingIndicator(features=features), every)]
    )
    model = make_pipeline(both, SDPMetric(tol=1e-2)).fit(X, y)
    export(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    (mapped,) = session.run(None, {"X": X.astype(np.float32)})
    np.testing.assert_allclose(mapped, model.transform(X), rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_onnx_of_a_missing_indicator_for_another_value(
    rows: tuple[Floats, Ints], tmp_path: Path
) -> None:
    X, y = with_gaps(rows)
    gaps = MissingIndicator(missing_values=-1, features="all")
    X = np.nan_to_num(X, nan=-1.0)
    model = make_pipeline(gaps, SDPMetric(tol=1e-2)).fit(X, y)
    with pytest.raises(ValueError, match=r"'missingindicator': .* missing_values=-1, expected nan"):
        export(model, tmp_path / "m.onnx")


def test_onnx_of_an_imputer_that_adds_columns(rows: tuple[Floats, Ints], tmp_path: Path) -> None:
    """Without its columns, the file that was written failed at its first row."""
    X, y = with_gaps(rows)
    imputer = make_pipeline(SimpleImputer(add_indicator=True))
    named = ColumnTransformer([("numbers", imputer, slice(0, X.shape[1]))])
    model = make_pipeline(named, SDPMetric(tol=1e-2)).fit(X, y)
    words = r"'columntransformer.numbers.simpleimputer' has add_indicator=True, expected a Missing"
    with pytest.raises(ValueError, match=words):
        export(model, tmp_path / "m.onnx")
    assert os.listdir(tmp_path) == []


def test_onnx_of_one_metric_has_one_node(metric: Any) -> None:
    made = onnx_model(metric)
    assert [node.op_type for node in made.graph.node] == ["Gemm"]
    assert (made.ir_version, made.opset_import[0].version) == (8, 17)


def test_sql_for_a_table(metric: Any, tmp_path: Path) -> None:
    names = {"name": "near", "table": 'shop.odd"name', "column": "vec"}
    export(metric, tmp_path / "m.sql", **names)
    expected = [
        'CREATE OR REPLACE FUNCTION "near"(x vector) RETURNS vector',
        'ALTER TABLE "shop"."odd""name" ADD COLUMN "vec_mapped" vector(3) GENERATED ALWAYS AS '
        '("near"("vec")) STORED;',
        'CREATE INDEX ON "shop"."odd""name" USING hnsw ("vec_mapped" vector_l2_ops);',
    ]
    text = (tmp_path / "m.sql").read_text(encoding="utf-8")
    assert text == pgvector_sql(metric, **names)
    assert all(line in text.splitlines() for line in expected)


@pytest.mark.parametrize("bad", [{"name": ""}, {"table": "a..b"}, {"name": 3}, {"table": "a\nb"}])
def test_names_in_sql(bad: dict[str, Any], metric: Any) -> None:
    with pytest.raises(ValueError, match=rf"{next(iter(bad))} must be the name of a .* in SQL"):
        pgvector_sql(metric, **bad)


def test_limits_of_pgvector(rows: tuple[Floats, Ints]) -> None:
    metric = SDPMetric(3, tol=1e-2).fit(*rows)
    metric.components_ = np.ones((1, 16_001))
    with pytest.raises(ValueError, match=r"up to 16000 features .* got 16001 and 1"):
        pgvector_sql(metric)
    metric.components_ = np.ones((2_001, 2))
    text = pgvector_sql(metric, table="t")
    assert "CREATE INDEX" not in text
    assert "up to 2000 dimensions" in text


@pytest.mark.parametrize(
    ("name", "expected"),
    [("m.npy", "table is no option of to='numpy', which takes none"), ("m.sql", "name, table")],
)
def test_options_of_another_target(name: str, expected: str, metric: Any, tmp_path: Path) -> None:
    option = {"table": "t"} if name == "m.npy" else {"factory": "Flat"}
    with pytest.raises(ValueError, match=expected):
        export(metric, tmp_path / name, **option)
    assert os.listdir(tmp_path) == []


def test_bad_targets(metric: Any, tmp_path: Path) -> None:
    cases: list[tuple[tuple[Any, ...], str]] = [
        ((tmp_path / "m",), r"path must end in one of \.npy, .* unless to is given, got"),
        ((tmp_path / "m.pkl",), r"path must end in one of"),
        ((tmp_path / "m.pkl", "keras"), r"to must be one of \('numpy', .* got 'keras'"),
        ((tmp_path / "m.pkl", 3), r"to must be one of .* got 3"),
        ((tmp_path / "m.npy", "faiss"), r"must not end in \.npy for to='faiss': that is 'numpy'"),
        ((3, "faiss"), r"path must be the name of a file, got 3"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            export(metric, *arguments)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("to", TARGETS)
def test_what_cannot_be_exported(to: str, metric: Any, tmp_path: Path) -> None:
    path = tmp_path / FILES[to]
    with pytest.raises(NotFittedError):
        export(TripletSDPMetric(), path, to)
    for wrong in (np.eye(3), make_pipeline(metric)):
        if to != "onnx":
            with pytest.raises(ValueError, match=r"metric must be a fitted metric such as .* got"):
                export(wrong, path, to)
    with pytest.raises(FileNotFoundError, match=r"Cannot write .*there is no folder"):
        export(metric, tmp_path / "none" / FILES[to], to)
    if to != "sentence-transformers":
        (tmp_path / "d").mkdir()
        with pytest.raises(ValueError, match=r"path must name a file, got the folder"):
            export(metric, tmp_path / "d", to)
    assert [name for name in os.listdir(tmp_path) if name != "d"] == []


def test_unfitted_pipeline(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        export(make_pipeline(SDPMetric()), tmp_path / "m.onnx")


def saved_model(folder: Path) -> Path:
    """The files of a saved SentenceTransformer that an export reads."""
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "1_Pooling" / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {
            "idx": 1,
            "name": "1",
            "path": "1_Pooling",
            "type": "sentence_transformers.models.Pooling",
        },
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    settings = {"prompts": {"query": "?"}, "similarity_fn_name": "cosine"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    return folder


def test_a_whole_model_compares_by_euclidean_distance(metric: Any, tmp_path: Path) -> None:
    """Cosine, the default of sentence-transformers, agreed on 57 % of the ten nearest."""
    base, made = saved_model(tmp_path / "base"), tmp_path / "made"
    for _ in range(2):  # the second time in place of the first
        export(metric, made, "sentence-transformers", base=base)
        settings = json.loads((made / "config_sentence_transformers.json").read_text())
        assert settings == {"prompts": {"query": "?"}, "similarity_fn_name": "euclidean"}
        modules = json.loads((made / "modules.json").read_text())
        assert modules[:2] == json.loads((base / "modules.json").read_text())
        assert modules[2]["path"] == "2_Dense"
        assert modules[2]["type"] == "sentence_transformers.models.Dense"
        assert (made / "model.safetensors").read_bytes() == b"weights"
        X = np.random.default_rng(0).normal(size=(5, metric.n_features_in_))
        np.testing.assert_allclose(by_dense(made / "2_Dense", X), metric.transform(X), rtol=1e-5)
    (made / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"also holds 'notes.txt'"):
        export(metric, made, "sentence-transformers", base=base)


def test_a_base_that_is_no_model(metric: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"base must be a folder that SentenceTransformer.save"):
        export(metric, tmp_path / "made", "sentence-transformers", base=tmp_path / "none")
    base = saved_model(tmp_path / "base")
    with pytest.raises(ValueError, match=r"path must not be base itself"):
        export(metric, base, "sentence-transformers", base=base)
    assert sorted(os.listdir(tmp_path)) == ["base"]


def test_folders_of_others_are_left_alone(metric: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"path must name a new folder .* also holds 'notes.txt'"):
        export(metric, tmp_path, "sentence-transformers")
    with pytest.raises(ValueError, match=r"path must name a folder, got the file .*notes\.txt"):
        export(metric, tmp_path / "notes.txt", "sentence-transformers")
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("to", "missing", "message"),
    [
        ("faiss", "faiss", r"Faiss index needs faiss: pip install 'sdpmetric\[faiss\]'"),
        ("onnx", "onnx", r"ONNX needs onnx: pip install 'sdpmetric\[onnx\]'"),
        ("onnx", "skl2onnx", r"A pipeline in ONNX needs skl2onnx: pip install skl2onnx"),
    ],
)
def test_missing_packages(
    to: str, missing: str, message: str, metric: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = util.find_spec
    found: Any = lambda name: None if name == missing else known(name)  # noqa: E731
    monkeypatch.setattr("sdpmetric._support.optional.find_spec", found)
    with pytest.raises(ImportError, match=message):
        export(make_pipeline(metric) if missing == "skl2onnx" else metric, "x", to)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": np.ones((3, 5))}, r"rows must have 6 columns, as the metric has, got 5"),
        ({"rows": [[np.nan] * 6]}, r"rows"),
        ({"factory": 3}, r"factory must be a description .* got 3"),
    ],
)
def test_bad_options_of_faiss(
    options: dict[str, Any], message: str, metric: Any, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        export(metric, tmp_path / "m.faiss", **options)
    assert os.listdir(tmp_path) == []
