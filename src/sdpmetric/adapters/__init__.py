"""Linear adapters for stored embeddings, from queries and what they should find."""

from .estimator import EmbeddingAdapter
from .report import AdapterReport

__all__ = ["AdapterReport", "EmbeddingAdapter"]
