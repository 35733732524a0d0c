"""NeighborhoodComponentsAnalysis: the metric learner that scikit-learn itself ships."""

from sklearn.neighbors import NeighborhoodComponentsAnalysis


def fit(X, y, threads, neighbors=3):
    return NeighborhoodComponentsAnalysis(random_state=0).fit(X, y).components_
