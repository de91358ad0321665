"""Transforms of functions: derivatives in both modes, ``jit``, and looking at graphs.

Read in this order: ``_record``, ``_settle``, ``_grad``, ``_jvp``, ``_jit``, ``_look``, ``_check``.
"""

from tenferro.transforms._check import check_grads
from tenferro.transforms._errors import (
    ArgumentNumberError,
    DifferentiationInputError,
    GradientCheckError,
    NonScalarOutputError,
    TangentMismatchError,
)
from tenferro.transforms._grad import grad, value_and_grad
from tenferro.transforms._jit import Jitted, jit
from tenferro.transforms._jvp import LinearMap, hvp, jvp, linearize, vjp
from tenferro.transforms._look import GraphOf, trace

__all__ = [
    "ArgumentNumberError",
    "DifferentiationInputError",
    "GradientCheckError",
    "GraphOf",
    "Jitted",
    "LinearMap",
    "NonScalarOutputError",
    "TangentMismatchError",
    "check_grads",
    "grad",
    "hvp",
    "jit",
    "jvp",
    "linearize",
    "trace",
    "value_and_grad",
    "vjp",
]
