"""Array types used throughout."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Dense: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Items: TypeAlias = Dense | sp.csr_array[Any, Any]
