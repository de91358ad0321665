"""Vocabulary of the tables: what a file of cases imports, ours and a third party's.

The names are defined in `numbers.py` (dtypes and grids of numbers), `rows.py` (rows and tables) and
`common_rows.py` (rows that many primitives share). Read `rows.py` next.
"""

from __future__ import annotations

from tenferro_conformance.samples.common_rows import elementwise_rows, halved, special_values
from tenferro_conformance.samples.numbers import (
    ALL_DTYPES,
    ALL_INTS,
    BOOL,
    COMPLEX,
    F32,
    F64,
    FLOATS,
    HALF,
    INTS,
    NUMBERS,
    RARE_DTYPES,
    SIGNED,
    UNSIGNED,
    Grid,
    away,
    cgrid,
    coarse,
    complex_dtype,
    fine,
    grid,
    igrid,
    real_dtype,
)
from tenferro_conformance.samples.rows import ORACLE, Meaning, Row, Table, table

__all__ = [
    "ALL_DTYPES", "ALL_INTS", "BOOL", "COMPLEX", "F32", "F64", "FLOATS", "HALF", "INTS", "NUMBERS",
    "ORACLE", "RARE_DTYPES", "SIGNED", "UNSIGNED", "Grid", "Meaning", "Row", "Table", "away",
    "cgrid", "coarse", "complex_dtype", "elementwise_rows", "fine", "grid", "halved", "igrid",
    "real_dtype", "special_values", "table",
]  # fmt: skip
