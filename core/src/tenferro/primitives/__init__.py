"""The tensor vocabulary: what operations mean and how they are differentiated.

One file per family; a primitive's class, its derivative rules and its function stand together.
Nothing here is executed: backends bring lowerings. The functions are strict (nothing broadcasts,
nothing is promoted); ``tenferro.arrays`` has the ones that are not. ``STANDARD`` is the whole set.
The families that few programs use load when one of their names is asked for.
Read in this order: ``_dtype``, ``_aval``, ``_handle``, ``_primitive``, ``elementwise``.
"""

from typing import TYPE_CHECKING

from tenferro._runtime import later
from tenferro.primitives import _operators as _operators  # fills the operators of handles
from tenferro.primitives._aval import (
    Aval,
    Shape,
)
from tenferro.primitives._checks import accepted, same_shape
from tenferro.primitives._dtype import (
    DType,
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
    promote,
    promote_dtypes,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tenferro.primitives._errors import (
    ArgumentBufferError,
    ArgumentError,
    ArgumentIndexError,
    ArgumentOverflowError,
    ArgumentTypeError,
    ArgumentValueError,
    AxisError,
    DTypeMismatchError,
    InternalError,
    InvalidParameterError,
    OffloadError,
    RefusalError,
    ShapeMismatchError,
    ShardingError,
    StepLimitError,
    UnknownDTypeError,
)
from tenferro.primitives._handle import (
    AbstractValueError,
    FlowHandle,
    Handle,
    variable,
)
from tenferro.primitives._primitive import (
    Elementwise,
    Linear,
    Mixed,
    Multilinear,
    TensorPrimitive,
    TensorSpace,
    annotate,
    bind,
    bind_all,
    in_front,
    over_leading_axes,
    pointwise,
)

# fmt: off
# isort: off
# generated: eager families
from tenferro.primitives.arithmetic import (
    Abs, Add, Cbrt, Clamp, Div, IntegerPow, Maximum, Minimum, Mul, Neg, Pow, Rsqrt, Sign, Sqrt,
    Square, Sub, abs, add, cbrt, clamp, div, integer_pow, maximum, minimum, mul, neg, pow, rsqrt,
    sign, sqrt, square, sub,
)
from tenferro.primitives.comparison import (
    Eq, Ge, Gt, Le, LogicalAnd, LogicalNot, LogicalOr, LogicalXor, Lt, Ne, Select, eq, ge, gt, le,
    logical_and, logical_not, logical_or, logical_xor, lt, ne, select,
)
from tenferro.primitives.complex import Complex, Conj, Imag, Real, complex, conj, imag, real
from tenferro.primitives.constants import (
    Constant, Iota, Table, constant, full, full_like, iota, table, zeros_like,
)
from tenferro.primitives.elementwise import (
    Exp, Exp2, Expm1, Log, Log1p, Log2, Log10, Logaddexp, Logistic, exp, exp2, expm1, log, log1p,
    log2, log10, logaddexp, logistic,
)
from tenferro.primitives.reduction import (
    Argmax, Argmin, ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd, ReduceSum, argmax,
    argmin, reduce_and, reduce_max, reduce_min, reduce_or, reduce_prod, reduce_sum,
)
from tenferro.primitives.structural import (
    Bitcast, BroadcastInDim, Concatenate, Convert, OptimizationBarrier, Pad, Reshape, Reverse,
    Slice, StopGradient, Transpose, bitcast, broadcast_in_dim, concatenate, convert, expand_dims,
    eye, optimization_barrier, pad, reshape, reverse, slice, squeeze, stop_gradient, transpose,
)
# end generated

if TYPE_CHECKING:
    from tenferro.primitives._standard import STANDARD
    # generated: lazy families
    from tenferro.primitives.bessel import (
        BesselI, BesselIe, BesselK, BesselKe, bessel_i, bessel_ie, bessel_k, bessel_ke,
    )
    from tenferro.primitives.bitwise import (
        BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor, ShiftLeft, ShiftRight, bitwise_and,
        bitwise_not, bitwise_or, bitwise_xor, shift_left, shift_right,
    )
    from tenferro.primitives.callback import (
        DebugCallback, HostCallback, debug_callback, host_callback,
    )
    from tenferro.primitives.contraction import DotGeneral, dot_general
    from tenferro.primitives.control.bound import Bound, bound
    from tenferro.primitives.control.checkpoint import Checkpoint, checkpoint
    from tenferro.primitives.control.scan import Scan, scan
    from tenferro.primitives.control.switch import Switch, switch
    from tenferro.primitives.control.while_loop import WhileLoop, while_loop
    from tenferro.primitives.cumulative import (
        Cumlogsumexp, Cummax, Cummin, Cumprod, Cumsum, cumlogsumexp, cummax, cummin, cumprod,
        cumsum,
    )
    from tenferro.primitives.cylinder import BesselJ, BesselY, bessel_j, bessel_y
    from tenferro.primitives.elliptic import EllipticIntegral, elliptic_integral
    from tenferro.primitives.exponential_integrals import Expi, Expn, expi, expn
    from tenferro.primitives.exponential_sums import (
        LogSoftmax, ReduceLogsumexp, Softmax, log_softmax, reduce_logsumexp, softmax,
    )
    from tenferro.primitives.faddeeva import (
        ComplexErf, ComplexErfc, Dawsn, Wofz, complex_erf, complex_erfc, dawsn, wofz,
    )
    from tenferro.primitives.fourier import Fft, Irfft, Rfft, fft, irfft, rfft
    from tenferro.primitives.gammas import (
        Betaln, Gamma, PolygammaDifference, Zeta, betaln, gamma, polygamma_difference, zeta,
    )
    from tenferro.primitives.hyperbolic import (
        Acosh, Asinh, Atanh, Cosh, Sinh, Tanh, acosh, asinh, atanh, cosh, sinh, tanh,
    )
    from tenferro.primitives.incomplete import (
        BetaDensity, Betainc, BetaincDerivative, Betaincc, GammaDensity, Gammainc,
        GammaincDerivative, Gammaincc, beta_density, betainc, betainc_derivative, betaincc,
        gamma_density, gammainc, gammainc_derivative, gammaincc,
    )
    from tenferro.primitives.indexing import (
        DynamicSlice, DynamicUpdateSlice, Gather, Scatter, ScatterAdd, dynamic_slice,
        dynamic_update_slice, gather, scatter, scatter_add, take_along_axis,
    )
    from tenferro.primitives.linalg.banded_solve import BandedSolve, adjoint_band, banded_solve
    from tenferro.primitives.linalg.cholesky import (
        Cholesky, CholeskyTangent, cholesky, cholesky_tangent,
    )
    from tenferro.primitives.linalg.determinant import Adjugate, Det, adjugate, det
    from tenferro.primitives.linalg.eig import Eig, Eigvals, eig, eigvals
    from tenferro.primitives.linalg.eigh import Eigh, Eigvalsh, eigh, eigvalsh
    from tenferro.primitives.linalg.linear_solve import LinearSolve, linear_solve
    from tenferro.primitives.linalg.lu import Lu, LuPermutation, lu, lu_permutation
    from tenferro.primitives.linalg.matrix_function import MatrixFunction, matrix_function
    from tenferro.primitives.linalg.pfaffian import (
        Pfaffian, PfaffianAdjugate, PfaffianSlope, pfaffian, pfaffian_adjugate, pfaffian_slope,
    )
    from tenferro.primitives.linalg.pinv import Pinv, pinv
    from tenferro.primitives.linalg.pivoted_qr import PivotedQr, pivoted_qr
    from tenferro.primitives.linalg.polar_isometry import (
        PolarIsometry, PositiveSylvester, polar_isometry, positive_sylvester,
    )
    from tenferro.primitives.linalg.qr import Qr, qr
    from tenferro.primitives.linalg.schur import Schur, schur
    from tenferro.primitives.linalg.slogdet import Slogdet, slogdet
    from tenferro.primitives.linalg.sparse_product import SparseProduct, sparse_product
    from tenferro.primitives.linalg.sparse_solve import SparseSolve, sparse_solve
    from tenferro.primitives.linalg.spectrum import Spectrum, Turn, spectrum, turn
    from tenferro.primitives.linalg.splitting import (
        SvdQuotient, SvdTurns, SvdValues, svd_quotient, svd_turns, svd_values,
    )
    from tenferro.primitives.linalg.svd import Svd, Svdvals, svd, svdvals
    from tenferro.primitives.linalg.sylvester_solve import (
        SylvesterSolve, solve_sylvester_equation, sylvester_solve,
    )
    from tenferro.primitives.linalg.triangular_solve import TriangularSolve, triangular_solve
    from tenferro.primitives.linalg.triangular_sylvester import (
        TriangularSylvester, triangular_sylvester,
    )
    from tenferro.primitives.linalg.vectors_used import (
        VectorsSeen, VectorsVary, vectors_seen, vectors_vary,
    )
    from tenferro.primitives.logarithms import (
        Exprel, KlDiv, Logit, RelEntr, ScaledExpm1, Xlog1py, Xlogy, exprel, kl_div, logit, rel_entr,
        scaled_expm1, xlog1py, xlogy,
    )
    from tenferro.primitives.normal import (
        Erfcinv, Erfcx, LogNdtr, Ndtr, Ndtri, erfcinv, erfcx, log_ndtr, ndtr, ndtri,
    )
    from tenferro.primitives.random import RandomBits, Threefry2x32, random_bits, threefry2x32
    from tenferro.primitives.random_gamma import (
        GammaMoment, RandomLogGamma, gamma_moment, random_log_gamma,
    )
    from tenferro.primitives.rounding import (
        Ceil, Copysign, Floor, IsFinite, Nextafter, Rem, Round, ceil, copysign, floor, is_finite,
        nextafter, rem, round,
    )
    from tenferro.primitives.scattering import (
        ScatterMax, ScatterMin, ScatterMul, scatter_max, scatter_min, scatter_mul,
    )
    from tenferro.primitives.sharding import (
        Mesh, ShardingConstraint, ShardingSpec, sharding_constraint,
    )
    from tenferro.primitives.sorting import (
        Searchsorted, Sort, TopK, argsort, searchsorted, sort, top_k,
    )
    from tenferro.primitives.special import (
        Digamma, Erf, Erfc, Erfinv, Lgamma, Polygamma, digamma, erf, erfc, erfinv, lgamma,
        polygamma,
    )
    from tenferro.primitives.trigonometric import (
        Acos, Asin, Atan, Atan2, Cos, Hypot, Sin, Tan, acos, angle, asin, atan, atan2, cos, hypot,
        sin, tan,
    )
    # end generated
else:
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "_standard": "STANDARD",
            "bessel": "BesselI BesselIe BesselK BesselKe bessel_i bessel_ie bessel_k bessel_ke",
            "bitwise": (
                "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor ShiftLeft ShiftRight bitwise_and "
                "bitwise_not bitwise_or bitwise_xor shift_left shift_right"
            ),
            "callback": "DebugCallback HostCallback debug_callback host_callback",
            "contraction": "DotGeneral dot_general",
            "control.bound": "Bound bound",
            "control.checkpoint": "Checkpoint checkpoint",
            "control.scan": "Scan scan",
            "control.switch": "Switch switch",
            "control.while_loop": "WhileLoop while_loop",
            "cumulative": (
                "Cumlogsumexp Cummax Cummin Cumprod Cumsum cumlogsumexp cummax cummin cumprod "
                "cumsum"
            ),
            "cylinder": "BesselJ BesselY bessel_j bessel_y",
            "elliptic": "EllipticIntegral elliptic_integral",
            "exponential_integrals": "Expi Expn expi expn",
            "exponential_sums": (
                "LogSoftmax ReduceLogsumexp Softmax log_softmax reduce_logsumexp softmax"
            ),
            "faddeeva": "ComplexErf ComplexErfc Dawsn Wofz complex_erf complex_erfc dawsn wofz",
            "fourier": "Fft Irfft Rfft fft irfft rfft",
            "gammas": (
                "Betaln Gamma PolygammaDifference Zeta betaln gamma polygamma_difference zeta"
            ),
            "hyperbolic": "Acosh Asinh Atanh Cosh Sinh Tanh acosh asinh atanh cosh sinh tanh",
            "incomplete": (
                "BetaDensity Betainc BetaincDerivative Betaincc GammaDensity Gammainc "
                "GammaincDerivative Gammaincc beta_density betainc betainc_derivative betaincc "
                "gamma_density gammainc gammainc_derivative gammaincc"
            ),
            "indexing": (
                "DynamicSlice DynamicUpdateSlice Gather Scatter ScatterAdd dynamic_slice "
                "dynamic_update_slice gather scatter scatter_add take_along_axis"
            ),
            "linalg.banded_solve": "BandedSolve adjoint_band banded_solve",
            "linalg.cholesky": "Cholesky CholeskyTangent cholesky cholesky_tangent",
            "linalg.determinant": "Adjugate Det adjugate det",
            "linalg.eig": "Eig Eigvals eig eigvals",
            "linalg.eigh": "Eigh Eigvalsh eigh eigvalsh",
            "linalg.linear_solve": "LinearSolve linear_solve",
            "linalg.lu": "Lu LuPermutation lu lu_permutation",
            "linalg.matrix_function": "MatrixFunction matrix_function",
            "linalg.pfaffian": (
                "Pfaffian PfaffianAdjugate PfaffianSlope pfaffian pfaffian_adjugate pfaffian_slope"
            ),
            "linalg.pinv": "Pinv pinv",
            "linalg.pivoted_qr": "PivotedQr pivoted_qr",
            "linalg.polar_isometry": (
                "PolarIsometry PositiveSylvester polar_isometry positive_sylvester"
            ),
            "linalg.qr": "Qr qr",
            "linalg.schur": "Schur schur",
            "linalg.slogdet": "Slogdet slogdet",
            "linalg.sparse_product": "SparseProduct sparse_product",
            "linalg.sparse_solve": "SparseSolve sparse_solve",
            "linalg.spectrum": "Spectrum Turn spectrum turn",
            "linalg.splitting": "SvdQuotient SvdTurns SvdValues svd_quotient svd_turns svd_values",
            "linalg.svd": "Svd Svdvals svd svdvals",
            "linalg.sylvester_solve": "SylvesterSolve solve_sylvester_equation sylvester_solve",
            "linalg.triangular_solve": "TriangularSolve triangular_solve",
            "linalg.triangular_sylvester": "TriangularSylvester triangular_sylvester",
            "linalg.vectors_used": "VectorsSeen VectorsVary vectors_seen vectors_vary",
            "logarithms": (
                "Exprel KlDiv Logit RelEntr ScaledExpm1 Xlog1py Xlogy exprel kl_div logit rel_entr "
                "scaled_expm1 xlog1py xlogy"
            ),
            "normal": "Erfcinv Erfcx LogNdtr Ndtr Ndtri erfcinv erfcx log_ndtr ndtr ndtri",
            "random": "RandomBits Threefry2x32 random_bits threefry2x32",
            "random_gamma": "GammaMoment RandomLogGamma gamma_moment random_log_gamma",
            "rounding": (
                "Ceil Copysign Floor IsFinite Nextafter Rem Round ceil copysign floor is_finite "
                "nextafter rem round"
            ),
            "scattering": "ScatterMax ScatterMin ScatterMul scatter_max scatter_min scatter_mul",
            "sharding": "Mesh ShardingConstraint ShardingSpec sharding_constraint",
            "sorting": "Searchsorted Sort TopK argsort searchsorted sort top_k",
            "special": (
                "Digamma Erf Erfc Erfinv Lgamma Polygamma digamma erf erfc erfinv lgamma polygamma"
            ),
            "trigonometric": (
                "Acos Asin Atan Atan2 Cos Hypot Sin Tan acos angle asin atan atan2 cos hypot sin "
                "tan"
            ),
        },
    )
    # end generated

# generated: public names
__all__ = [
    "STANDARD", "Abs", "AbstractValueError", "Acos", "Acosh", "Add", "Adjugate", "Argmax", "Argmin",
    "ArgumentBufferError", "ArgumentError", "ArgumentIndexError", "ArgumentOverflowError",
    "ArgumentTypeError", "ArgumentValueError", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Aval",
    "AxisError", "BandedSolve", "BesselI", "BesselIe", "BesselJ", "BesselK", "BesselKe", "BesselY",
    "BetaDensity", "Betainc", "BetaincDerivative", "Betaincc", "Betaln", "Bitcast", "BitwiseAnd",
    "BitwiseNot", "BitwiseOr", "BitwiseXor", "Bound", "BroadcastInDim", "Cbrt", "Ceil",
    "Checkpoint", "Cholesky", "CholeskyTangent", "Clamp", "Complex", "ComplexErf", "ComplexErfc",
    "Concatenate", "Conj", "Constant", "Convert", "Copysign", "Cos", "Cosh", "Cumlogsumexp",
    "Cummax", "Cummin", "Cumprod", "Cumsum", "DType", "DTypeMismatchError", "Dawsn",
    "DebugCallback", "Det", "Digamma", "Div", "DotGeneral", "DynamicSlice", "DynamicUpdateSlice",
    "Eig", "Eigh", "Eigvals", "Eigvalsh", "Elementwise", "EllipticIntegral", "Eq", "Erf", "Erfc",
    "Erfcinv", "Erfcx", "Erfinv", "Exp", "Exp2", "Expi", "Expm1", "Expn", "Exprel", "Fft", "Floor",
    "FlowHandle", "Gamma", "GammaDensity", "GammaMoment", "Gammainc", "GammaincDerivative",
    "Gammaincc", "Gather", "Ge", "Gt", "Handle", "HostCallback", "Hypot", "Imag", "IntegerPow",
    "InternalError", "InvalidParameterError", "Iota", "Irfft", "IsFinite", "KlDiv", "Le", "Lgamma",
    "Linear", "LinearSolve", "Log", "Log1p", "Log2", "Log10", "LogNdtr", "LogSoftmax", "Logaddexp",
    "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "Logistic", "Logit", "Lt", "Lu",
    "LuPermutation", "MatrixFunction", "Maximum", "Mesh", "Minimum", "Mixed", "Mul", "Multilinear",
    "Ndtr", "Ndtri", "Ne", "Neg", "Nextafter", "OffloadError", "OptimizationBarrier", "Pad",
    "Pfaffian", "PfaffianAdjugate", "PfaffianSlope", "Pinv", "PivotedQr", "PolarIsometry",
    "Polygamma", "PolygammaDifference", "PositiveSylvester", "Pow", "Qr", "RandomBits",
    "RandomLogGamma", "Real", "ReduceAnd", "ReduceLogsumexp", "ReduceMax", "ReduceMin", "ReduceOr",
    "ReduceProd", "ReduceSum", "RefusalError", "RelEntr", "Rem", "Reshape", "Reverse", "Rfft",
    "Round", "Rsqrt", "ScaledExpm1", "Scan", "Scatter", "ScatterAdd", "ScatterMax", "ScatterMin",
    "ScatterMul", "Schur", "Searchsorted", "Select", "Shape", "ShapeMismatchError",
    "ShardingConstraint", "ShardingError", "ShardingSpec", "ShiftLeft", "ShiftRight", "Sign", "Sin",
    "Sinh", "Slice", "Slogdet", "Softmax", "Sort", "SparseProduct", "SparseSolve", "Spectrum",
    "Sqrt", "Square", "StepLimitError", "StopGradient", "Sub", "Svd", "SvdQuotient", "SvdTurns",
    "SvdValues", "Svdvals", "Switch", "SylvesterSolve", "Table", "Tan", "Tanh", "TensorPrimitive",
    "TensorSpace", "Threefry2x32", "TopK", "Transpose", "TriangularSolve", "TriangularSylvester",
    "Turn", "UnknownDTypeError", "VectorsSeen", "VectorsVary", "WhileLoop", "Wofz", "Xlog1py",
    "Xlogy", "Zeta", "abs", "accepted", "acos", "acosh", "add", "adjoint_band", "adjugate", "angle",
    "annotate", "argmax", "argmin", "argsort", "asin", "asinh", "atan", "atan2", "atanh",
    "banded_solve", "bessel_i", "bessel_ie", "bessel_j", "bessel_k", "bessel_ke", "bessel_y",
    "beta_density", "betainc", "betainc_derivative", "betaincc", "betaln", "bfloat16", "bind",
    "bind_all", "bitcast", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "bool_",
    "bound", "broadcast_in_dim", "cbrt", "ceil", "checkpoint", "cholesky", "cholesky_tangent",
    "clamp", "complex", "complex64", "complex128", "complex_erf", "complex_erfc", "concatenate",
    "conj", "constant", "convert", "copysign", "cos", "cosh", "cumlogsumexp", "cummax", "cummin",
    "cumprod", "cumsum", "dawsn", "debug_callback", "det", "digamma", "div", "dot_general",
    "dynamic_slice", "dynamic_update_slice", "eig", "eigh", "eigvals", "eigvalsh",
    "elliptic_integral", "eq", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp", "exp2",
    "expand_dims", "expi", "expm1", "expn", "exprel", "eye", "fft", "float16", "float32", "float64",
    "floor", "full", "full_like", "gamma", "gamma_density", "gamma_moment", "gammainc",
    "gammainc_derivative", "gammaincc", "gather", "ge", "gt", "host_callback", "hypot", "imag",
    "in_front", "int8", "int16", "int32", "int64", "integer_pow", "iota", "irfft", "is_finite",
    "kl_div", "le", "lgamma", "linear_solve", "log", "log1p", "log2", "log10", "log_ndtr",
    "log_softmax", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logistic", "logit", "lt", "lu", "lu_permutation", "matrix_function", "maximum", "minimum",
    "mul", "ndtr", "ndtri", "ne", "neg", "nextafter", "optimization_barrier", "over_leading_axes",
    "pad", "pfaffian", "pfaffian_adjugate", "pfaffian_slope", "pinv", "pivoted_qr", "pointwise",
    "polar_isometry", "polygamma", "polygamma_difference", "positive_sylvester", "pow", "promote",
    "promote_dtypes", "qr", "random_bits", "random_log_gamma", "real", "reduce_and",
    "reduce_logsumexp", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum",
    "rel_entr", "rem", "reshape", "reverse", "rfft", "round", "rsqrt", "same_shape", "scaled_expm1",
    "scan", "scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "schur",
    "searchsorted", "select", "sharding_constraint", "shift_left", "shift_right", "sign", "sin",
    "sinh", "slice", "slogdet", "softmax", "solve_sylvester_equation", "sort", "sparse_product",
    "sparse_solve", "spectrum", "sqrt", "square", "squeeze", "stop_gradient", "sub", "svd",
    "svd_quotient", "svd_turns", "svd_values", "svdvals", "switch", "sylvester_solve", "table",
    "take_along_axis", "tan", "tanh", "threefry2x32", "top_k", "transpose", "triangular_solve",
    "triangular_sylvester", "turn", "uint8", "uint16", "uint32", "uint64", "variable",
    "vectors_seen", "vectors_vary", "while_loop", "wofz", "xlog1py", "xlogy", "zeros_like", "zeta",
]
# end generated
