"""The lazy ``Array`` and the functions on it, under NumPy's names.

Read in this order: ``handle/array``, ``handle/convert``, ``promotion/broadcast``,
``functions/arithmetic``, ``evaluation/evaluate``, ``numpy_protocols/protocols``.
"""

from typing import TYPE_CHECKING

from tenferro._runtime import later
from tenferro.arrays.errors import (
    CapturedAssignmentError,
    ConcretizationError,
    CopyAssignmentWarning,
    ImmutableArrayError,
    LeakedArrayError,
    LostAssignmentError,
    TracedConversionError,
    UnknownOperandError,
    UnsupportedAttributeError,
    UnsupportedFunctionError,
)
from tenferro.arrays.evaluation.evaluate import (
    PROGRAMS,
    convert,
    evaluate,
    evaluate_keys,
    executable,
    store,
)
from tenferro.arrays.handle import operators as _operators  # noqa: F401  # adds them to Array
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, asarray, borrowing, operand_key, scalar
from tenferro.arrays.handle.traces import is_traced
from tenferro.arrays.numpy_protocols import protocols as _protocols  # noqa: F401  # and NumPy's
from tenferro.arrays.numpy_protocols.protocols import numpy_functions

if TYPE_CHECKING:
    from tenferro.arrays.functions.arithmetic import (
        absolute,
        add,
        astype,
        clip,
        divide,
        maximum,
        minimum,
        multiply,
        negative,
        positive,
        power,
        reciprocal,
        sign,
        sqrt,
        square,
        subtract,
    )
    from tenferro.arrays.functions.broadcasting import broadcast_to
    from tenferro.arrays.functions.comparison import (
        equal,
        greater,
        greater_equal,
        isfinite,
        isinf,
        isnan,
        less,
        less_equal,
        logical_and,
        logical_not,
        logical_or,
        logical_xor,
        not_equal,
        where,
    )
    from tenferro.arrays.functions.complex import conj, imag, real
    from tenferro.arrays.functions.contraction import dot, inner, matmul, outer, tensordot, vdot
    from tenferro.arrays.functions.creation import (
        copy,
        full,
        full_like,
        ones,
        ones_like,
        zeros,
        zeros_like,
    )
    from tenferro.arrays.functions.elementwise import (
        erf,
        exp,
        expm1,
        log,
        log1p,
        logistic,
        stop_gradient,
    )
    from tenferro.arrays.functions.hyperbolic import tanh
    from tenferro.arrays.functions.indexing import IndexKindError, OutOfBoundsError, take
    from tenferro.arrays.functions.joining import hstack, vstack
    from tenferro.arrays.functions.moments import mean, std, var
    from tenferro.arrays.functions.ranges import arange
    from tenferro.arrays.functions.rearranging import flip
    from tenferro.arrays.functions.reduction import (
        all,
        any,
        argmax,
        argmin,
        max,
        min,
        prod,
        sum,
    )
    from tenferro.arrays.functions.structural import (
        concatenate,
        expand_dims,
        moveaxis,
        ravel,
        reshape,
        squeeze,
        stack,
        swapaxes,
        transpose,
    )
    from tenferro.arrays.functions.trigonometric import cos, sin, tan
else:
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "functions.arithmetic": (
                "absolute add astype clip divide maximum minimum multiply negative positive power "
                "reciprocal sign sqrt square subtract"
            ),
            "functions.broadcasting": "broadcast_to",
            "functions.comparison": (
                "equal greater greater_equal isfinite isinf isnan less less_equal logical_and "
                "logical_not logical_or logical_xor not_equal where"
            ),
            "functions.complex": "conj imag real",
            "functions.contraction": "dot inner matmul outer tensordot vdot",
            "functions.creation": "copy full full_like ones ones_like zeros zeros_like",
            "functions.elementwise": "erf exp expm1 log log1p logistic stop_gradient",
            "functions.hyperbolic": "tanh",
            "functions.indexing": "IndexKindError OutOfBoundsError take",
            "functions.joining": "hstack vstack",
            "functions.moments": "mean std var",
            "functions.ranges": "arange",
            "functions.rearranging": "flip",
            "functions.reduction": "all any argmax argmin max min prod sum",
            "functions.structural": (
                "concatenate expand_dims moveaxis ravel reshape squeeze stack swapaxes transpose"
            ),
            "functions.trigonometric": "cos sin tan",
        },
    )
    # end generated

# fmt: off
# generated: public names
__all__ = [
    "PROGRAMS", "Array", "CapturedAssignmentError", "ConcretizationError", "CopyAssignmentWarning",
    "ImmutableArrayError", "IndexKindError", "LeakedArrayError", "LostAssignmentError",
    "OutOfBoundsError", "TracedConversionError", "UnknownOperandError", "UnsupportedAttributeError",
    "UnsupportedFunctionError", "absolute", "add", "all", "any", "arange", "argmax", "argmin",
    "as_array", "asarray", "astype", "borrowing", "broadcast_to", "clip", "concatenate", "conj",
    "convert", "copy", "cos", "divide", "dot", "equal", "erf", "evaluate", "evaluate_keys",
    "executable", "exp", "expand_dims", "expm1", "flip", "full", "full_like", "greater",
    "greater_equal", "hstack", "imag", "inner", "is_traced", "isfinite", "isinf", "isnan", "less",
    "less_equal", "log", "log1p", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logistic", "matmul", "max", "maximum", "mean", "min", "minimum", "moveaxis", "multiply",
    "negative", "not_equal", "numpy_functions", "ones", "ones_like", "operand_key", "outer",
    "positive", "power", "prod", "ravel", "real", "reciprocal", "reshape", "scalar", "sign", "sin",
    "sqrt", "square", "squeeze", "stack", "std", "stop_gradient", "store", "subtract", "sum",
    "swapaxes", "take", "tan", "tanh", "tensordot", "transpose", "var", "vdot", "vstack", "where",
    "zeros", "zeros_like",
]
# end generated
# fmt: on
