"""Inputs for the conformance kit, which alone reads this module.

A row names its edge. Where it states no result, laws and differences decide.
"""

from __future__ import annotations

from functools import partial

from tenferro_conformance.samples.table import Row, elementwise_rows, grid, table

SOFTPLUS = table(
    "acme::softplus",
    *elementwise_rows(partial(grid, -2, 2)),
    Row(edge="zero", inputs=([0.0, -0.0],), expected=[0.6931471805599453, 0.6931471805599453]),
    level=1,
    tol="elementary",
)

CASES = (SOFTPLUS,)
