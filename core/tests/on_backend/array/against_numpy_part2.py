"""Rows of structural functions, reductions, statistics, sorting, sets and polynomials."""

import against_numpy_einsum
import against_numpy_searching
import against_numpy_statistics
import against_numpy_structure

ROWS = [
    *against_numpy_structure.ROWS,
    *against_numpy_statistics.ROWS,
    *against_numpy_searching.ROWS,
    *against_numpy_einsum.ROWS,
]
