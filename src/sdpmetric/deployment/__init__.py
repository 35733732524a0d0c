"""Search with a learned metric in a vector index: three ways.

Map both sides: index ``metric.transform(X)`` and search with ``metric.transform(Q)``, by Euclidean
distance. Exact; a row has k numbers instead of D. `sdpmetric.deployment.exports.faiss_index` makes
such an index.

Inner product: index `augment_rows` and search with `augment_queries`, by the largest inner product.
Exact; a row keeps its numbers and gets one more.

Map queries only: the index does not change. Search it with `query_only` by inner product, then
`rerank` the candidates. Not exact: `rerank_recall` measures the recall on your data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._support.lazy import load_name

if TYPE_CHECKING:
    from .inner_product import augment_queries, augment_rows, query_only
    from .reranking import rerank, rerank_recall

__all__ = ["augment_queries", "augment_rows", "query_only", "rerank", "rerank_recall"]

_HOMES = {
    "augment_queries": "inner_product",
    "augment_rows": "inner_product",
    "query_only": "inner_product",
    "rerank": "reranking",
    "rerank_recall": "reranking",
}


def __getattr__(name: str) -> object:
    return load_name(__name__, _HOMES, name)
