"""Transforms of functions: derivatives in both modes, ``jit``, and looking at graphs.

Read in this order: ``_record``, ``_settle``, ``_grad``, ``_jvp``, ``_jit``, ``_batch``, ``_vmap``, ``_jacobian``, ``_look``, ``_check``.
"""

from tenferro.transforms._check import check_grads
from tenferro.transforms._errors import (
    ArgumentNumberError,
    BatchAxisError,
    BatchingWarning,
    DifferentiationInputError,
    GradientCheckError,
    NonScalarOutputError,
    TangentMismatchError,
)
from tenferro.transforms._grad import grad, value_and_grad
from tenferro.transforms._jacobian import hessian, jacfwd, jacobian, jacrev
from tenferro.transforms._jit import Jitted, jit
from tenferro.transforms._jvp import LinearMap, hvp, jvp, linearize, vjp
from tenferro.transforms._look import GraphOf, trace
from tenferro.transforms._vmap import vmap

__all__ = [
    "ArgumentNumberError",
    "BatchAxisError",
    "BatchingWarning",
    "DifferentiationInputError",
    "GradientCheckError",
    "GraphOf",
    "Jitted",
    "LinearMap",
    "NonScalarOutputError",
    "TangentMismatchError",
    "check_grads",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linearize",
    "trace",
    "value_and_grad",
    "vjp",
    "vmap",
]
