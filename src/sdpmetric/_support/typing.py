"""Array types that every room uses."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Dense: TypeAlias = npt.NDArray[Any]  # float32 or float64
Rows: TypeAlias = Any  # Dense or scipy.sparse.csr_array; Any, since SciPy ships no types
