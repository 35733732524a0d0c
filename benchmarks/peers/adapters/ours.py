"""sdpmetric with its defaults (three neighbours are among them)."""

from sdpmetric import SDPMetric


def fit(X, y, threads, neighbors=3):
    return SDPMetric(n_neighbors=neighbors, n_impostors=neighbors).fit(X, y).components_
