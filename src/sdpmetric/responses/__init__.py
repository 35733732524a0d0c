"""Answers of people and logs: as comparisons, how sure they make us, and what to ask next."""

from .agreement import NoiseCeiling, noise_ceiling
from .answers import Responses
from .bootstrap import AccuracyInterval, accuracy_interval
from .folds import ResponseKFold
from .sign_flip import SignFlipTest, sign_flip_test
from .suggest import suggest_triplets

__all__ = [
    "AccuracyInterval",
    "NoiseCeiling",
    "ResponseKFold",
    "Responses",
    "SignFlipTest",
    "accuracy_interval",
    "noise_ceiling",
    "sign_flip_test",
    "suggest_triplets",
]
