"""Tells skl2onnx how our transformers compute, for pipelines that contain them."""

from __future__ import annotations

from typing import Any

from ..coordinates import Coordinates
from ..metric import MetricMixin
from ..plain import ESTIMATORS
from .target import needed

__all__ = ["register"]


def register() -> None:
    """Make ``skl2onnx.to_onnx`` know the estimators of this library."""
    skl2onnx = needed("skl2onnx", "A pipeline in ONNX", "skl2onnx")
    for kind in ESTIMATORS:
        skl2onnx.update_registered_converter(
            kind, f"Sdpmetric{kind.__name__}", _shape, _convert, overwrite=True
        )


def _matrix(estimator: Any) -> Any:
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
    scaled = isinstance(operator.raw_operator, Coordinates) and matrix.ndim == 1
    node = OnnxMul if scaled else OnnxMatMul
    made = node(X, matrix.T, op_version=container.target_opset, output_names=operator.outputs[:1])
    made.add_to(scope, container)
