"""Model files: the same metric comes back, to the bit; anything else is refused in one sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

import sdpmetric
from sdpmetric import (
    EmbeddingAdapter,
    Huber,
    SDPMetric,
    SDPMetricCV,
    Status,
    TripletSDPMetric,
    TripletSDPMetricCV,
    load,
)
from sdpmetric.persistence import json_arrays, model_file
from sdpmetric.persistence.certificate import last_fit
from sdpmetric.persistence.model_file import FORMAT_VERSION, read_header
from tests.support.problems import PAPER, UserLoss, consistent, random_triplets

KINDS = ("safetensors", "json")
FILES = Path(__file__).parent.parent / "files"
SMALL: dict[str, Any] = {
    "Cs": [2.0],
    "prior_weight": [0.0],
    "coordinates": ["within"],
    "cv": 2,
    "tol": 1e-2,
}
CERTIFICATE = ("objective", "upper_bound", "gap", "rho", "scale")

Blobs = tuple[Any, Any]


def labelled(**options: Any) -> Any:
    return lambda X, y: SDPMetric(tol=1e-2, **options).fit(X, y)


def by_triplets(X: Any, y: Any) -> Any:
    T = random_triplets(np.random.default_rng(0), len(X), 100)
    return TripletSDPMetric(C=2.0).fit(X, consistent(T, X, np.diag([1.0, 0, 0, 0, 0])))


def chosen(X: Any, y: Any) -> Any:
    grids: dict[str, Any] = {"n_neighbors": 2, "n_impostors": [2], "n_rounds": 1}
    return SDPMetricCV(**SMALL, **grids).fit(X, y)


def chosen_by_triplets(X: Any, y: Any) -> Any:
    T = random_triplets(np.random.default_rng(0), len(X), 100)
    T = consistent(T, X, np.diag([1.0, 0, 0, 0, 0]))
    return TripletSDPMetricCV(**SMALL | {"coordinates": ["raw"]}).fit(X, T)


def adapted(X: Any, y: Any) -> Any:
    pairs = {"query": np.arange(30), "positive": np.arange(30) + 30}
    grids: dict[str, Any] = {"skip": 0, "n_negatives": 2, "n_rounds": 1, "n_resamples": 50}
    return EmbeddingAdapter([2.0], prior_weight=0.5, cv=2, tol=1e-2, **grids).fit(X, pairs)


FITS = {
    "plain": labelled(),
    "cut": labelled(n_components=2, loss="squared_hinge", C=1),
    "options": labelled(solver_options={"rank": 2}, class_weight={0: 2.0, np.int64(1): 0.5}),
    "loss": labelled(loss=Huber(0.1), random_state=np.int64(3)),
    "prior": labelled(prior=np.asfortranarray(np.diag([1.0, 2, 3, 4, 5])), prior_weight=0.2),
    "list": labelled(prior=np.eye(5).tolist(), prior_weight=0.2),
    "triplets": by_triplets,
    "search": chosen,
    "triplet search": chosen_by_triplets,
    "adapter": adapted,
}


def assert_same(a: Any, b: Any) -> None:
    """Equal in value and kind, all the way down."""
    if isinstance(b, np.ndarray):
        assert a.dtype == b.dtype
        assert b.ndim == 1 or a.flags.f_contiguous == b.flags.f_contiguous
        np.testing.assert_array_equal(a, b)
        if b.dtype.kind == "f":
            assert a.tobytes() == b.tobytes()
    elif hasattr(b, "get_params"):
        assert type(a) is type(b)
        assert_same(a.get_params(deep=False), b.get_params(deep=False))
        assert_same(vars(a), vars(b))
    elif isinstance(b, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(b, (list, tuple)):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    else:
        assert a == b


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_round_trip(fit: Any, kind: str, blobs: Blobs, tmp_path: Path) -> None:
    metric = fit(*blobs)
    path = tmp_path / f"m.{kind}"
    metric.save(path)
    assert os.listdir(tmp_path) == [path.name]
    back = load(str(path))
    assert_same(back, metric)
    X = blobs[0]
    assert back.transform(X).tobytes() == metric.transform(X).tobytes()
    assert_same(back.pairwise_distances(X), metric.pairwise_distances(X))
    assert back.get_metric()(X[0], X[1]) == metric.get_metric()(X[0], X[1])
    metric.save(path)  # in place of the first
    assert_same(load(path), metric)


def test_a_loaded_metric_is_fitted_again(blobs: Blobs, tmp_path: Path) -> None:
    X, y = blobs
    metric = SDPMetric(warm_start=True, tol=1e-6, **PAPER).fit(X, y)
    metric.save(tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    assert isinstance(back.status_, Status)
    assert back.fit(X, y).n_iter_ < metric.n_iter_ / 3
    back.components_[0, 0] = 1.0  # the arrays are the user's own


@pytest.mark.parametrize("kind", KINDS)
def test_feature_names(kind: str, blobs: Blobs, tmp_path: Path) -> None:
    table = pd.DataFrame(blobs[0], columns=["a", "b", "c", "größe", 'd"'])
    metric = SDPMetric(tol=1e-2).fit(table, blobs[1])
    metric.save(tmp_path / f"m.{kind}")
    back = load(tmp_path / f"m.{kind}")
    assert back.feature_names_in_.tolist() == list(table.columns)
    np.testing.assert_array_equal(back.transform(table), metric.transform(table))
    with pytest.raises(ValueError, match="feature names"):
        back.transform(table.rename(columns={"a": "z"}))
    assert read_header(tmp_path / f"m.{kind}")["feature_names"] == list(table.columns)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit", [labelled(C=3.0), chosen])
def test_header_tells_what_it_is(fit: Any, kind: str, blobs: Blobs, tmp_path: Path) -> None:
    metric = fit(*blobs)
    metric.save(tmp_path / f"m.{kind}")
    header = read_header(tmp_path / f"m.{kind}")
    last = getattr(metric, "best_estimator_", metric)
    assert header["format_version"] == FORMAT_VERSION
    assert header["library_version"] == sdpmetric.__version__
    assert header["class"] == type(metric).__name__
    assert header["n_features"] == 5
    assert header["feature_names"] is None
    assert header["status"] == last.status_
    assert [header[name] for name in CERTIFICATE] == [getattr(last, f"{n}_") for n in CERTIFICATE]
    assert set(header["params"]) == set(metric.get_params()) - {"checkpoint", "progress"}


def test_other_languages_find_the_components(blobs: Blobs, tmp_path: Path) -> None:
    metric = labelled()(*blobs)
    metric.save(tmp_path / "m.safetensors")
    metric.save(tmp_path / "m.json")
    tensors = safetensors.numpy.load_file(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(tensors["components_"], metric.components_)
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    flat = document["arrays"]["components_"]
    np.testing.assert_array_equal(np.reshape(flat["data"], flat["shape"]), metric.components_)


def test_objects_of_the_user_come_back_as_text(blobs: Blobs, tmp_path: Path) -> None:
    """The metric is the same; to fit it again asks for them."""
    X, y = blobs
    metric = SDPMetric(loss=UserLoss(), tol=1e-2).fit(X, y)
    metric.save(tmp_path / "m.json")
    back = load(tmp_path / "m.json")
    np.testing.assert_array_equal(back.components_, metric.components_)
    assert back.loss == repr(UserLoss())
    with pytest.raises(ValueError, match=r"loss must be one of .*UserLoss"):
        back.fit(X, y)
    options: dict[str, Any] = {"scoring": KNeighborsClassifier(1), "cv": KFold(2)}
    grids: dict[str, Any] = {"n_neighbors": 2, "n_impostors": 2, "n_rounds": 1}
    search = SDPMetricCV(**SMALL | options, **grids, progress=print).fit(X, y)
    search.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").scoring == "KNeighborsClassifier(n_neighbors=1)"


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_are_not_finite(kind: str, blobs: Blobs, tmp_path: Path) -> None:
    metric = labelled()(*blobs)
    metric.upper_bound_, metric.rho_ = np.inf, -0.0
    metric.history_["gap"][0] = np.inf
    metric.history_["objective"][0] = np.nan
    metric.save(tmp_path / f"m.{kind}")
    back = load(tmp_path / f"m.{kind}")
    assert back.upper_bound_ == np.inf
    assert np.signbit(back.rho_)
    assert back.history_[0].tolist()[1] == np.inf
    assert np.isnan(back.history_["objective"][0])


@pytest.mark.parametrize("name", ["metric", "search"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", range(1, FORMAT_VERSION + 1))
def test_every_version_still_loads(version: int, kind: str, name: str) -> None:
    """Written by 0.1.0; the quadratic form is that of the digits in the JSON file."""
    metric = load(FILES / f"version-{version}-{name}.{kind}")
    path = FILES / f"version-{version}-{name}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    flat = document["arrays"]["components_"]
    L = np.reshape(flat["data"], flat["shape"])
    x, y = np.arange(4.0), np.array([2.0, -1.0, 0.5, 1.0])
    expected = (x - y) @ L.T @ L @ (x - y)
    np.testing.assert_allclose(metric.get_metric()(x, y, squared=True), expected)
    assert metric.get_params()["n_components"] == 2
    assert metric.n_features_in_ == 4
    last = last_fit(metric)[1]
    assert last.status_ is Status.CONVERGED
    assert last.objective_ <= last.upper_bound_
    assert metric.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def changed(path: Path, **changes: Any) -> Path:
    document = json.loads(path.read_text(encoding="utf-8"))
    for name, value in changes.items():
        if value is None:
            del document[name]
        else:
            document[name] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def model(blobs: Blobs, tmp_path: Path) -> Path:
    path = tmp_path / "m.json"
    labelled()(*blobs).save(path)
    return path


def array(path: Path, name: str, **changes: Any) -> dict[str, Any]:
    arrays: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["arrays"]
    return arrays | {name: arrays[name] | changes}


def fitted(path: Path, **changes: Any) -> dict[str, Any]:
    held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["fitted"]
    return held | changes


def test_newer_files_are_refused(model: Path) -> None:
    changed(model, format_version=FORMAT_VERSION + 1, library_version="9.9")
    with pytest.raises(ValueError, match=r"format version 3 \(sdpmetric 9\.9\).*upgrade"):
        load(model)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"format": None},
        {"format_version": None},
        {"format_version": 0},
        {"format_version": "1"},
        {"class": "Coordinates"},
        {"class": "Pipeline"},
        {"class": None},
        {"class": ["SDPMetric"]},
        {"params": None},
        {"params": {"unheard_of": 1}},
        {"params": {"loss": {"$loss": ["eval", {}]}}},
        {"params": {"loss": {"$unheard": 1}}},
        {"params": {"loss": {}}},
        {"params": [1]},
        {"fitted": {}},
        {"fitted": None},
        {"fitted": {"__class__": 1}},
        {"arrays": None},
        {"arrays": {"components_": 1}},
        {"arrays": []},
    ],
    ids=str,
)
def test_malformed_documents(changes: dict[str, Any], model: Path) -> None:
    changed(model, **changes)
    with pytest.raises(ValueError, match=r"m\.json' is not a complete sdpmetric model: .+\.$"):
        load(model)


def test_a_newer_file_that_says_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    newer = FORMAT_VERSION + 1
    path.write_text(json.dumps({"format": "sdpmetric", "format_version": newer}))
    for read in (load, read_header):
        with pytest.raises(ValueError, match=rf"of format version {newer} .* upgrade sdpmetric"):
            read(path)


@pytest.mark.parametrize(
    "name", ["library_version", "n_features", "feature_names", "params", "gap"]
)
def test_a_header_without_an_entry(name: str, model: Path) -> None:
    """`sdpmetric inspect` ended in a KeyError."""
    document = json.loads(model.read_text(encoding="utf-8"))
    del document[name]
    model.write_text(json.dumps(document), encoding="utf-8")
    for read in (load, read_header):
        with pytest.raises(ValueError, match=f"not a complete sdpmetric model: it lacks '{name}'"):
            read(model)


def test_a_header_that_contradicts_the_metric(model: Path) -> None:
    """A small gap in the header of a metric that has a large one."""
    for changes in ({"gap": 0.0}, {"status": "failed"}, {"n_features": 6}, {"rho": 3.0}):
        original = model.read_text(encoding="utf-8")
        changed(model, **changes)
        with pytest.raises(ValueError, match=r"its header does not say what its metric says"):
            load(model)
        model.write_text(original, encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    ["eigenvalues_", "history_", "retained_", "n_iter_", "n_triplets_", "converged_", "status_"],
)
def test_a_metric_without_an_attribute(name: str, model: Path) -> None:
    held = fitted(model)
    del held[name]
    with pytest.raises(ValueError, match=f"not a complete sdpmetric model: .*'{name}'"):
        load(changed(model, fitted=held))


def test_infinite_numbers_of_a_certificate_are_numbers(model: Path) -> None:
    infinite = {"$float": "inf"}
    changed(model, upper_bound=infinite, fitted=fitted(model, upper_bound_=infinite))
    assert load(model).upper_bound_ == read_header(model)["upper_bound"] == np.inf


def test_files_do_not_multiply_in_memory(model: Path) -> None:
    """An array that is named often is copied often; one long text makes all others as long."""
    params = json.loads(model.read_text(encoding="utf-8"))["params"]
    often = [{"$array": ["components_", "F"]}] * 2
    texts = {"$strings": ["x" * 30_000, *[""] * 1000]}
    original = model.read_text(encoding="utf-8")
    for value, words in ((often, "lacks 'components_'"), (texts, "texts are too long")):
        model.write_text(original, encoding="utf-8")
        changed(model, params=params | {"solver_options": value})
        with pytest.raises(ValueError, match=words):
            load(model)


def test_json_files_have_a_largest_size(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = load(model)
    monkeypatch.setattr(model_file, "JSON_BYTES", model.stat().st_size - 1)
    with pytest.raises(ValueError, match=r"is for up to"):
        load(model)
    with pytest.raises(ValueError, match=r"path must end in \.safetensors"):
        metric.save(model)


def test_malformed_arrays(model: Path) -> None:
    original = model.read_text(encoding="utf-8")
    cases = [
        {"arrays": array(model, "components_", dtype="object")},
        {"arrays": array(model, "components_", dtype="float32")},
        {"arrays": array(model, "components_", dtype="nonsense")},
        {"arrays": array(model, "components_", shape=[1, 2])},
        {"arrays": array(model, "components_", shape=[5], data=[1.0] * 5)},
        {"arrays": array(model, "components_", shape=[1, 4], data=[1.0] * 4)},
        {"arrays": array(model, "components_", shape=[1, 5], data=["nan"] * 5)},
        {"arrays": array(model, "components_", shape=[0, 5], data=[])},
        {"arrays": array(model, "components_", dtype="int8", shape=[1, 5], data=[999] * 5)},
        {"arrays": array(model, "history_.gap", shape=[1], data=[0.0])},
        {"arrays": array(model, "components_", data=[0.0] * 25)},
        {"arrays": array(model, "eigenvalues_", data=[-1.0] * 5)},
        {"arrays": array(model, "_factor", shape=[25], data=[1.0] * 25)},
        {"fitted": fitted(model, n_iter_="many")},
        {"fitted": fitted(model, n_iter_=True)},
        {"fitted": fitted(model, _factor="none")},
        {"fitted": fitted(model, history_=3)},
        {"fitted": fitted(model, status_={"$status": "fine"})},
        {"fitted": fitted(model, status_="converged")},
        {"fitted": fitted(model, gap_="small")},
        {"fitted": fitted(model, gap_=None)},
        {"fitted": fitted(model, best_estimator_=1)},
        {"fitted": fitted(model, n_features_in_=4)},
        {"fitted": fitted(model, feature_names_in_={"$objects": ["a"]})},
        {"fitted": fitted(model, components_=[[1.0] * 5])},
    ]
    for case in cases:
        model.write_text(original, encoding="utf-8")
        with pytest.raises(ValueError, match=r"is not a complete sdpmetric model: .+\.$"):
            load(changed(model, **case))


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_and_foreign_files(kind: str, blobs: Blobs, tmp_path: Path) -> None:
    path = tmp_path / f"m.{kind}"
    labelled()(*blobs).save(path)
    whole = path.read_bytes()
    parts = [whole[:n] for n in (0, 1, 7, 8, 9, 200, len(whole) // 2, len(whole) - 1)]
    nonsense = [b"[" * 100_000, b"\xff" * 64, b"null", b"[]", b"{}", b'"text"', whole + b"x"]
    for data in parts + nonsense:
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"is not a complete sdpmetric model: .+\.$"):
            load(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["metric", "search"])
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_load_or_are_refused(kind: str, name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    whole = (FILES / f"version-1-{name}.{kind}").read_bytes()
    refusals = []
    path = tmp_path / f"m.{kind}"
    letters = b'0123456789{}[]",:.-eaFnul$\x00\xff'
    for _ in range(200):
        data = bytearray(whole)
        at = int(rng.integers(len(data)))
        data[at : at + int(rng.integers(0, 9))] = bytes(rng.choice([*letters], 1).tolist())
        path.write_bytes(data)
        try:
            metric = load(path)
        except ValueError as error:
            refusals.append(str(error))
        else:
            assert np.isfinite(metric.get_metric()(np.ones(4), np.zeros(4)))
    assert all(str(path) in refusal for refusal in refusals)
    assert 0 < len(refusals) < 200


def test_another_safetensors_file(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"weight": np.eye(2)}, tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match=r"not a complete sdpmetric model.*format='sdpmetric'"):
        load(tmp_path / "m.safetensors")


def test_bad_paths(blobs: Blobs, tmp_path: Path) -> None:
    metric = labelled()(*blobs)
    (tmp_path / "d.json").mkdir()
    (tmp_path / "file").write_text("")
    for call in (metric.save, load):
        with pytest.raises(ValueError, match=r"path must name a file, got the folder"):
            call(tmp_path / "d.json")
        with pytest.raises(
            ValueError, match=r"path must end in \.safetensors or \.json, got .*pkl"
        ):
            call(tmp_path / "m.pkl")
        with pytest.raises(ValueError, match=r"path must be the name of a file, got 3"):
            call(3)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.json'\.$"):
        load(tmp_path / "none.json")
    with pytest.raises(FileNotFoundError, match=r"Cannot write .*there is no folder .*none'\.$"):
        metric.save(tmp_path / "none" / "m.json")
    with pytest.raises(OSError, match=r"Cannot write .*not a directory\.$"):
        metric.save(tmp_path / "file" / "m.json")
    with pytest.raises(OSError, match=r"Cannot read .*not a directory\.$"):
        load(tmp_path / "file" / "m.json")


def test_what_cannot_be_saved(blobs: Blobs, tmp_path: Path) -> None:
    class Mine(SDPMetric):
        pass

    with pytest.raises(NotFittedError):
        SDPMetric().save(tmp_path / "m.json")
    with pytest.raises(ValueError, match=r"metric must be one of .* got Mine"):
        Mine(tol=1e-2).fit(*blobs).save(tmp_path / "m.json")
    assert os.listdir(tmp_path) == []


def test_json_is_for_small_metrics(
    blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_arrays, "LIMIT", 10)
    with pytest.raises(ValueError, match=r"path must end in \.safetensors for a metric of"):
        labelled()(*blobs).save(tmp_path / "m.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("fails", ["write", "replace"])
def test_a_failure_leaves_the_old_file(
    fails: str, blobs: Blobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = labelled()(*blobs)
    path = tmp_path / "m.safetensors"
    metric.save(path)
    before = path.read_bytes()

    def full(self: Any, data: Any) -> None:
        with open(self, "wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    def forbidden(*paths: Any) -> None:
        raise PermissionError(13, "Permission denied")

    if fails == "write":
        monkeypatch.setattr(Path, "write_bytes", full)
    else:
        monkeypatch.setattr(os, "replace", forbidden)
    kind, message = (OSError, "no space left") if fails == "write" else (PermissionError, "permis")
    with pytest.raises(kind, match=rf"Cannot write .*m\.safetensors': {message}"):
        metric.save(path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == before


def test_links_and_permissions_are_those_of_any_file(blobs: Blobs, tmp_path: Path) -> None:
    metric = labelled()(*blobs)
    (tmp_path / "plain").write_text("")
    (tmp_path / "link.json").symlink_to(tmp_path / "m.json")
    metric.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "m.json").stat().st_mode == (tmp_path / "plain").stat().st_mode
