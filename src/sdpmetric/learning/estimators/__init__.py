"""`SDPMetric`, `TripletSDPMetric` and a classifier, and the base classes of all estimators."""

from .classifier import SDPMetricClassifier
from .sdp_metric import SDPMetric
from .triplet_sdp_metric import TripletSDPMetric

__all__ = ["SDPMetric", "SDPMetricClassifier", "TripletSDPMetric"]
