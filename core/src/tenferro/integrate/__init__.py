"""Integrals of samples and of functions, and differential equations, by scipy.integrate's names.

Derivatives flow to samples and their places, to the ends of intervals, to initial values, times and
what an integrand or the right side of an equation reads. SciPy converts what it is given, and
refuses Arrays. Read next: ``_samples.py``, then ``_quadrature.py`` and ``_initial_value.py``.

>>> import tenferro as tn
>>> float(tn.integrate.simpson([0.0, 1.0, 4.0, 9.0, 16.0]))  # of x², exact
21.333333333333332
"""

from __future__ import annotations

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.calculus import trapezoid
from tenferro.integrate._initial_value import odeint, solve_ivp
from tenferro.integrate._quadrature import QuadratureInfo, fixed_quad, quad, quad_vec
from tenferro.integrate._samples import cumulative_simpson, cumulative_trapezoid, simpson
from tenferro.integrate._solve import Solution
from tenferro.primitives._boundary import publish as _publish

__all__ = [
    "QuadratureInfo",
    "Solution",
    "cumulative_simpson",
    "cumulative_trapezoid",
    "fixed_quad",
    "odeint",
    "quad",
    "quad_vec",
    "simpson",
    "solve_ivp",
    "trapezoid",
]

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)
