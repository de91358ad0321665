"""Circular functions and their inverses on NumPy: one ufunc each.

Read next: `hyperbolic.py`.
"""

from __future__ import annotations

import numpy as np

from tenferro.primitives.trigonometric import Acos, Asin, Atan, Atan2, Cos, Hypot, Sin, Tan
from tenferro_numpy.ir.expression import Specialize
from tenferro_numpy.lowerings.arithmetic import ufunc

__all__ = ["EXPRESSIONS"]

EXPRESSIONS: dict[type, Specialize] = {
    Sin: ufunc(np.sin, 1),
    Cos: ufunc(np.cos, 1),
    Tan: ufunc(np.tan, 1),
    Asin: ufunc(np.arcsin, 1),
    Acos: ufunc(np.arccos, 1),
    Atan: ufunc(np.arctan, 1),
    Atan2: ufunc(np.arctan2, 2),
    Hypot: ufunc(np.hypot, 2),
}
