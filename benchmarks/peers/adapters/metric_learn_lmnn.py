"""metric-learn's LMNN; its learning rate, 1e-7, is the default and stays."""

from metric_learn import LMNN


def fit(X, y, threads):
    return LMNN(n_neighbors=3, random_state=0).fit(X, y).components_
