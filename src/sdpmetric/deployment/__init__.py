"""Three ways to search under a metric, for those who have a vector index already.

Both sides: index ``metric.transform(X)``, search with ``metric.transform(Q)``, by Euclidean
distance. Exact, and k numbers a row instead of D. `sdpmetric.exports.faiss_index` does it.

Inner product: index `augment_rows`, search with `augment_queries`, by the largest inner product.
Exact; the rows stay as they are and get one number more.

Query only: the index stays as it is; search it with `query_only` by inner product, and `rerank` the
candidates. Not exact: `rerank_recall` says how far off it is on your data.
"""

from __future__ import annotations

from .inner_product import augment_queries, augment_rows, query_only
from .reranking import rerank, rerank_recall

__all__ = ["augment_queries", "augment_rows", "query_only", "rerank", "rerank_recall"]
