"""
An adapter for embeddings
=========================

Vectors of a text or image model are stored, in float32, and so is a log of queries with what they
should have found. A linear map, learned on the vectors as they are, moves it closer. Nothing is
embedded again, no network is trained, and there is one call to make.

The vectors are made up: 60 topics in 48 columns, and a "style" that has nothing to do with topics,
as the tone of a sentence may. So there is much to gain here; what real sentence embeddings gained,
and where they lost, is in the :doc:`benchmarks </benchmarks>`.
"""

import tempfile
from pathlib import Path

import numpy as np

from sdpmetric import EmbeddingAdapter, retrieval_scores
from sdpmetric.deployment import query_only, rerank_recall
from sdpmetric.displays import MapDisplay

rng = np.random.default_rng(0)
topics = rng.normal(size=(60, 48))
styles = 0.9 * rng.normal(size=(6, 48))
topic = rng.integers(60, size=1500)
X = topics[topic] + rng.normal(size=(1500, 6)) @ styles + 0.8 * rng.normal(size=(1500, 48))
X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
ids = np.array([f"text-{i}" for i in range(1500)])

# %%
# The first 1,100 texts are the corpus. It stays on disk: a memory map is read block by block, and
# only the rows that the fit compares are gathered. The other 400 are new queries, for the end.

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "corpus.npy"
np.save(path, X[:1100])
corpus = np.load(path, mmap_mode="r")
print(type(corpus).__name__, corpus.dtype, corpus.shape)

# %%
# The log: 300 queries, and one text that each should have found. Some 17 more of its topic are in
# the corpus, but nobody said so. A column ``negative`` could say what was no hit; it is not needed,
# since negatives are mined.

query = rng.choice(1100, 300, replace=False)
positive = [
    rng.choice(np.flatnonzero((topic[:1100] == topic[q]) & (ids[:1100] != ids[q]))) for q in query
]
log = {"query": ids[query], "positive": ids[positive]}  # or a data frame, or a list of dicts

# %%
# One call. For each query it takes the nearest texts that are neither known nor suspected to be
# relevant: those as near to the known positive as the query itself are left out (``guard``), and so
# are the very nearest of the others (``skip``). How many to skip, C and the weight of the prior are
# chosen by how held-out queries find their positives in the whole corpus. The vectors as they are
# remain a candidate, and are left only for a clear gain.

adapter = EmbeddingAdapter(n_rounds=1, cv=3).fit(corpus, log, ids=ids[:1100])
print({name: adapter.best_params_[name] for name in ("C", "prior_weight", "skip", "guard")})

# %%
# A fifth of the queries was kept out of all that, for a report before and after. Only the one known
# positive counts as found, so that scores are low; the paired difference is what matters.

print(adapter.report_)

# %%
# Here the topics are known, so that we can look at the truth: new queries, and every text of their
# topic counts.

for name, metric in {"before": None, "after": adapter}.items():
    found = retrieval_scores(X[1100:], topic[1100:], corpus, topic[:1100], k=10, metric=metric)
    print(f"{name:7}", {key: round(found[key], 3) for key in ("hit@10", "ndcg@10", "map")})

# %%
# The texts of eight topics on a plane, in the corpus or new. The vectors as they are show mostly
# style. The adapter was never told a topic, only pairs.

some = np.isin(topic, range(8))
display = MapDisplay.from_estimator(adapter, X[some], topic[some]).plot()

# %%
# Pairs that come later are judged in the same way, here with vectors of their own for the queries.

later = [rng.choice(np.flatnonzero(topic[:1100] == t)) for t in topic[1100:]]
table = {"query": np.arange(400), "positive": later}
report = adapter.evaluate(corpus, table, queries=X[1100:])
print("gain in MRR:", report["mrr"].difference)

# %%
# To use it, index ``adapter.transform(X)``, or write the map for another program with
# `sdpmetric.export`. Where an index of the old vectors must stay, turn only the query and rank its
# candidates again; how many of the true ten nearest that finds is measured, not promised.

turned = query_only(adapter, X[1100:1101], corpus.mean(axis=0))
print("one turned query:", turned.shape)
found = rerank_recall(adapter, X[1100:], corpus, k=10, n_candidates=[10, 50, 200])
print({n: f"{share:.1%}" for n, share in found.items()}, "of the true ten, by candidates")
folder.cleanup()
