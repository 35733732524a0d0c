"""Pictures of fitted estimators, one file each; matplotlib is imported only by ``plot``."""

from __future__ import annotations

from .convergence import ConvergenceDisplay
from .features import FeaturesDisplay
from .map import MapDisplay
from .margins import MarginsDisplay
from .neighbors import NeighborsDisplay
from .path import PathDisplay
from .spectrum import SpectrumDisplay

__all__ = [
    "ConvergenceDisplay",
    "FeaturesDisplay",
    "MapDisplay",
    "MarginsDisplay",
    "NeighborsDisplay",
    "PathDisplay",
    "SpectrumDisplay",
]
