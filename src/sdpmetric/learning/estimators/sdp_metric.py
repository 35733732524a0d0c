"""`SDPMetric`: a metric from labelled rows."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from ..._support.checks import check_choice, check_integer
from ..._support.deadline import Deadline
from ..._support.progress import Report, Stages, shown
from ..._support.registry import METRICS, stored_in
from ..._support.typing import Floats
from ...engines.dask_arrays import is_dask
from ...engines.threads import thread_pool
from ...linalg.items import check_varied
from ...problem.loss_arguments import check_bounded
from ...problem.losses import Loss
from ...problem.result import Result
from ...triplets.knn import check_neighbors, check_pairs, triplet_ratio
from ...triplets.labels import as_labels
from ..fit.checkpoint import Checkpoint
from ..fit.labelled import LabelledRows, Searched, TripletRule, anchor_weights
from ..fit.rounds import EARLY_TOL, run_rounds
from ..fit.run import Fit
from .automatic import check_coordinates
from .base import SDPEstimator
from .callbacks import FitTask, with_callbacks
from .chunked_fit import fit_labels
from .validate import rows_to_fit

__all__ = ["SDPMetric"]


@stored_in(METRICS)
class SDPMetric(SDPEstimator):
    """Large-margin Mahalanobis metric from labelled rows, with a certificate.

    Each row should be closer to its nearest rows of the same class than to its nearest rows of
    other classes. Maximises ``rho - sum_r c_r loss(z_r(M) - rho)`` over M psd of trace one and
    ``rho >= 0``, where ``z_r`` is the squared distance to the far row less that to the near one,
    ``c_r = C s_r / sum(s)``.

    Parameters
    ----------
    n_components : int, default=None
        Rows of ``components_``: the metric cut to its leading directions in the coordinates of
        the fit and rescaled to trace one. None keeps the numerical rank.
    loss : {"huber", "squared_hinge", "logistic", "hinge"} or Loss, default="huber"
        Penalty of a comparison inside the margin. "huber" is SDPMetric-H of the paper,
        "squared_hinge" SDPMetric-S.
    C : float, default=7.0
        Weight of the losses against the margin, more than 1 unless ``loss="squared_hinge"``.
        While ``rho_`` is positive at least a share 1/C of the comparisons lies inside the margin.
    h : float, default=0.05
        Width of the Huber and logistic losses, in units of the mean far distance. The paper uses
        0.01 to 0.5; wider is faster to fit, narrower is closer to the hinge.
    coordinates : {"auto", "raw", "standard", "within"}, default="auto"
        Columns in which the metric is learned, since trace one depends on their units. "raw": as
        given. "standard": of unit deviation. "within": whitened by the scatter within classes.
        "auto": "standard" if Euclidean distance clearly classifies a sample of the rows better
        there than in raw columns, else "raw"; where one column is a hundred times wider than most,
        "standard" unless raw ones are clearly better. ``coordinates_`` says which.
    n_neighbors, n_impostors : int, default=5 and 10
        Near rows of the same class, and far rows of other classes, for each row.
    triplets : {"knn", "all"}, default="knn"
        "knn": each row, each of its ``n_neighbors`` targets, each of its ``n_impostors`` nearest
        rows of other classes. "all": any row of another class is far, and all of them are
        certified, though only those inside the margin are ever listed. C and h keep their meaning
        (``c_r = C`` over the number of k-nearest triplets), so useful values of C are smaller.
    neighbors : {"exact", "approximate"}, default="exact"
        Search for near rows; "approximate" is for dense X of 100,000 rows and more, and needs
        faiss.
    n_rounds : int, default=2
        Number of fits; each after the first chooses neighbours under the previous metric. Only the
        last one goes on to ``tol``: the others stop at a relative gap of 0.1.
    class_weight : None, "balanced" or dict, default=None
        Weight of a comparison by the class of its anchor.
    prior : None, "identity" or (D, D) array, default="identity"
        A metric M0 to which M is pulled, normalised to trace one: Euclidean distance in the
        ``coordinates``, or a metric on raw rows.
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
        Seconds from the call of ``fit``. The search for neighbours always completes. After the end
        there is at most the evaluation that has begun and one certificate (two with
        ``triplets="all"``), and the certified metric comes with a warning.
    warm_start : bool, default=False
        Start from the last fit's metric.
    random_state : int, RandomState or None, default=None
        Seeds the sketches and Lanczos starts; the result depends on it only within ``tol``. None
        is always the same seed.
    n_jobs : int, default=None
        Threads; -1 for all cores. None: as many as BLAS may use, which for example
        ``OPENBLAS_NUM_THREADS`` sets.
    checkpoint : path, default=None
        Folder in which the fit keeps, every few seconds, where it is. After a crash or a limit the
        same call goes on from there; a folder with an unfinished fit of other data or parameters
        is an error.
    progress : bool or function, default=False
        True shows on the terminal how far the search for neighbours and the fit of each round are.
        A function is called with (done, total) of the stage: rows, then the share of the way to
        ``tol``, as digits of the gap.

    Attributes
    ----------
    components_ : (k, D) array for raw rows, ``M = components_' components_``, trace one
    coordinates_ : fitted `Coordinates`; ``coordinates_.kind`` is their name
    rho_, objective_, upper_bound_ : float
        The margin, F(M), and a bound that no F(M) exceeds, in scaled units of the coordinates.
    gap_ : float, relative duality gap at M
    scale_ : float
        Factor of squared distances in the fit: it makes the mean far distance under I/D one. At an
        end of the range of float64 for rows below about 1e-154 or above 1e154.
    status_, converged_ : `Status`, and bool
        Why the fit ended, and whether ``gap_`` is at most ``tol``.
    n_iter_, n_triplets_ : int, iterations of all rounds, and comparisons of the last one
    eigenvalues_, retained_ : array and float
        Eigenvalues of M in the coordinates of the fit, descending, before a cut to
        ``n_components``, and the share of their sum that ``components_`` keep.
    history_ : structured array (objective, gap, seconds), a row per certificate
    n_features_in_, feature_names_in_ : int and array, as in scikit-learn

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
        C: float = 7.0,
        h: float = 0.05,
        coordinates: str = "auto",
        n_neighbors: int = 5,
        n_impostors: int = 10,
        triplets: str = "knn",
        neighbors: str = "exact",
        n_rounds: int = 2,
        class_weight: Any = None,
        prior: Any = "identity",
        prior_weight: float = 0.0,
        solver: str = "low-rank",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-4,
        max_iter: int = 3000,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        progress: bool | Report = False,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.C = C
        self.h = h
        self.coordinates = coordinates
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
        self.checkpoint = checkpoint
        self.progress = progress

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : (n, D) rows, dense or sparse, or a dask.array in chunks of rows
        y : (n,) class labels, an array or a dask.array
        """
        deadline, task = Deadline(), FitTask(self, X, y)
        if is_dask(X):
            fit_labels(self, X, y, deadline, task)
            return self
        X, y, task.columns = rows_to_fit(self, X, y)
        check_choice("triplets", self.triplets, ("knn", "all"))
        fit = self._parameters().resolve(X.shape[1], deadline, all_triplets=self.triplets == "all")
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_integer("n_impostors", self.n_impostors, 1)
        check_integer("n_rounds", self.n_rounds, 1)
        check_neighbors(self.neighbors)
        check_coordinates(self.coordinates, X)
        classes, codes = as_labels(y)
        check_pairs(np.bincount(codes))
        check_varied(X)
        weights = anchor_weights(self.class_weight, classes, codes)
        if self.triplets == "all":
            ratio = triplet_ratio(codes, self.n_neighbors, self.n_impostors, weights)
            # C is shared among the k-nearest triplets: all of them weigh ``ratio`` times as much.
            check_bounded(fit.loss, fit.C, ratio)
        start = self._start(X.shape[1])
        with (
            shown(self.progress) as stages,
            thread_pool(fit.n_jobs),
            self._checkpoint(fit, X, y=y) as checkpoint,
        ):
            inside = self._in_coordinates(X, codes, fit, start, task)
            rows = LabelledRows(inside.X, codes, weights, self.neighbors)
            rows.check_memory(self._rule)
            result, n_triplets = self._fit_rounds(
                rows, inside.fit, inside.start, task, checkpoint, stages
            )
        self._finish(result, inside.coordinates, n_triplets, task)
        return self

    @property
    def _rule(self) -> TripletRule:
        return TripletRule(self.triplets, self.n_neighbors, self.n_impostors)

    def _fit_rounds(
        self,
        rows: Searched,
        fit: Fit,
        start: Floats | None,
        task: FitTask,
        checkpoint: Checkpoint,
        stages: Stages | None,
    ) -> tuple[Result, int]:
        """Search and fit, ``n_rounds`` times; return the last result and its comparisons' number.

        ``fit`` and ``start`` are in the coordinates of the rows.
        """
        n_triplets = 0

        def fit_round(last: Result | None) -> Result:
            nonlocal n_triplets
            if last is not None:
                checkpoint.next_round(last)
            at = checkpoint.state
            which = f", round {at.rounds + 1} of {self.n_rounds}" if self.n_rounds > 1 else ""
            report = None if stages is None else stages.stage(f"nearest rows{which}")
            found = rows.search(self._rule, at.under, report)
            prepared, count = rows.prepare(fit, self._rule, *found)
            # Only now: if Ctrl-C ends the search, the count stays that of the last metric.
            n_triplets = count
            last_round = at.rounds + 1 == self.n_rounds
            this = fit if last_round else fit.loosened(EARLY_TOL)
            run = partial(checkpoint.run, this, prepared, start, last_round=last_round)
            return task.shown_in(stages, f"fit{which}", this.limits.tol, run)

        result = run_rounds(
            self.n_rounds,
            fit_round,
            fit.limits,
            before=(checkpoint.state.rounds, checkpoint.state.n_iter),
            stopped=lambda: task.stopped,
        )
        result = fit.settled(result)
        checkpoint.finish(result)
        return result, n_triplets
