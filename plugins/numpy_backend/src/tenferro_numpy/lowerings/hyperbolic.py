"""Hyperbolic functions and their inverses on NumPy: one ufunc each.

Read next: `special.py`.
"""

from __future__ import annotations

import numpy as np

from tenferro.primitives.hyperbolic import Acosh, Asinh, Atanh, Cosh, Sinh, Tanh
from tenferro_numpy.ir.expression import Specialize
from tenferro_numpy.lowerings.arithmetic import ufunc

__all__ = ["EXPRESSIONS"]

EXPRESSIONS: dict[type, Specialize] = {
    Sinh: ufunc(np.sinh, 1),
    Cosh: ufunc(np.cosh, 1),
    Tanh: ufunc(np.tanh, 1),
    Asinh: ufunc(np.arcsinh, 1),
    Acosh: ufunc(np.arccosh, 1),
    Atanh: ufunc(np.arctanh, 1),
}
