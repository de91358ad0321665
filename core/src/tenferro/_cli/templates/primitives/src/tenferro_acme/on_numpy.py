"""The lowerings for NumPy, imported at their first use there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tenferro_acme.softplus import Softplus


def softplus(operation: Softplus, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Compute ln(e⁰ + eˣ) without overflow, in the dtype of x."""
    found: npt.NDArray[Any] = np.logaddexp(x, np.zeros_like(x))
    return found
