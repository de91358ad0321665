"""Transforms of functions: derivatives in both modes, ``jit``, and looking at graphs.

Read in this order: ``_record``, ``_settle``, ``_grad``, ``_jvp``, ``_jit``, ``_batch``, ``_vmap``,
``_jacobian``, ``_hessian``, ``_look``, ``_explain``, ``_gauge``, ``_check``, ``_custom_call``,
``_debug``.
A file is loaded when one of its names is asked for: a program that only differentiates has no
use for the others.
"""

from typing import TYPE_CHECKING

from tenferro.computegraph import later
from tenferro.transforms._errors import (
    ArgumentNumberError,
    BatchAxisError,
    BatchingWarning,
    BorrowedWriteError,
    DifferentiationInputError,
    GaugeWarning,
    GradientCheckError,
    GraphTooLargeError,
    NonFiniteError,
    NonScalarOutputError,
    TangentMismatchError,
    UnknownPrimitiveError,
)

if TYPE_CHECKING:
    from tenferro.transforms._batch import batch
    from tenferro.transforms._callbacks import debug
    from tenferro.transforms._check import check_grads
    from tenferro.transforms._custom_jvp import custom_jvp
    from tenferro.transforms._custom_linear import custom_linear
    from tenferro.transforms._custom_vjp import custom_vjp
    from tenferro.transforms._debug import debug_nans
    from tenferro.transforms._eval_shape import eval_shape
    from tenferro.transforms._explain import FunctionExplanation, PrimitiveExplanation, explain
    from tenferro.transforms._grad import grad, value_and_grad
    from tenferro.transforms._graph_of import graph_of
    from tenferro.transforms._hessian import hessian
    from tenferro.transforms._jacobian import jacfwd, jacobian, jacrev
    from tenferro.transforms._jit import Jitted, jit
    from tenferro.transforms._jvp import LinearMap, hvp, jvp, linearize, vjp
    from tenferro.transforms._look import GraphOf, trace
    from tenferro.transforms._stop_gradient import stop_gradient
    from tenferro.transforms._vmap import vmap
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "_batch": "batch",
            "_callbacks": "debug",
            "_check": "check_grads",
            "_custom_jvp": "custom_jvp",
            "_custom_linear": "custom_linear",
            "_custom_vjp": "custom_vjp",
            "_debug": "debug_nans",
            "_eval_shape": "eval_shape",
            "_explain": "FunctionExplanation PrimitiveExplanation explain",
            "_grad": "grad value_and_grad",
            "_graph_of": "graph_of",
            "_hessian": "hessian",
            "_jacobian": "jacfwd jacobian jacrev",
            "_jit": "Jitted jit",
            "_jvp": "LinearMap hvp jvp linearize vjp",
            "_look": "GraphOf trace",
            "_stop_gradient": "stop_gradient",
            "_vmap": "vmap",
        },
    )

__all__ = [
    "ArgumentNumberError",
    "BatchAxisError",
    "BatchingWarning",
    "BorrowedWriteError",
    "DifferentiationInputError",
    "FunctionExplanation",
    "GaugeWarning",
    "GradientCheckError",
    "GraphOf",
    "GraphTooLargeError",
    "Jitted",
    "LinearMap",
    "NonFiniteError",
    "NonScalarOutputError",
    "PrimitiveExplanation",
    "TangentMismatchError",
    "UnknownPrimitiveError",
    "batch",
    "check_grads",
    "custom_jvp",
    "custom_linear",
    "custom_vjp",
    "debug",
    "debug_nans",
    "eval_shape",
    "explain",
    "grad",
    "graph_of",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linearize",
    "stop_gradient",
    "trace",
    "value_and_grad",
    "vjp",
    "vmap",
]
