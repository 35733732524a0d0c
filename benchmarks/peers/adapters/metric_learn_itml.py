"""metric-learn's ITML, which draws random pairs and has no neighbours to set."""

from metric_learn import ITML_Supervised


def fit(X, y, threads, neighbors=3):
    return ITML_Supervised(random_state=0).fit(X, y).components_
