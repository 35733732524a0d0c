"""
Rows on a Dask cluster
======================

The same estimators take Dask arrays in chunks of rows. The rows and the comparisons stay on the
workers. What comes back is a metric in NumPy arrays, with a certificate over all comparisons.
"""

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.datasets import load_digits

from sdpmetric import SDPMetric

# %%
# A cluster on this machine. Without ``processes=False`` its workers are processes of their own. On
# many machines, ``Client("tcp://scheduler:8786")`` takes the place of these two lines.

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
client = Client(cluster)

# %%
# Rows in chunks; here they come from memory, elsewhere from ``da.from_zarr`` or from Parquet. Each
# chunk has whole rows.

X, y = load_digits(return_X_y=True)
rows, labels = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
metric = SDPMetric(n_rounds=1, tol=1e-3).fit(rows, labels)
print(f"{metric.n_triplets_:,} comparisons, gap {metric.gap_:.1e}, {metric.n_iter_} evaluations")

# %%
# The fit in memory has the same optimum: each objective is below the bound of the other.

in_memory = SDPMetric(n_rounds=1, tol=1e-3).fit(X, y)
print(f"on the cluster {metric.objective_:.5f} <= {in_memory.upper_bound_:.5f}")
print(f"in memory      {in_memory.objective_:.5f} <= {metric.upper_bound_:.5f}")

# %%
# The metric maps Dask arrays lazily, and NumPy arrays at once. Without a cluster it is the same
# object: a model file holds nothing of Dask.

lazy = metric.transform(rows)
print(lazy)
print(np.allclose(lazy[:10].compute(), metric.transform(X[:10])))
client.close()
cluster.close()
