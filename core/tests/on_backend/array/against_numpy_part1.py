"""Rows of ufuncs, elementwise mathematics, comparison, creation and contraction."""

from numpy_rows import X, row, rows

ROWS = [
    *rows("exp sin cos", X(2, 3), grad=True),
    row("clip", X(2, 3), -1, 1, dtypes=("float64", "int32"), grad="real"),
]
