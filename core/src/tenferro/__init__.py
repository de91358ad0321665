"""tenferro: write NumPy, differentiate it to any order, run it on the backend you installed.

``import tenferro as tn``; then ``tn.grad(f)(x)`` with f written in NumPy. Nothing here imports an
array library or looks for plugins; both wait until something is evaluated. The functions on arrays
have NumPy's names and are found by them, so that an unused family does not load.
"""

from __future__ import annotations

from importlib import import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING

from tenferro._runtime import CollectorPaused as _CollectorPaused
from tenferro._runtime import later as _later

with _CollectorPaused():  # modules leave no garbage
    import_module("tenferro.arrays")

from tenferro.arrays import (
    Array,
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
    evaluate,
    numpy_functions,
)
from tenferro.arrays.evaluation.results import public_kind as _public_kind
from tenferro.arrays.registry import FUNCTIONS as _FUNCTIONS
from tenferro.backend import (
    API_VERSION,
    BackendConflictError,
    BackendError,
    DecompositionCycleError,
    DeviceUnavailableError,
    InvalidOptionError,
    LoweringConflictError,
    LoweringError,
    MissingLoweringError,
    MixedBackendsError,
    NamespaceError,
    NoBackendError,
    PluginBlockedError,
    PluginBrokenError,
    PluginError,
    PluginIncompatibleError,
    PluginWarning,
    PreferenceError,
    ProcessError,
    ProgramsDifferError,
    ShardingIgnoredWarning,
    SpansProcessesError,
    UnknownBackendError,
    UnknownOptionError,
    UnsupportedError,
    ValuesDifferError,
    host,
    prefer,
    set_default,
    use,
)
from tenferro.computegraph import (
    DuplicateInputError,
    GraphError,
    OperandError,
    SerializationError,
    TenferroError,
    UnresolvedValueError,
)
from tenferro.passes import BrokenPassError, MemoryBudgetError, UnknownPassError
from tenferro.primitives import (
    AbstractValueError,
    ArgumentBufferError,
    ArgumentError,
    ArgumentIndexError,
    ArgumentOverflowError,
    ArgumentTypeError,
    ArgumentValueError,
    Aval,
    AxisError,
    DType,
    DTypeMismatchError,
    InternalError,
    InvalidParameterError,
    OffloadError,
    RefusalError,
    ShapeMismatchError,
    ShardingError,
    StepLimitError,
    UnknownDTypeError,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tenferro.primitives._boundary import public as _public
from tenferro.tidu import (
    ADContext,
    DifferentiationError,
    DuplicateWrtError,
    MissingRuleError,
    MixedFlowError,
    NotLinearError,
    RuleResultError,
)
from tenferro.transforms import (
    ArgumentNumberError,
    BatchAxisError,
    BatchingWarning,
    BodyError,
    BorrowedWriteError,
    DifferentiationInputError,
    FileAccessError,
    GaugeWarning,
    GradientCheckError,
    GraphTooLargeError,
    KitNotInstalledError,
    NonFiniteError,
    NonScalarOutputError,
    PrimitiveCheckError,
    SparseResultError,
    TangentMismatchError,
    UnknownPrimitiveError,
)

# isort: off
# fmt: off
if TYPE_CHECKING:
    __version__: str
    from tenferro import distributed, fft, integrate, interpolate, linalg, ndimage, random, signal
    from tenferro import spatial, special, stats
    from tenferro.primitives import Mesh
    from tenferro.arrays import IndexKindError, OutOfBoundsError
    from tenferro.arrays.array_api import __array_api_version__, __array_namespace_info__
    from tenferro.arrays.functions.data_types import (
        can_cast, finfo, iinfo, isdtype, promote_types, result_type,
    )
    from tenferro.backend.kept import keep_programs
    from tenferro.transforms import (
        ContractExpression, FunctionExplanation, GraphOf, PrimitiveExplanation, SavedFunction,
        associative_scan, barrier, check_grads, check_primitive, checkpoint, cond,
        contract_expression, custom_jvp, custom_linear, custom_linear_solve, custom_root,
        custom_vjp, debug, debug_nans, eval_shape, explain, export, fori_loop,
        from_local, grad, graph_of, hessian, host_callback, hvp, jacfwd, jacobian,
        jacrev, jet, jit, jvp, linearize, load_arrays, load_exported, load_graph, map, mesh, name,
        offload, profile, revolve, save_arrays, save_graph, scan,
        shard, sharding_constraint, sparsity, stop_gradient, switch, trace, value_and_grad, vjp,
        vectorize, vmap, while_loop,
    )
    # generated: functions
    from tenferro.arrays.functions.applying import apply_along_axis, apply_over_axes
    from tenferro.arrays.functions.arithmetic import (
        absolute, absolute as abs, add, astype, cbrt, clip, divide, divide as true_divide, fabs,
        float_power, maximum, minimum, multiply, negative, positive, power, power as pow,
        reciprocal, sign, sqrt, square, subtract,
    )
    from tenferro.arrays.functions.bessel import i0
    from tenferro.arrays.functions.bitwise import (
        bitwise_and, bitwise_count, bitwise_or, bitwise_xor, gcd, invert, invert as bitwise_invert,
        invert as bitwise_not, lcm, left_shift, left_shift as bitwise_left_shift, right_shift,
        right_shift as bitwise_right_shift,
    )
    from tenferro.arrays.functions.broadcasting import (
        atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_to,
    )
    from tenferro.arrays.functions.calculus import (
        diff, ediff1d, gradient, interp, trapezoid, trapezoid as trapz,
    )
    from tenferro.arrays.functions.closeness import (
        allclose, array_equal, array_equiv, isclose, piecewise, real_if_close,
        select_first as select,
    )
    from tenferro.arrays.functions.comparison import (
        equal, greater, greater_equal, isfinite, isinf, isnan, less, less_equal, logical_and,
        logical_not, logical_or, logical_xor, not_equal, where,
    )
    from tenferro.arrays.functions.complex import conj, conj as conjugate, imag, real
    from tenferro.arrays.functions.contraction import (
        dot, inner, kron, matmul, matvec, outer, tensordot, vdot, vecdot, vecmat,
    )
    from tenferro.arrays.functions.creation import (
        array, asarray_chkfinite, copy, fromfunction, full, full_like, ndim, ones, ones_like, shape,
        size, zeros, zeros as empty, zeros_like, zeros_like as empty_like,
    )
    from tenferro.arrays.functions.cumulative import (
        cumprod, cumsum, cumulative_prod, cumulative_sum,
    )
    from tenferro.arrays.functions.editing import delete, insert, resize, trim_zeros
    from tenferro.arrays.functions.einsum import einsum, einsum_path
    from tenferro.arrays.functions.elementwise import (
        erf, exp, exp2, expm1, log, log10, log1p, log2, logaddexp, logaddexp2, logistic,
        logistic as expit,
    )
    from tenferro.arrays.functions.exchange import from_dlpack
    from tenferro.arrays.functions.filtering import convolve, correlate, cross
    from tenferro.arrays.functions.floating import (
        copysign, fmax, fmin, frexp, heaviside, iscomplex, iscomplexobj, isneginf, isposinf, isreal,
        isrealobj, ldexp, nan_to_num, nextafter, signbit, spacing,
    )
    from tenferro.arrays.functions.histogram import (
        bincount, histogram, histogram2d, histogram_bin_edges, histogramdd,
    )
    from tenferro.arrays.functions.hyperbolic import (
        arccosh, arccosh as acosh, arcsinh, arcsinh as asinh, arctanh, arctanh as atanh, cosh, sinh,
        tanh,
    )
    from tenferro.arrays.functions.indexing import take
    from tenferro.arrays.functions.joining import (
        append, block, column_stack, dstack, hstack, vstack,
    )
    from tenferro.arrays.functions.moments import average, corrcoef, cov, mean, std, var
    from tenferro.arrays.functions.nan_functions import (
        nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmedian, nanmin,
        nanpercentile, nanprod, nanquantile, nanstd, nansum, nanvar,
    )
    from tenferro.arrays.functions.padding import pad
    from tenferro.arrays.functions.polynomial import (
        polyadd, polyder, polydiv, polyint, polymul, polysub, polyval,
    )
    from tenferro.arrays.functions.printing import (
        array2string, array_repr, array_str, shares_memory, shares_memory as may_share_memory,
    )
    from tenferro.arrays.functions.quantiles import median, percentile, quantile
    from tenferro.arrays.functions.ranges import (
        arange, geomspace, indices, linspace, logspace, meshgrid,
    )
    from tenferro.arrays.functions.rearranging import (
        flip, fliplr, flipud, repeat, roll, rot90, tile,
    )
    from tenferro.arrays.functions.reduction import (
        all, any, argmax, argmin, count_nonzero, max, max as amax, min, min as amin, prod, ptp, sum,
    )
    from tenferro.arrays.functions.rounding import (
        ceil, divmod, fix, floor, floor_divide, fmod, modf, remainder, remainder as mod, rint,
        round, round as around, trunc,
    )
    from tenferro.arrays.functions.searching import (
        argwhere, digitize, flatnonzero, nonzero, searchsorted,
    )
    from tenferro.arrays.functions.sets import (
        intersect1d, isin, setdiff1d, setxor1d, union1d, unique, unique_all, unique_counts,
        unique_inverse, unique_values,
    )
    from tenferro.arrays.functions.sorting import (
        argpartition, argsort, lexsort, partition, sort, sort_complex,
    )
    from tenferro.arrays.functions.splitting import (
        array_split, dsplit, hsplit, split, unstack, vsplit,
    )
    from tenferro.arrays.functions.structural import (
        concatenate, concatenate as concat, expand_dims, matrix_transpose, moveaxis, ravel, reshape,
        rollaxis, squeeze, stack, swapaxes, transpose, transpose as permute_dims,
    )
    from tenferro.arrays.functions.taking import (
        choose, compress, diagonal, extract, ix_, ravel_multi_index, take_along_axis, unravel_index,
    )
    from tenferro.arrays.functions.triangles import (
        diag, diag_indices, diag_indices_from, diagflat, eye, identity, mask_indices, tri, tril,
        tril_indices, tril_indices_from, triu, triu_indices, triu_indices_from, vander,
    )
    from tenferro.arrays.functions.trigonometric import (
        angle, arccos, arccos as acos, arcsin, arcsin as asin, arctan, arctan as atan, arctan2,
        arctan2 as atan2, cos, degrees, degrees as rad2deg, hypot, radians, radians as deg2rad, sin,
        sinc, tan, unwrap,
    )
    from tenferro.arrays.functions.windows import sliding_window_view
    from tenferro.arrays.functions.writing import (
        copyto, fill_diagonal, place, put, put_along_axis, putmask,
    )
    from tenferro.arrays.handle.convert import (
        asarray, asarray as asanyarray, asarray as ascontiguousarray, asarray as asfortranarray,
    )
    # end generated
# fmt: on
# isort: on
else:

    _NAMESPACES = tuple(
        "distributed fft integrate interpolate linalg ndimage random signal spatial special "
        "stats".split()
    )

    def _other(name: str) -> object:
        """Return a namespace, a function on arrays, or the version in the metadata."""
        if name == "__version__":
            return import_module("importlib.metadata").version("tenferro")
        if name in _NAMESPACES:
            return import_module(f"tenferro.{name}")
        if name in __all__:
            return _public_kind(name, _FUNCTIONS.find(name))
        return import_module("tenferro.arrays.diagnosis.missing_names").refuse_name(name)

    # generated: lazy names
    __getattr__, __dir__ = _later(
        __name__,
        {
            "arrays": "IndexKindError OutOfBoundsError",
            "arrays.array_api": "__array_api_version__ __array_namespace_info__",
            "arrays.functions.data_types": "can_cast finfo iinfo isdtype promote_types result_type",
            "backend.kept": "keep_programs",
            "primitives": "Mesh",
            "transforms": (
                "ContractExpression FunctionExplanation GraphOf PrimitiveExplanation SavedFunction "
                "associative_scan barrier check_grads check_primitive checkpoint cond "
                "contract_expression custom_jvp custom_linear custom_linear_solve custom_root "
                "custom_vjp debug debug_nans eval_shape explain export fori_loop from_local grad "
                "graph_of hessian host_callback hvp jacfwd jacobian jacrev jet jit jvp linearize "
                "load_arrays load_exported load_graph map mesh name offload profile revolve "
                "save_arrays save_graph scan shard sharding_constraint sparsity stop_gradient "
                "switch trace value_and_grad vectorize vjp vmap while_loop"
            ),
        },
        _other,
        _public,
    )
    # end generated


evaluate = _public("evaluate", evaluate)
prefer = _public("prefer", prefer)
set_default = _public("set_default", set_default)
bool = bool_
newaxis = None


# fmt: off
# generated: public names
__all__ = [
    "API_VERSION", "ADContext", "AbstractValueError", "ArgumentBufferError", "ArgumentError",
    "ArgumentIndexError", "ArgumentNumberError", "ArgumentOverflowError", "ArgumentTypeError",
    "ArgumentValueError", "Array", "Aval", "AxisError", "BackendConflictError", "BackendError",
    "BatchAxisError", "BatchingWarning", "BodyError", "BorrowedWriteError", "BrokenPassError",
    "CapturedAssignmentError", "ConcretizationError", "ContractExpression", "CopyAssignmentWarning",
    "DType", "DTypeMismatchError", "DecompositionCycleError", "DeviceUnavailableError",
    "DifferentiationError", "DifferentiationInputError", "DuplicateInputError", "DuplicateWrtError",
    "FileAccessError", "FunctionExplanation", "GaugeWarning", "GradientCheckError", "GraphError",
    "GraphOf", "GraphTooLargeError", "ImmutableArrayError", "IndexKindError", "InternalError",
    "InvalidOptionError", "InvalidParameterError", "KitNotInstalledError", "LeakedArrayError",
    "LostAssignmentError", "LoweringConflictError", "LoweringError", "MemoryBudgetError", "Mesh",
    "MissingLoweringError", "MissingRuleError", "MixedBackendsError", "MixedFlowError",
    "NamespaceError", "NoBackendError", "NonFiniteError", "NonScalarOutputError", "NotLinearError",
    "OffloadError", "OperandError", "OutOfBoundsError", "PluginBlockedError", "PluginBrokenError",
    "PluginError", "PluginIncompatibleError", "PluginWarning", "PreferenceError",
    "PrimitiveCheckError", "PrimitiveExplanation", "ProcessError", "ProgramsDifferError",
    "RefusalError", "RuleResultError", "SavedFunction", "SerializationError", "ShapeMismatchError",
    "ShardingError", "ShardingIgnoredWarning", "SpansProcessesError", "SparseResultError",
    "StepLimitError", "TangentMismatchError", "TenferroError", "TracedConversionError",
    "UnknownBackendError", "UnknownDTypeError", "UnknownOperandError", "UnknownOptionError",
    "UnknownPassError", "UnknownPrimitiveError", "UnresolvedValueError",
    "UnsupportedAttributeError", "UnsupportedError", "UnsupportedFunctionError",
    "ValuesDifferError", "__array_api_version__", "__array_namespace_info__", "abs", "absolute",
    "acos", "acosh", "add", "all", "allclose", "amax", "amin", "angle", "any", "append",
    "apply_along_axis", "apply_over_axes", "arange", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctan2", "arctanh", "argmax", "argmin", "argpartition", "argsort", "argwhere",
    "around", "array", "array2string", "array_equal", "array_equiv", "array_repr", "array_split",
    "array_str", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray",
    "asfortranarray", "asin", "asinh", "associative_scan", "astype", "atan", "atan2", "atanh",
    "atleast_1d", "atleast_2d", "atleast_3d", "average", "barrier", "bfloat16", "bincount",
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "block", "bool", "bool_",
    "broadcast_arrays", "broadcast_to", "can_cast", "cbrt", "ceil", "check_grads",
    "check_primitive", "checkpoint", "choose", "clip", "column_stack", "complex64", "complex128",
    "compress", "concat", "concatenate", "cond", "conj", "conjugate", "contract_expression",
    "convolve", "copy", "copysign", "copyto", "corrcoef", "correlate", "cos", "cosh",
    "count_nonzero", "cov", "cross", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum",
    "custom_jvp", "custom_linear", "custom_linear_solve", "custom_root", "custom_vjp", "debug",
    "debug_nans", "deg2rad", "degrees", "delete", "diag", "diag_indices", "diag_indices_from",
    "diagflat", "diagonal", "diff", "digitize", "distributed", "divide", "divmod", "dot", "dsplit",
    "dstack", "e", "ediff1d", "einsum", "einsum_path", "empty", "empty_like", "equal", "erf",
    "eval_shape", "evaluate", "exp", "exp2", "expand_dims", "expit", "explain", "expm1", "export",
    "extract", "eye", "fabs", "fft", "fill_diagonal", "finfo", "fix", "flatnonzero", "flip",
    "fliplr", "flipud", "float16", "float32", "float64", "float_power", "floor", "floor_divide",
    "fmax", "fmin", "fmod", "fori_loop", "frexp", "from_dlpack", "from_local", "fromfunction",
    "full", "full_like", "gcd", "geomspace", "grad", "gradient", "graph_of", "greater",
    "greater_equal", "heaviside", "hessian", "histogram", "histogram2d", "histogram_bin_edges",
    "histogramdd", "host", "host_callback", "hsplit", "hstack", "hvp", "hypot", "i0", "identity",
    "iinfo", "imag", "indices", "inf", "inner", "insert", "int8", "int16", "int32", "int64",
    "integrate", "interp", "interpolate", "intersect1d", "invert", "isclose", "iscomplex",
    "iscomplexobj", "isdtype", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf",
    "isreal", "isrealobj", "ix_", "jacfwd", "jacobian", "jacrev", "jet", "jit", "jvp",
    "keep_programs", "kron", "lcm", "ldexp", "left_shift", "less", "less_equal", "lexsort",
    "linalg", "linearize", "linspace", "load_arrays", "load_exported", "load_graph", "log", "log1p",
    "log2", "log10", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logistic", "logspace", "map", "mask_indices", "matmul", "matrix_transpose",
    "matvec", "max", "maximum", "may_share_memory", "mean", "median", "mesh", "meshgrid", "min",
    "minimum", "mod", "modf", "moveaxis", "multiply", "name", "nan", "nan_to_num", "nanargmax",
    "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ndim", "ndimage",
    "negative", "newaxis", "nextafter", "nonzero", "not_equal", "numpy_functions", "offload",
    "ones", "ones_like", "outer", "pad", "partition", "percentile", "permute_dims", "pi",
    "piecewise", "place", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub",
    "polyval", "positive", "pow", "power", "prefer", "prod", "profile", "promote_types", "ptp",
    "put", "put_along_axis", "putmask", "quantile", "rad2deg", "radians", "random", "ravel",
    "ravel_multi_index", "real", "real_if_close", "reciprocal", "remainder", "repeat", "reshape",
    "resize", "result_type", "revolve", "right_shift", "rint", "roll", "rollaxis", "rot90", "round",
    "save_arrays", "save_graph", "scan", "searchsorted", "select", "set_default", "setdiff1d",
    "setxor1d", "shape", "shard", "sharding_constraint", "shares_memory", "sign", "signal",
    "signbit", "sin", "sinc", "sinh", "size", "sliding_window_view", "sort", "sort_complex",
    "spacing", "sparsity", "spatial", "special", "split", "sqrt", "square", "squeeze", "stack",
    "stats", "std", "stop_gradient", "subtract", "sum", "swapaxes", "switch", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace", "transpose", "trapezoid",
    "trapz", "tri", "tril", "tril_indices", "tril_indices_from", "trim_zeros", "triu",
    "triu_indices", "triu_indices_from", "true_divide", "trunc", "uint8", "uint16", "uint32",
    "uint64", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "unravel_index", "unstack", "unwrap", "use", "value_and_grad", "vander", "var", "vdot",
    "vecdot", "vecmat", "vectorize", "vjp", "vmap", "vsplit", "vstack", "where", "while_loop",
    "zeros", "zeros_like",
]
# end generated
# fmt: on
