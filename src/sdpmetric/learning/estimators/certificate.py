"""The certificate of searches and classifiers: another estimator has learned their metric."""

from __future__ import annotations

from typing import Any

from ...persistence.certificate import last_fit

__all__ = ["CertificateOfLastFit"]


def _of_last_fit(name: str, meaning: str) -> Any:
    def get(self: Any) -> Any:
        if not vars(self).keys() & {"best_estimator_", "metric_"}:
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        coordinates, last = last_fit(self)
        return coordinates if name == "coordinates_" else getattr(last, name)

    return property(get, doc=f"{meaning}, of the last fit.")


class CertificateOfLastFit:
    """Attributes of the certificate, read from the last fit: nothing is stored twice."""

    coordinates_ = _of_last_fit("coordinates_", "The coordinates in which the metric was learned")
    rho_ = _of_last_fit("rho_", "The margin")
    objective_ = _of_last_fit("objective_", "The objective that the metric reaches")
    upper_bound_ = _of_last_fit("upper_bound_", "A bound that no metric's objective exceeds")
    gap_ = _of_last_fit("gap_", "The relative duality gap")
    scale_ = _of_last_fit("scale_", "The factor of squared distances")
    status_ = _of_last_fit("status_", "Why the fit ended")
    converged_ = _of_last_fit("converged_", "Whether the gap is at most ``tol``")
    n_iter_ = _of_last_fit("n_iter_", "The number of iterations")
    n_triplets_ = _of_last_fit("n_triplets_", "The number of comparisons")
    eigenvalues_ = _of_last_fit("eigenvalues_", "The eigenvalues of M, descending")
    retained_ = _of_last_fit("retained_", "The share of the trace that ``components_`` keep")
    history_ = _of_last_fit("history_", "Objective, gap and seconds of each certificate")
