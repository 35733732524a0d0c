"""
An adapter for embeddings
=========================

Vectors of a text or image model are there, in float32, and so is a log of queries with a hit and a
miss. A linear map, learned on the vectors as they are, moves the hits closer. Nothing is embedded
again, and no network is trained.

The vectors are made up: 40 topics in 96 columns, and a "style" that has nothing to do with topics,
as the tone of a sentence may. So there is much to gain here; what real sentence embeddings gained,
and where they lost, is in the :doc:`benchmarks </benchmarks>`.
"""

import numpy as np

from sdpmetric import Responses, TripletSDPMetricCV, retrieval_scores
from sdpmetric.deployment import query_only, rerank_recall

rng = np.random.default_rng(0)
topics = rng.normal(size=(40, 96))
styles = 0.4 * rng.normal(size=(12, 96))
topic = rng.integers(40, size=1500)
X = topics[topic] + rng.normal(size=(1500, 12)) @ styles + 1.3 * rng.normal(size=(1500, 96))
X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
ids = np.array([f"text-{i}" for i in range(1500)])

# %%
# The last 500 texts are new queries, never seen below. The log is about the first 1,000: a query, a
# text of its topic, and a text of another. ``Responses`` reads such tables, or frames, by id.

known, new = np.arange(1000), np.arange(1000, 1500)
query = rng.choice(known, 3000)
positive = np.array([rng.choice(known[(topic[:1000] == topic[q]) & (known != q)]) for q in query])
negative = np.array([rng.choice(known[topic[:1000] != topic[q]]) for q in query])
log = {"query": ids[query], "positive": ids[positive], "negative": ids[negative]}
answers = Responses.from_triplets(log, ids=ids)
print(len(answers), "comparisons")

# %%
# The search holds out comparisons by query and chooses C and the weight of the prior. The prior is
# Euclidean distance, and is left only for a clear gain.

search = TripletSDPMetricCV(Cs=4, coordinates=["raw"], prior_weight=(0.0, 0.5), cv=3)
search.fit(X, answers.triplets, answers.weights)
print(search.best_params_["C"], search.best_params_["prior_weight"])
print("columns:", X.shape[1], "->", len(search.components_))

# %%
# New queries search the known texts, before and after. The interval is a bootstrap over queries of
# the difference.

scores = {
    name: retrieval_scores(X[new], topic[new], X[known], topic[known], k=10, metric=metric)
    for name, metric in {"before": None, "after": search}.items()
}
for name, found in scores.items():
    print(f"{name:7}", {key: round(found[key], 3) for key in ("hit@10", "ndcg@10", "map")})
gain = scores["after"].per_query["ndcg@10"] - scores["before"].per_query["ndcg@10"]
drawn = [gain[rng.integers(len(gain), size=len(gain))].mean() for _ in range(1000)]
low, high = np.quantile(drawn, [0.025, 0.975])
print(f"gain in ndcg@10: {gain.mean():.3f} [{low:.3f}, {high:.3f}]")

# %%
# To use it, index ``search.transform(X)``, or write the map for another program with
# `sdpmetric.export`. Where an index of the old vectors must stay, turn only the query and rank its
# candidates again; how many of the true ten nearest that finds is measured, not promised.

turned = query_only(search, X[new[:1]], X[known].mean(axis=0))
print("one turned query:", turned.shape)
found = rerank_recall(search, X[new], X[known], k=10, n_candidates=[10, 50, 200])
print({n: f"{share:.1%}" for n, share in found.items()}, "of the true ten, by candidates")
