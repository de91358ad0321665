"""The softplus: its meaning, its derivative, and its decomposition.

Nothing here knows a backend. Read next: ``plugin.py``.
"""

from __future__ import annotations

from typing import Any

import tenferro as tn
from tenferro.primitives import Elementwise, Handle, bind, exp, log1p, logistic


class Softplus(Elementwise):
    """y = ln(1 + eˣ),   dy = dx / (1 + e⁻ˣ);   real only"""

    key = "acme::softplus"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        """dy/dx; the rules of all modes and orders are derived from it."""
        return logistic(x)

    def decompose(self, x: Handle) -> Handle:
        """Write it in primitives that exist: every backend runs this."""
        return log1p(exp(x))


def softplus(x: Any) -> tn.Array:
    """Compute ln(1 + eˣ), elementwise."""
    return bind(Softplus(), tn.asarray(x))
