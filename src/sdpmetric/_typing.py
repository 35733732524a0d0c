"""Array types used throughout."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Dense: TypeAlias = npt.NDArray[Any]  # float32 or float64
Items: TypeAlias = Any  # Dense, or scipy.sparse.csr_array: SciPy has no types
