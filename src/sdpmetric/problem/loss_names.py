"""The one table of built-in losses: the name that users give, and the name of the class.

Validation, the command line and model files all read it. It imports nothing, so that
`sdpmetric fit --help` can list the losses without waiting for NumPy.
"""

from __future__ import annotations

__all__ = ["LOSSES"]

LOSSES = {
    "huber": "Huber",
    "squared_hinge": "SquaredHinge",
    "logistic": "Logistic",
    "hinge": "Hinge",
}
