"""Inputs for the conformance kit, which alone reads this module."""

from __future__ import annotations

from tenferro_conformance.samples.table import F64, FLOATS, Row, grid, table

RECURSION = table(
    "acme_filters::recursion",
    Row(edge="one_row", inputs=(0.5, [1.0, -2.0, 4.0]), dtypes=FLOATS, wrt=(0, 1),
        expected=[1.0, -1.5, 3.25]),
    Row(edge="reverse", inputs=(0.5, [1.0, -2.0, 4.0]), params={"reverse": True}, wrt=(0, 1),
        expected=[1.0, 0.0, 4.0]),
    Row(edge="rows", inputs=(grid(-0.9, 0.9, 3), grid(-2, 2, 3, 7)), dtypes=F64, wrt=(0, 1)),
    Row(edge="empty", inputs=(grid(0, 1, 0), grid(0, 1, 0, 3)), dtypes=F64, wrt=(0, 1), order=1),
    Row(edge="no_time", inputs=(grid(0, 1, 2), grid(0, 1, 2, 0)), dtypes=F64, wrt=(0, 1), order=1),
    level=1,
    tol="reduction",
)  # fmt: skip
CASES = (RECURSION,)
