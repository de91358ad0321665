"""The lazy ``Array`` and the functions on it, under NumPy's names.

Read in this order: ``_array``, ``_convert``, ``_broadcast``, ``functions/arithmetic``,
``_evaluate``, ``_protocols``.
"""

from typing import TYPE_CHECKING

from tenferro.array import _operators as _operators
from tenferro.array import _protocols as _protocols
from tenferro.array import _ufunc_methods as _ufunc_methods  # fills the table of methods
from tenferro.array._array import Array, is_traced
from tenferro.array._convert import as_array, asarray, borrowing, operand_key, scalar
from tenferro.array._errors import (
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
from tenferro.array._evaluate import (
    PROGRAMS,
    convert,
    evaluate,
    evaluate_keys,
    executable,
    store,
)
from tenferro.array._protocols import numpy_functions
from tenferro.computegraph import later

if TYPE_CHECKING:
    from tenferro.array.functions.arithmetic import (
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
    from tenferro.array.functions.broadcasting import broadcast_to
    from tenferro.array.functions.comparison import (
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
    from tenferro.array.functions.complex import conj, imag, real
    from tenferro.array.functions.contraction import dot, inner, matmul, outer, tensordot, vdot
    from tenferro.array.functions.creation import (
        copy,
        full,
        full_like,
        ones,
        ones_like,
        zeros,
        zeros_like,
    )
    from tenferro.array.functions.elementwise import (
        erf,
        exp,
        expm1,
        log,
        log1p,
        logistic,
        stop_gradient,
    )
    from tenferro.array.functions.hyperbolic import tanh
    from tenferro.array.functions.indexing import IndexKindError, OutOfBoundsError, take
    from tenferro.array.functions.joining import hstack, vstack
    from tenferro.array.functions.moments import mean, std, var
    from tenferro.array.functions.ranges import arange
    from tenferro.array.functions.rearranging import flip
    from tenferro.array.functions.reduction import (
        all,
        any,
        argmax,
        argmin,
        max,
        min,
        prod,
        sum,
    )
    from tenferro.array.functions.structural import (
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
    from tenferro.array.functions.trigonometric import cos, sin, tan
else:
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

__all__ = [
    "PROGRAMS",
    "Array",
    "ConcretizationError",
    "CopyAssignmentWarning",
    "ImmutableArrayError",
    "IndexKindError",
    "LeakedArrayError",
    "LostAssignmentError",
    "OutOfBoundsError",
    "TracedConversionError",
    "UnknownOperandError",
    "UnsupportedAttributeError",
    "UnsupportedFunctionError",
    "absolute",
    "add",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "as_array",
    "asarray",
    "astype",
    "borrowing",
    "broadcast_to",
    "clip",
    "concatenate",
    "conj",
    "convert",
    "copy",
    "cos",
    "divide",
    "dot",
    "equal",
    "erf",
    "evaluate",
    "evaluate_keys",
    "executable",
    "exp",
    "expand_dims",
    "expm1",
    "flip",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hstack",
    "imag",
    "inner",
    "is_traced",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logistic",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "negative",
    "not_equal",
    "numpy_functions",
    "ones",
    "ones_like",
    "operand_key",
    "outer",
    "positive",
    "power",
    "prod",
    "ravel",
    "real",
    "reciprocal",
    "reshape",
    "scalar",
    "sign",
    "sin",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "store",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "tan",
    "tanh",
    "tensordot",
    "transpose",
    "var",
    "vdot",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]
