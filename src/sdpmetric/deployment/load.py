"""`load`: read a metric of any class from its model file."""

from __future__ import annotations

from typing import Any

# Imported for their classes alone: these enter the tables in which a file's class is looked up.
from ..learning import embeddings, estimators, selection  # noqa: F401
from ..persistence.model_file import read


def load(path: Any) -> Any:
    """Read a metric from a model file: the same class, parameters and attributes, to the bit.

    A model file holds no code, so that none can run. The setting of ``set_output`` is not stored.

    Parameters
    ----------
    path : str or path
        File name that ends in ``.safetensors`` or ``.json``.

    Returns
    -------
    A fitted metric.

    Raises
    ------
    ValueError
        The file is not a model, is not complete, or has a newer format than this version reads.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import sdpmetric
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = sdpmetric.SDPMetric(C=2.0, tol=1e-2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     metric.save(f"{folder}/m.safetensors")
    ...     again = sdpmetric.load(f"{folder}/m.safetensors")
    >>> again.C, str(again.status_), np.array_equal(again.transform(X), metric.transform(X))
    (2.0, 'converged', True)
    """
    return read(path)
