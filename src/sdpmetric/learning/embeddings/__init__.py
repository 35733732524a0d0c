"""Linear adapters for stored embeddings, learned from queries and their positives."""

from .adapter import EmbeddingAdapter
from .report import AdapterReport

__all__ = ["AdapterReport", "EmbeddingAdapter"]
