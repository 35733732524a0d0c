"""Estimators that choose their settings on held-out data."""

from ..estimators.coordinates import Coordinates
from .sdp_metric_cv import SDPMetricCV
from .triplet_sdp_metric_cv import TripletSDPMetricCV

__all__ = ["Coordinates", "SDPMetricCV", "TripletSDPMetricCV"]
