"""Piecewise cubic interpolants that are differentiable here, by the names of scipy.interpolate.

Derivatives flow to the places of evaluation, to the values, and to the knots. SciPy converts
what it is given, and refuses Arrays. Linear interpolation is ``np.interp``. Read next:
``_piecewise.py``, then ``_cubic_spline.py``.

>>> import numpy as np
>>> import tenferro as tn
>>> spline = tn.interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 2)
>>> print(spline(2.5), tn.grad(spline)(2.5))
6.25 5.0
"""

from __future__ import annotations

from tenferro.interpolate._cubic_spline import CubicSpline
from tenferro.interpolate._hermite import CubicHermiteSpline, PchipInterpolator
from tenferro.interpolate._piecewise import PPoly

__all__ = ["CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator"]
