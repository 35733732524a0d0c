"""Converters for skl2onnx: of our estimators, and of MissingIndicator, which it lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import MissingIndicator

from ..._support.optional import require
from ..._support.registry import METRICS, TRANSFORMERS
from ...learning.estimators.coordinates import Coordinates
from ...learning.estimators.metric import MetricMixin


def register() -> None:
    """Register the converters, so that ``skl2onnx.to_onnx`` accepts pipelines with these steps."""
    skl2onnx = require("skl2onnx", "A pipeline in ONNX")
    for kind in (METRICS | TRANSFORMERS).values():
        # overwrite: a second export in one process registers the same classes again.
        skl2onnx.update_registered_converter(
            kind, f"Sdpmetric{kind.__name__}", _shape, _convert, overwrite=True
        )
    if "SklearnMissingIndicator" not in skl2onnx.supported_converters():
        skl2onnx.update_registered_converter(
            MissingIndicator,
            "SdpmetricMissingIndicator",
            _indicator_shape,
            _convert_indicator,
            overwrite=True,
        )


def _matrix(estimator: Any) -> Any:
    """The linear map of a metric or of coordinates."""
    return estimator.components_ if isinstance(estimator, MetricMixin) else estimator.map_


def _shape(operator: Any) -> None:
    X = operator.inputs[0]
    shape = [X.get_first_dimension(), len(_matrix(operator.raw_operator))]
    operator.outputs[0].type = type(X.type)(shape)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.algebra.onnx_ops import OnnxMatMul, OnnxMul
    from skl2onnx.common.data_types import guess_numpy_type

    X = operator.inputs[0]
    matrix = _matrix(operator.raw_operator).astype(guess_numpy_type(X.type))
    # Coordinates that only scale columns keep a vector instead of a diagonal matrix.
    scaled = isinstance(operator.raw_operator, Coordinates) and matrix.ndim == 1
    node = OnnxMul if scaled else OnnxMatMul
    made = node(X, matrix.T, op_version=container.target_opset, output_names=operator.outputs[:1])
    made.add_to(scope, container)


def _indicator_shape(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    shape = [operator.inputs[0].get_first_dimension(), len(operator.raw_operator.features_)]
    operator.outputs[0].type = FloatTensorType(shape)


def _convert_indicator(scope: Any, operator: Any, container: Any) -> None:
    from skl2onnx.algebra.onnx_ops import OnnxCast, OnnxGather, OnnxIsNaN

    indicator = operator.raw_operator
    if not np.isnan(indicator.missing_values):
        raise ValueError(
            f"MissingIndicator has missing_values={indicator.missing_values!r}, expected nan"
        )
    opset = container.target_opset
    kept = OnnxGather(
        operator.inputs[0], indicator.features_.astype(np.int64), axis=1, op_version=opset
    )
    made = OnnxCast(
        OnnxIsNaN(kept, op_version=opset),
        to=1,  # TensorProto.FLOAT
        op_version=opset,
        output_names=operator.outputs[:1],
    )
    made.add_to(scope, container)
