"""ONNX: a metric becomes one Gemm node; skl2onnx converts a pipeline that contains a metric."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from ..._support.files import replace_bytes
from ..._support.optional import require
from ...learning.estimators.metric import components_of

_OPSET, _IR = 17, 8  # versions of 2022: every runtime since then reads them, and Gemm is older


def onnx_model(model: Any) -> Any:
    """Convert a metric, or a fitted Pipeline that contains one, to an ONNX model of float32.

    The input is "X", (n, D). The output of a metric is "mapped", (n, k): Euclidean distances
    between its rows are distances under the metric. The outputs of a pipeline are those that
    skl2onnx defines. A pipeline whose ColumnTransformer selects columns by name has an input
    (n, 1) for each column, under the column's name: text for categories that are
    text, else float32. skl2onnx writes ``_`` for characters that its names cannot have.

    Parameters
    ----------
    model : a fitted metric or Pipeline

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.deployment.exports import onnx_model
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> [node.op_type for node in onnx_model(SDPMetric(tol=1e-2).fit(X, y)).graph.node]
    ['Gemm']
    """
    onnx = require("onnx", "ONNX")
    if isinstance(model, Pipeline):
        return _pipeline(model)
    components = components_of(model)
    k, D = components.shape
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["X", "components"], ["mapped"], transB=1)],
        "sdpmetric",
        [helper.make_tensor_value_info("X", kind, ["n", D])],
        [helper.make_tensor_value_info("mapped", kind, ["n", k])],
        [onnx.numpy_helper.from_array(components.astype(np.float32), "components")],
    )
    made = helper.make_model(
        graph,
        producer_name="sdpmetric",
        ir_version=_IR,
        opset_imports=[helper.make_opsetid("", _OPSET)],
    )
    # A model that a runtime would refuse should fail here, not in production.
    onnx.checker.check_model(made)
    return made


def write_onnx(model: Any, path: Path) -> None:
    """Write the model of `onnx_model`."""
    replace_bytes(path, onnx_model(model).SerializeToString())


def _pipeline(model: Any) -> Any:
    skl2onnx = require("skl2onnx", "A pipeline in ONNX")
    from .skl2onnx_converters import register

    check_is_fitted(model)
    _check_indicators(model)
    register()
    # Without zipmap, probabilities come as one array; by default as a list of dicts.
    options = {id(model): {"zipmap": False}} if is_classifier(model) else None
    try:
        return skl2onnx.to_onnx(model, initial_types=_inputs(model), options=options)
    except Exception as error:  # converters raise whatever they like, RuntimeError for example
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ValueError(
            f"metric has a step that skl2onnx cannot convert: {_failed(model, error)}{reason}."
        ) from error


def _check_indicators(model: Any) -> None:
    """Raise for an imputer that adds columns: skl2onnx would leave them out without a word."""
    for name, step in _steps(model):
        added = getattr(step, "indicator_", None)
        if added is not None and len(added.features_):
            raise ValueError(
                f"metric has a step that skl2onnx cannot convert: {name!r} has add_indicator=True, "
                "expected a MissingIndicator beside it, in a ColumnTransformer."
            )


def _failed(model: Any, error: Exception) -> str:
    """The step that an error is about, if one alone is of a class that the error names."""
    found = [
        name for name, step in _steps(model) if re.search(rf"\b{type(step).__name__}\b", str(error))
    ]
    return f"{found[0]!r}: " if len(found) == 1 else ""


def _steps(model: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All steps within a pipeline, with names such as "columntransformer.numbers.simpleimputer"."""
    parts: list[tuple[str, Any]] = []
    if isinstance(model, Pipeline):
        parts = list(model.steps)
    elif isinstance(model, ColumnTransformer):
        parts = [(key, part) for key, part, _ in model.transformers_]
    elif isinstance(model, FeatureUnion):
        parts = list(model.transformer_list)
    elif not isinstance(model, str):  # "passthrough" and "drop"
        yield name, model
    for key, part in parts:
        yield from _steps(part, f"{name}.{key}" if name else key)


def _inputs(model: Any) -> list[tuple[str, Any]]:
    """The inputs of a pipeline: all columns as one, or each alone if they are selected by name."""
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    named = [
        (transformer, [columns] if isinstance(columns, str) else list(columns))
        for step in model
        if isinstance(step, ColumnTransformer)
        for _, transformer, columns in step.transformers_
        if isinstance(columns, str) or any(isinstance(c, str) for c in np.ravel(columns))
    ]
    if not named:
        return [("X", FloatTensorType([None, model.n_features_in_]))]
    text = {c for transformer, columns in named for c in _text_columns(transformer, columns)}
    kinds = {name: StringTensorType if name in text else FloatTensorType for name in _names(model)}
    return [(name, kind([None, 1])) for name, kind in kinds.items()]


def _names(model: Any) -> list[str]:
    return [str(name) for name in model.feature_names_in_]


def _text_columns(transformer: Any, columns: list[str]) -> list[str]:
    """The columns that a fitted transformer knows as text, by its categories or its fill values."""
    steps = [step for _, step in transformer.steps] if isinstance(transformer, Pipeline) else []
    for step in steps or [transformer]:
        for attribute in ("categories_", "statistics_"):
            known = getattr(step, attribute, None)
            if known is not None:
                # A string among numbers makes an array of objects, so each value is looked at.
                return [
                    column
                    for column, values in zip(columns, known, strict=True)
                    if any(isinstance(value, str) for value in np.ravel(values).tolist())
                ]
    return []
