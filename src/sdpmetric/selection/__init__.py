"""Settings chosen on data held out."""

from .coordinates import Coordinates
from .estimators import SDPMetricCV, TripletSDPMetricCV

__all__ = ["Coordinates", "SDPMetricCV", "TripletSDPMetricCV"]
