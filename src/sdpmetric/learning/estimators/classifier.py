"""`SDPMetricClassifier`: classes and their probabilities from a learned metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..._support.checks import check_choice, check_integer, check_jobs, seed_of
from ..._support.registry import METRICS, stored_in
from ..._support.typing import Dense, Floats, Ints
from ...engines.threads import thread_pool
from ...triplets.labels import as_labels
from .base import MetricEstimator
from .certificate import CertificateOfLastFit
from .energies import RULES, ClassEnergies
from .metric import MetricMixin
from .rule_choice import best_rule, quick
from .sdp_metric import SDPMetric
from .validate import rows_to_fit, set_fitted

__all__ = ["SDPMetricClassifier"]

# Rows beyond this size are multiplied by a power of two before they are added up.
_HUGE, _HUGE_FACTOR = 1e280, 2.0**-64
_LARGEST = float(np.finfo(np.float64).max)
_SAMPLE = 1_000  # training rows from which the temperature is learned
_TEMPERATURES = 1e-3, 1e3  # in units of the margin


@stored_in(METRICS)
class SDPMetricClassifier(CertificateOfLastFit, ClassifierMixin, MetricEstimator):  # type: ignore[misc]
    """Classify rows by the class whose label would cost the least under a learned metric.

    The classifier learns a metric, then gives each row the class of least energy: the distances to
    the nearest rows of that class, and a penalty for every row of another class that is too near.
    It uses more of the metric than a vote of the nearest rows, and its probabilities are smooth.
    It is a metric as well: `transform`, distances, exports and model files work as for `SDPMetric`.

    Parameters
    ----------
    metric : estimator, default=None
        What learns the metric: an `SDPMetric` or an `SDPMetricCV`. None is ``SDPMetric()``.
    rule : {"energy", "mean", "vote", "auto"}, default="energy"
        "energy": the loss of the row if it had this label (Weinberger and Saul's rule). "mean": the
        mean squared distance to the nearest rows of the class, without other classes. "vote": most
        of the nearest rows of all classes. "auto": "energy", unless another rule is right for
        clearly more rows that are held out of three further fits with the metric's settings, each
        to a gap of 0.01. ``rule_`` says which.
    n_neighbors : int, default=3
        Nearest rows of each class ("vote": of all classes together).
    random_state : int, RandomState or None, default=None
        Seeds the sample of training rows from which probabilities are calibrated.
    n_jobs : int, default=None
        Threads; -1 for all cores. None: as many as BLAS may use.

    Attributes
    ----------
    metric_ : the fitted metric
    components_ : (k, D) array, those of ``metric_``
    gap_, status_, rho_ and the rest of the certificate : those of ``metric_``, as in `SDPMetric`
    classes_ : (n_classes,) array of labels
    rule_ : the rule by which rows are classified
    temperature_ : float
        Probabilities are ``softmax(-energy / temperature_)``. The temperature maximises the
        likelihood of training rows that are left out one at a time.
    n_features_in_, feature_names_in_ : int and array, as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sdpmetric import SDPMetricClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> A, B, a, b = train_test_split(X, y, random_state=0, stratify=y)
    >>> model = SDPMetricClassifier().fit(A, a)
    >>> model.score(B, b) > 0.95
    True
    >>> model.predict_proba(B).shape
    (45, 3)
    """

    def __init__(
        self,
        metric: Any = None,
        *,
        rule: str = "energy",
        n_neighbors: int = 3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.rule = rule
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric, and the energies of the classes under it.

        Parameters
        ----------
        X : (n, D) rows, dense or sparse
        y : (n,) class labels
        """
        items, labels, columns = rows_to_fit(self, X, y)
        check_classification_targets(labels)
        check_choice("rule", self.rule, (*RULES, "auto"))
        check_integer("n_neighbors", self.n_neighbors, 1)
        n_jobs, seed = check_jobs(self.n_jobs), seed_of(self.random_state)
        metric = SDPMetric() if self.metric is None else self.metric
        if not isinstance(metric, MetricMixin):
            raise ValueError(
                "metric must be None or an estimator such as SDPMetric or SDPMetricCV, got "
                f"{metric!r}."
            )
        classes, codes = as_labels(labels)
        metric = clone(metric).fit(X, y)
        rule = self.rule
        if rule == "auto":
            fast = clone(self).set_params(metric=quick(metric), rule=RULES[0])
            rule = best_rule(fast, items, classes[codes], seed)
        order = np.argsort(codes, kind="stable")
        with thread_pool(n_jobs):
            rows = items.take(order).mapped(metric.components_, exact=True).raw
            # Sums of rows near the largest number would overflow; a power of two rounds nothing.
            factor = _HUGE_FACTOR if float(np.abs(rows).max()) > _HUGE else 1.0
            # Products of centred rows do not lose the digits of near rows to a common offset.
            centre = (rows * factor).mean(axis=0)
            rows = rows * factor - centre
            # Squares of rows in extreme units would overflow.
            unit = float(np.abs(rows).max()) or 1.0
            energies = ClassEnergies.learn(rows / unit, codes[order], self.n_neighbors)
            temperature = _temperature(energies, codes[order], rule, seed)
        set_fitted(
            self,
            columns,
            metric_=metric,
            components_=metric.components_,
            classes_=classes,
            rule_=rule,
            centre_=centre / factor,
            unit_=min(unit / factor, _LARGEST),
            rows_=energies.rows,
            starts_=energies.starts,
            perimeters_=energies.perimeters,
            margin_=energies.margin,
            temperature_=temperature,
        )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """(n, n_classes) probabilities of the classes, in the order of ``classes_``."""
        energies = self.energies(X)
        probabilities: Floats = softmax(-energies / self.temperature_, axis=1)
        return probabilities

    def predict(self, X: Any) -> Dense:
        """(n,) labels: for each row the class of least energy."""
        least = np.argmin(self.energies(X), axis=1)
        labels: Dense = self.classes_[least]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted.

        Parameters
        ----------
        X : (n, D) rows
        y : (n,) their classes
        sample_weight : (n,) weights, default=None
        """
        return float(super().score(X, y, sample_weight))

    def energies(self, X: Any, rule: str | None = None) -> Floats:
        """(n, n_classes) what each class would cost a row; the least is predicted.

        Parameters
        ----------
        X : (n, D) rows
        rule : "energy", "mean" or "vote"; default: ``rule_``
        """
        check_is_fitted(self)
        if rule is None:
            rule = getattr(self, "rule_", self.rule)  # older model files have no rule_
        check_choice("rule", rule, RULES)
        rows = self.transform_array(X)
        sizes = float(np.abs(rows).max(initial=0.0)), float(np.abs(self.centre_).max())
        factor = _HUGE_FACTOR if max(*sizes, self.unit_) > _HUGE else 1.0
        rows = (rows * factor - self.centre_ * factor) / (self.unit_ * factor)
        learned = ClassEnergies(
            self.rows_, self.starts_, self.perimeters_, self.margin_, self.n_neighbors
        )
        with thread_pool(check_jobs(self.n_jobs)):
            return learned.by(rule, rows)


def _temperature(energies: ClassEnergies, codes: Ints, rule: str, seed: int) -> float:
    """The temperature at which labels of training rows, left out, are likeliest."""
    own = np.random.default_rng(seed).permutation(len(codes))[:_SAMPLE]
    # A row alone in its class has no chance once it is left out.
    own = own[np.bincount(codes)[codes[own]] > 1]
    found = energies.by(rule, energies.rows[own], own)
    found = np.where(np.isfinite(found), found, 1e6)

    def cost(log_temperature: float) -> float:
        likelihoods = log_softmax(-found * np.exp(-log_temperature), axis=1)
        return -float(likelihoods[np.arange(len(own)), codes[own]].mean())

    low, high = np.log(_TEMPERATURES)
    return float(np.exp(minimize_scalar(cost, bounds=(low, high), method="bounded").x))
