"""Covered functions of NumPy: the primitives that they record and whether they have derivatives.

Written by ``python docs/_gen/numpy_functions.py`` from the rows of the tests; do not edit.
"""

from __future__ import annotations

TABLE: dict[str, tuple[tuple[str, ...], bool]] = {
    "matmul": (("dot_general",), True),
}
