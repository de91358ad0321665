"""Rows of structural functions, reductions, statistics, sorting, sets, polynomials, windows."""

from numpy_rows import X, row, rows

ROWS = []
