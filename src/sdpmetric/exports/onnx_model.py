"""ONNX: a metric is one Gemm node; a pipeline that contains one goes through skl2onnx."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..files import replacing
from .target import components_of, needed

__all__ = ["onnx_model", "write_onnx"]

_OPSET, _IR = 17, 8  # of 2022: any runtime of today reads them


def onnx_model(model: Any) -> Any:
    """A metric, or a fitted Pipeline with one in it, as an ONNX model of float32.

    The input is "X", (n, D). A metric's output is "mapped", (n, k): Euclidean distances between its
    rows are distances under the metric. A pipeline has the outputs that skl2onnx gives it.

    Parameters
    ----------
    model : a fitted metric or Pipeline

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.exports import onnx_model
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> [node.op_type for node in onnx_model(SDPMetric(tol=1e-2).fit(X, y)).graph.node]
    ['Gemm']
    """
    onnx = needed("onnx", "ONNX", "'sdpmetric[onnx]'")
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
    onnx.checker.check_model(made)
    return made


def write_onnx(model: Any, path: Path) -> None:
    """The model of `onnx_model` as a file."""
    data = onnx_model(model).SerializeToString()
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _pipeline(model: Any) -> Any:
    skl2onnx = needed("skl2onnx", "A pipeline in ONNX", "skl2onnx")
    from .skl2onnx_converters import register

    check_is_fitted(model)
    register()
    kind = skl2onnx.common.data_types.FloatTensorType([None, model.n_features_in_])
    options = {id(model): {"zipmap": False}} if is_classifier(model) else None  # shares as an array
    errors = skl2onnx.common.exceptions
    try:
        return skl2onnx.to_onnx(model, initial_types=[("X", kind)], options=options)
    except (errors.MissingShapeCalculator, errors.MissingConverter) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise ValueError(f"metric has a step that skl2onnx cannot convert: {reason}.") from None
