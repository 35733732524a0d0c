"""The scikit-learn classes: validate, build comparisons, solve, set attributes."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._warnings import warn
from .callbacks import FitTask, with_callbacks
from .inputs import as_labels, as_triplets, as_weights, check_varied
from .labelled import Kind, Labelled, anchor_weights
from .learner import Learner
from .losses import Loss
from .mining import check_pairs, crowd
from .result import Status
from .threads import working
from .validation import check_choice, check_integer, check_neighbors

__all__ = ["SDPMetric", "TripletSDPMetric"]


class SDPMetric(Learner):
    """Large-margin Mahalanobis metric from labelled rows, with a certificate.

    Each row should be closer to its nearest rows of the same class than to its nearest rows of
    other classes. Maximises ``rho - sum_r c_r loss(z_r(M) - rho)`` over M psd of trace one and
    ``rho >= 0``, where ``z_r`` is the squared distance to the far row less that to the near one,
    ``c_r = C s_r / sum(s)``.

    Parameters
    ----------
    n_components : int, default=None
        Rows of ``components_``: the metric cut to its leading directions and rescaled to trace
        one. None keeps the numerical rank.
    loss : {"huber", "squared_hinge", "logistic", "hinge"} or Loss, default="huber"
        What a margin that falls short pays. "huber" is SDPMetric-H of the paper,
        "squared_hinge" SDPMetric-S.
    C : float, default=10.0
        Weight of the losses against the margin, more than 1 unless ``loss="squared_hinge"``.
        While ``rho_`` is positive at least a share 1/C of the comparisons lies inside the margin.
    h : float, default=0.02
        Width of the Huber and logistic losses, in units of the mean far distance. The paper uses
        0.01 to 0.5; wider is faster to fit, narrower is closer to the hinge.
    n_neighbors, n_impostors : int, default=3
        Near rows of the same class, and far rows of other classes, for each row.
    triplets : {"knn", "all"}, default="knn"
        "knn": each row, each of its ``n_neighbors`` targets, each of its ``n_impostors`` nearest
        rows of other classes. "all": any row of another class is far, and all of them are
        certified, though only those that matter are ever listed. C and h keep their meaning
        (``c_r = C`` over the number of k-nearest triplets), so useful values of C are smaller.
    neighbors : {"exact", "approximate"}, default="exact"
        How near rows are searched; "approximate" is for dense X of 100,000 rows and more, and
        needs faiss.
    n_rounds : int, default=1
        Fits in all; each after the first chooses neighbours under the metric of the last.
    class_weight : None, "balanced" or dict, default=None
        Weight of a comparison by the class of its anchor.
    prior : None, "identity" or (D, D) array, default=None
        A metric M0 to lean on, normalised to trace one.
    prior_weight : float in [0, 1], default=0.0
        t in ``M = (1 - t) M' + t M0``.
    solver : {"low-rank", "frank-wolfe"}, default="low-rank"
        "frank-wolfe" is the paper's algorithm.
    solver_options : dict, default=None
        low-rank: ``rank``, ``corrections``, ``history_bytes``, ``dense_limit``. frank-wolfe: ``K``,
        ``J``, ``epsilon``, ``c1``, ``c2``, ``dense_limit``.
    tol : float, default=1e-4
        Relative duality gap at which the fit stops.
    max_iter : int, default=3000
        Evaluations of the objective (frank-wolfe: steps).
    time_limit : float, default=None
        Seconds.
    warm_start : bool, default=False
        Start from the last fit's metric.
    random_state : int, RandomState or None, default=None
        Seeds the sketches and Lanczos starts; the result depends on it only within ``tol``. None
        is always the same seed.
    n_jobs : int, default=None
        Threads; -1 for all cores. None: as many as BLAS may use, ``OPENBLAS_NUM_THREADS`` say.

    Attributes
    ----------
    components_ : (k, D) array, ``M = components_' components_``, trace one
    rho_, objective_, upper_bound_ : the margin, F(M), and what no M can exceed, in scaled units
    gap_ : relative duality gap at M
    scale_ : what squared distances were multiplied by, so that the mean far one under I/D is 1
    status_, converged_, n_iter_, n_triplets_ : how the fit went
    eigenvalues_ : of M, descending, before a cut to ``n_components``
    retained_ : share of the trace that ``components_`` keep
    history_ : structured array (objective, gap, seconds), a row per certificate
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sdpmetric import SDPMetric
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), SDPMetric(), KNeighborsClassifier(3)).fit(X, y)
    >>> metric = model[1]
    >>> metric.converged_, bool(metric.gap_ <= 1e-4)
    (True, True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        loss: str | Loss = "huber",
        C: float = 10.0,
        h: float = 0.02,
        n_neighbors: int = 3,
        n_impostors: int = 3,
        triplets: str = "knn",
        neighbors: str = "exact",
        n_rounds: int = 1,
        class_weight: Any = None,
        prior: Any = None,
        prior_weight: float = 0.0,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-4,
        max_iter: int = 3000,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.C = C
        self.h = h
        self.n_neighbors = n_neighbors
        self.n_impostors = n_impostors
        self.triplets = triplets
        self.neighbors = neighbors
        self.n_rounds = n_rounds
        self.class_weight = class_weight
        self.prior = prior
        self.prior_weight = prior_weight
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : (n, D) rows, dense or sparse
        y : (n,) class labels
        """
        task = FitTask(self, X, y)
        X, y = self._validated(X, y, reset=True)
        check_choice("triplets", self.triplets, ("knn", "all"))
        settings = self._settings()
        settings.check(X.shape[1], every_triplet=self.triplets == "all")
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_integer("n_impostors", self.n_impostors, 1)
        check_integer("n_rounds", self.n_rounds, 1)
        check_neighbors(self.neighbors)
        codes = as_labels(y)[1]
        check_pairs(codes)
        check_varied(X)
        weights = anchor_weights(self.class_weight, y)
        if self.triplets == "all":
            settings.check_crowd(crowd(codes, self.n_neighbors, self.n_impostors, weights))
        start = self._start(X.shape[1])
        rows = Labelled(X, codes, weights, self.neighbors)
        kind = Kind(self.triplets, self.n_neighbors, self.n_impostors)
        began = time.perf_counter()
        with working(self.n_jobs):
            ready, self.n_triplets_ = rows.prepare(settings, kind, *rows.search(kind))
            result = settings.solve(ready, start, task.callback)
            del ready
            used = result.n_iter
            for done in range(1, self.n_rounds):
                if not result.converged or task.stopped:
                    break
                settings = settings.after(used, time.perf_counter() - began)
                try:
                    result, self.n_triplets_ = rows.again(settings, kind, result, task.callback)
                except KeyboardInterrupt:
                    warn(f"Interrupted: the metric is that of round {done}.", ConvergenceWarning)
                    result = replace(result, n_iter=0, status=Status.INTERRUPTED)
                used += result.n_iter
        self._take(replace(result, n_iter=used))
        task.end()
        return self


class TripletSDPMetric(Learner):
    """Large-margin Mahalanobis metric from comparisons of items, with a certificate.

    "Item i is closer to j than to k", as answered by people, clicks or another model. Parameters
    and attributes are those of `SDPMetric` without the ones that concern labels. The comparisons
    stand where y stands, so it works as the last step of a Pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import TripletSDPMetric
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 4))
    >>> T = np.array([rng.choice(50, 3, replace=False) for _ in range(300)])
    >>> d = lambda a, b: np.abs(X[a, 0] - X[b, 0])  # people look at the first feature only
    >>> swap = d(T[:, 0], T[:, 1]) > d(T[:, 0], T[:, 2])
    >>> T[swap] = T[swap][:, [0, 2, 1]]
    >>> metric = TripletSDPMetric().fit(X, T)
    >>> metric.score(X, T) > 0.95
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        loss: str | Loss = "huber",
        C: float = 10.0,
        h: float = 0.02,
        prior: Any = None,
        prior_weight: float = 0.0,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-4,
        max_iter: int = 3000,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.C = C
        self.h = h
        self.prior = prior
        self.prior_weight = prior_weight
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: Any, triplets: Any, sample_weight: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : (n, D) items, dense or sparse
        triplets : (m, 3) row indices [anchor, near, far], or (m, 4) [near, near, far, far]
        sample_weight : (m,) weight of each comparison; 2 equals giving it twice, 0 leaving it out
        """
        task = FitTask(self, X, triplets, sample_weight)
        X = self._validated(X, reset=True)
        settings = self._settings()
        settings.check(X.shape[1])
        indices = as_triplets(triplets, X.shape[0])
        weights = as_weights(sample_weight, len(indices))
        check_varied(X)
        self.n_triplets_ = len(indices) if weights is None else int(np.count_nonzero(weights))
        start = self._start(X.shape[1])
        self._take(settings.fit(X, indices, weights, start, task.callback))
        task.end()
        return self

    def score(self, X: Any, triplets: Any, sample_weight: Any = None) -> float:
        """The share of comparisons answered rightly, as `triplet_accuracy`."""
        return self.triplet_accuracy(X, triplets, sample_weight)
