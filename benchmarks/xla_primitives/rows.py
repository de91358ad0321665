"""Primitives of the XLA plugin, each beside the function of JAX that computes the same.

A row names a primitive with its parameters, the function of JAX as users write it, and intervals
from which arguments are drawn. `ABSENT` lists the other primitives with the reason; a test compares
both with what the plugin registers. Read next: ``measure.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special, stats

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int32", "int64")
FLOATS = ("bfloat16", "float16", *REAL)
INEXACT = (*FLOATS, *COMPLEX)
NUMBERS = (*INTEGERS, *INEXACT)
ORDERED = (*INTEGERS, *FLOATS)
BOOL = ("bool",)

Interval = tuple[float, float]
Function = Callable[..., Any]
ANY, POSITIVE, UNIT = (-20.0, 20.0), (0.01, 20.0), (0.01, 0.99)
FAR = (1e3, -1e3, 1e10, -1e10)


class Row(NamedTuple):
    """One primitive beside one function of JAX.

    key      key of the primitive
    beside   how users of JAX write it
    function the function of JAX
    over     interval of each argument
    dtypes   dtypes that are measured
    params   parameters of the primitive; a function gets them from the shapes of the arguments
    also     further arguments for errors, outside of the interval
    shapes   shapes of the arguments; empty: elementwise, on vectors of one length
    kinds    dtype of each argument where it is not that of the row
    errors   False: results are not unique, or mpmath has no short definition
    """

    key: str
    beside: str
    function: Function
    over: tuple[Interval, ...]
    dtypes: tuple[str, ...]
    params: Mapping[str, Any] = {}
    also: tuple[float, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    kinds: tuple[str, ...] = ()
    errors: bool = True

    @property
    def title(self) -> str:
        """The primitive, with a parameter that tells rows of an elementwise one apart."""
        few = self.params.items() if not self.shapes else ()
        return " ".join([self.key.removeprefix("std::"), *(f"{k}={v}" for k, v in few)])

    def params_for(self, shapes: tuple[tuple[int, ...], ...]) -> dict[str, Any]:
        """Return the parameters for arguments of these shapes."""
        return {k: v(*shapes) if callable(v) else v for k, v in self.params.items()}


def of(
    key: str, function: Function, over: Any = ANY, dtypes: Any = INEXACT, beside: str = "",
    **more: Any,
) -> Row:  # fmt: skip
    """Make a row; one interval is that of all arguments, and a function of JAX has its name."""
    intervals = over if isinstance(over[0], tuple) else (over,)
    return Row(f"std::{key}", beside or function.__name__, function, intervals, dtypes, **more)


def pair(key: str, function: Function, over: Any = (ANY, ANY), **more: Any) -> Row:
    """Make a row of two arguments."""
    return of(key, function, over, **more)


# ---- elementwise ---------------------------------------------------------------------------------

ARITHMETIC = (
    pair("add", jnp.add, dtypes=NUMBERS),
    pair("sub", jnp.subtract, dtypes=NUMBERS),
    pair("mul", jnp.multiply, dtypes=NUMBERS),
    pair("div", lax.div, dtypes=NUMBERS, beside="lax.div"),
    of("neg", jnp.negative, dtypes=NUMBERS),
    of("abs", jnp.abs, dtypes=NUMBERS),
    of("sign", jnp.sign, dtypes=NUMBERS),
    of("square", jnp.square, dtypes=NUMBERS),
    pair("maximum", jnp.maximum, dtypes=ORDERED),
    pair("minimum", jnp.minimum, dtypes=ORDERED),
    of("clamp", lambda lo, x, hi: jnp.clip(x, lo, hi), ((-5.0, 0.0), ANY, (1.0, 5.0)), ORDERED,
       beside="clip"),
    of("sqrt", jnp.sqrt, POSITIVE, also=(1e-30, 1e30)),
    of("rsqrt", lax.rsqrt, POSITIVE, also=(1e-30, 1e30), beside="lax.rsqrt"),
    of("cbrt", jnp.cbrt, dtypes=FLOATS, also=FAR),
    *(of("integer_pow", lambda x, n=n: x**n, dtypes=dtypes, beside=f"x ** {n}",
         params={"exponent": n})
      for n, dtypes in ((3, NUMBERS), (-2, INEXACT), (7, NUMBERS))),
    pair("pow", jnp.power, (POSITIVE, (-5.0, 5.0))),
    pair("pow", jnp.power, ((-9, 9), (0, 9)), dtypes=INTEGERS),
)  # fmt: skip
ELEMENTARY = (
    of("exp", jnp.exp, also=(700.0, -700.0)),
    of("exp2", jnp.exp2, also=(1000.0, -1000.0)),
    of("expm1", jnp.expm1, also=(700.0, -700.0)),
    of("log", jnp.log, POSITIVE, also=(1e-30, 1e30)),
    of("log2", jnp.log2, POSITIVE, also=(1e-30, 1e30)),
    of("log10", jnp.log10, POSITIVE, also=(1e-30, 1e30)),
    of("log1p", jnp.log1p, (-0.99, 20.0), also=(1e-30, 1e30)),
    pair("logaddexp", jnp.logaddexp, dtypes=FLOATS),
    of("logistic", jax.nn.sigmoid, also=(300.0, -300.0), beside="nn.sigmoid"),
    of("sin", jnp.sin, also=FAR),
    of("cos", jnp.cos, also=FAR),
    of("tan", jnp.tan, also=FAR),
    of("asin", jnp.arcsin, (-1.0, 1.0)),
    of("acos", jnp.arccos, (-1.0, 1.0)),
    of("atan", jnp.arctan, also=FAR),
    pair("atan2", jnp.arctan2, dtypes=FLOATS),
    pair("hypot", jnp.hypot, dtypes=FLOATS),
    of("sinh", jnp.sinh, also=(700.0, -700.0)),
    of("cosh", jnp.cosh, also=(700.0, -700.0)),
    of("tanh", jnp.tanh),
    of("asinh", jnp.arcsinh, also=FAR),
    of("acosh", jnp.arccosh, (1.0, 20.0), also=(1e3, 1e10)),
    of("atanh", jnp.arctanh, (-1.0, 1.0)),
)
SPECIAL = (
    of("erf", special.erf, (-6.0, 6.0), FLOATS),
    of("erfc", special.erfc, (-6.0, 6.0), FLOATS, also=(9.0, 20.0, 26.0)),
    of("erfinv", special.erfinv, (-1.0, 1.0), FLOATS),
    of("lgamma", special.gammaln, (-10.0, 20.0), FLOATS, also=(1 + 2**-10, 2 - 2**-10, 1e3)),
    of("digamma", special.digamma, (-10.0, 20.0), FLOATS, also=(1.4609375, 1e3)),
    *(of("polygamma", lambda x, n=n: special.polygamma(n, x), POSITIVE, REAL,
         f"polygamma({n}, x)", params={"order": n}) for n in (1, 3)),
    of("gamma", special.gamma, (-10.0, 20.0), FLOATS, also=(33.5,)),
    pair("betaln", special.betaln, (POSITIVE, POSITIVE), dtypes=FLOATS),
    pair("zeta", special.zeta, ((1.1, 20.0), POSITIVE), dtypes=REAL),
    pair("polygamma_difference", lambda x, d: special.digamma(x + d) - special.digamma(x),
         (POSITIVE, POSITIVE), dtypes=REAL, params={"order": 0},
         beside="digamma(x + d) - digamma(x)"),
    pair("gammainc", special.gammainc, (POSITIVE, POSITIVE), dtypes=REAL),
    pair("gammaincc", special.gammaincc, (POSITIVE, POSITIVE), dtypes=REAL),
    pair("gammainc_derivative", lax.igamma_grad_a, (POSITIVE, POSITIVE), dtypes=REAL,
         params={"order": 1}, beside="lax.igamma_grad_a"),
    pair("gamma_density", lambda a, x: stats.gamma.pdf(x, a), (POSITIVE, POSITIVE), dtypes=REAL,
         params={"power": 0}, beside="stats.gamma.pdf"),
    of("betainc", special.betainc, (POSITIVE, POSITIVE, UNIT), REAL),
    of("betaincc", lambda a, b, x: 1 - special.betainc(a, b, x), (POSITIVE, POSITIVE, UNIT), REAL,
       "1 - betainc(a, b, x)"),
    of("beta_density", lambda a, b, x: stats.beta.pdf(x, a, b), (POSITIVE, POSITIVE, UNIT), REAL,
       "stats.beta.pdf", params={"powers": (0, 0)}),
    of("ndtr", special.ndtr, (-6.0, 6.0), REAL),
    of("log_ndtr", special.log_ndtr, (-6.0, 6.0), REAL, also=(-30.0,)),
    of("ndtri", special.ndtri, (0.0, 1.0), REAL),
    of("erfcinv", lambda x: special.erfinv(1 - x), (0.0, 2.0), FLOATS, "erfinv(1 - x)"),
    of("erfcx", lambda x: jnp.exp(x * x) * special.erfc(x), (0.0, 5.0), REAL, "exp(x²) erfc(x)",
       params={"order": 0}),
    of("exprel", lambda x: jnp.expm1(x) / x, ANY, REAL, "expm1(x) / x", params={"order": 0}),
    *(of(f"bessel_{kind}", function, ANY, REAL, params={"order": order})
      for kind, order, function in (("i", 0, special.i0), ("i", 1, special.i1),
                                    ("ie", 0, special.i0e), ("ie", 1, special.i1e))),
)  # fmt: skip
BITS = (
    of("floor", jnp.floor, dtypes=FLOATS),
    of("ceil", jnp.ceil, dtypes=FLOATS),
    of("round", jnp.round, dtypes=FLOATS),
    pair("rem", lax.rem, (ANY, (1.0, 20.0)), dtypes=ORDERED, beside="lax.rem"),
    of("is_finite", jnp.isfinite, errors=False),
    pair("nextafter", jnp.nextafter, dtypes=FLOATS, errors=False),
    pair("copysign", jnp.copysign, dtypes=FLOATS, errors=False),
    pair("bitwise_and", jnp.bitwise_and, dtypes=INTEGERS),
    pair("bitwise_or", jnp.bitwise_or, dtypes=INTEGERS),
    pair("bitwise_xor", jnp.bitwise_xor, dtypes=INTEGERS),
    of("bitwise_not", jnp.bitwise_not, dtypes=INTEGERS),
    pair("shift_left", jnp.left_shift, (ANY, (0, 9)), dtypes=INTEGERS, errors=False),
    pair("shift_right", jnp.right_shift, (ANY, (0, 9)), dtypes=INTEGERS, errors=False),
    *(pair(key, function, dtypes=ORDERED)
      for key, function in (("eq", jnp.equal), ("ne", jnp.not_equal), ("lt", jnp.less),
                            ("le", jnp.less_equal), ("gt", jnp.greater),
                            ("ge", jnp.greater_equal))),
    pair("logical_and", jnp.logical_and, dtypes=BOOL),
    pair("logical_or", jnp.logical_or, dtypes=BOOL),
    pair("logical_xor", jnp.logical_xor, dtypes=BOOL),
    of("logical_not", jnp.logical_not, dtypes=BOOL),
    of("select", jnp.where, (ANY, ANY, ANY), NUMBERS, kinds=("bool", "", "")),
    of("real", jnp.real, dtypes=COMPLEX),
    of("imag", jnp.imag, dtypes=COMPLEX),
    of("conj", jnp.conj, dtypes=COMPLEX),
    pair("complex", lax.complex, dtypes=REAL, beside="lax.complex"),
    *(of("convert", lambda x, dtype=dtype: x.astype(dtype), ANY, dtypes, f"astype({dtype!r})",
         params={"dtype": dtype})
      for dtype, dtypes in (("float32", (*INTEGERS, "float64")), ("int32", REAL))),
)  # fmt: skip

# ---- of whole arrays -----------------------------------------------------------------------------

MATRIX, LONG, SMALL = (512, 512), (2**18,), (64, 64)
AXES = ((0, 1), (1,), (0,))
POSITIONS = ("", "int32", "")
WINDOWS = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "mode": "drop",
}


def reducing(key: str, function: Function, over: Interval, dtypes: Any) -> Iterator[Row]:
    """Rows of a reduction over everything, over rows and over columns."""
    for axes in AXES:
        yield of(key, lambda x, axes=axes: function(x, axis=axes), over, dtypes,
                 f"{function.__name__}, axis={axes}", params={"axes": axes},
                 shapes=(MATRIX,))  # fmt: skip


def running(key: str, function: Function, over: Interval, dtypes: Any) -> Iterator[Row]:
    """Rows of a cumulative reduction of a vector, and along the first axis of a matrix."""
    for shape in (LONG, MATRIX):
        yield of(key, lambda x: function(x, axis=0), over, dtypes,
                 f"{function.__name__}, {len(shape)}-d",
                 params={"axis": 0, "reverse": False}, shapes=(shape,))  # fmt: skip


def moving(key: str, function: Function, beside: str, **params: Any) -> Row:
    """A row of a primitive that only moves entries of a matrix."""
    return of(key, function, ANY, ("float32", "float64", "complex128"), beside, params=params,
              shapes=(MATRIX,))  # fmt: skip


def updating(key: str, method: str) -> Row:
    """A row of a scatter of rows into a matrix."""

    def function(x: Any, at: Any, rows: Any) -> Any:
        return getattr(x.at[at[:, 0]], method)(rows, mode="drop")

    return of(key, function, (ANY, (0, 512), ANY), REAL, f"x.at[i].{method}(y)", params=WINDOWS,
              shapes=(MATRIX, (512, 1), MATRIX), kinds=POSITIONS)  # fmt: skip


def factorizing(key: str, function: Function, beside: str, dtypes: Any, **params: Any) -> Row:
    """A row of a factorization, whose result is not unique."""
    return of(key, function, (-1.0, 1.0), dtypes, beside, params=params, shapes=((8, *SMALL),),
              errors=False)  # fmt: skip


WHOLE = (
    *reducing("reduce_sum", jnp.sum, ANY, NUMBERS),
    *reducing("reduce_prod", jnp.prod, (0.9, 1.1), INEXACT),
    *reducing("reduce_max", jnp.max, ANY, ORDERED),
    *reducing("reduce_min", jnp.min, ANY, ORDERED),
    *reducing("reduce_and", jnp.all, ANY, BOOL),
    *reducing("reduce_or", jnp.any, ANY, BOOL),
    *(of(key, lambda x, f=function: f(x, axis=1), ANY, ORDERED, f"{function.__name__}, axis=1",
         params={"axis": 1, "dtype": "int64"}, shapes=(MATRIX,))
      for key, function in (("argmax", jnp.argmax), ("argmin", jnp.argmin))),
    *running("cumsum", jnp.cumsum, ANY, ("int64", *REAL, "complex128")),
    *running("cumprod", jnp.cumprod, (0.9, 1.1), (*REAL, "complex128")),
    *running("cummax", lax.cummax, ANY, ("int64", *REAL)),
    *running("cummin", lax.cummin, ANY, ("int64", *REAL)),
    *running("cumlogsumexp", lax.cumlogsumexp, ANY, REAL),
    of("dot_general", jnp.matmul, (ANY, ANY), (*REAL, *COMPLEX),
       params={"lhs_contract": (1,), "rhs_contract": (0,), "lhs_batch": (), "rhs_batch": (),
               "preferred": None}, shapes=((256, 256), (256, 256))),
    moving("transpose", jnp.transpose, "transpose", permutation=(1, 0)),
    moving("reverse", lambda x: jnp.flip(x, 1), "flip, axis=1", dimensions=(1,)),
    moving("reshape", lambda x: jnp.reshape(x, (-1,)), "reshape",
           shape=lambda s: (s[0] * s[1],)),
    moving("slice", lambda x: x[::2, 1:], "x[::2, 1:]", start=(0, 1), limit=lambda s: s,
           strides=(2, 1)),
    moving("broadcast_in_dim", lambda x: jnp.broadcast_to(x, (4, *x.shape)), "broadcast_to",
           shape=lambda s: (4, *s), dimensions=(1, 2)),
    of("pad", lambda x, v: lax.pad(x, v, ((1, 2, 0), (0, 3, 1))), (ANY, ANY), REAL, "lax.pad",
       params={"low": (1, 0), "high": (2, 3), "interior": (0, 1)}, shapes=(MATRIX, ())),
    of("concatenate", lambda x, y: jnp.concatenate([x, y], 1), (ANY, ANY), REAL,
       "concatenate, axis=1", params={"dimension": 1}, shapes=(MATRIX, MATRIX)),
    of("gather", lambda x, i: jnp.take(x, i[:, 0], axis=0, mode="clip"), (ANY, (0, 512)), REAL,
       "take, axis=0", kinds=POSITIONS[:2], shapes=(MATRIX, (512, 1)),
       params={"offset_dims": (1,), "collapsed_slice_dims": (0,), "start_index_map": (0,),
               "slice_sizes": lambda s, _: (1, s[1]), "mode": "clip"}),
    updating("scatter", "set"),
    updating("scatter_add", "add"),
    updating("scatter_mul", "multiply"),
    updating("scatter_max", "max"),
    updating("scatter_min", "min"),
    of("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i,), (x.shape[0] // 2,)),
       (ANY, (0, 9)), REAL, "lax.dynamic_slice", params={"sizes": lambda s, _: (s[0] // 2,)},
       shapes=(LONG, ()), kinds=("", "int32")),
    of("dynamic_update_slice", lambda x, u, i: lax.dynamic_update_slice(x, u, (i,)),
       (ANY, ANY, (0, 9)), REAL, "lax.dynamic_update_slice", shapes=(LONG, (512,), ()),
       kinds=("", "", "int32")),
    *(of("sort", lambda x: jnp.sort(x, axis=0), ANY, dtypes, f"sort, {len(shape)}-d",
         params={"dimension": 0, "num_keys": 1, "count": 1}, shapes=(shape,))
      for shape, dtypes in ((LONG, (*INTEGERS, *REAL, "complex128")), (MATRIX, REAL))),
)  # fmt: skip
LINALG = (
    of("cholesky", lambda x: jnp.linalg.cholesky(x, symmetrize_input=False), (0.0, 1.0),
       (*REAL, *COMPLEX), "linalg.cholesky", shapes=((8, *SMALL),), errors=False),
    factorizing("qr", jnp.linalg.qr, "linalg.qr", (*REAL, *COMPLEX), canonical=True),
    factorizing("lu", lax.linalg.lu, "lax.linalg.lu", (*REAL, *COMPLEX)),
    factorizing("eigh", jnp.linalg.eigh, "linalg.eigh", (*REAL, *COMPLEX), gauge="canonical"),
    factorizing("eigvalsh", jnp.linalg.eigvalsh, "linalg.eigvalsh", (*REAL, *COMPLEX)),
    factorizing("svd", lambda x: jnp.linalg.svd(x, full_matrices=False), "linalg.svd",
                (*REAL, *COMPLEX), gauge="canonical"),
    factorizing("svdvals", jnp.linalg.svdvals, "linalg.svdvals", (*REAL, *COMPLEX)),
    factorizing("eig", jnp.linalg.eig, "linalg.eig", REAL, gauge="canonical"),
    factorizing("eigvals", jnp.linalg.eigvals, "linalg.eigvals", REAL),
    of("triangular_solve", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True),
       ((1.0, 2.0), ANY), (*REAL, *COMPLEX), "solve_triangular", shapes=((8, *SMALL), (8, *SMALL)),
       params={"left": True, "lower": True, "transposed": False, "conjugated": False,
               "unit_diagonal": False}, errors=False),
    of("fft", lambda x: jnp.fft.fft(x, axis=1), ANY, COMPLEX, "fft.fft", shapes=(MATRIX,),
       params={"axes": (1,), "inverse": False, "norm": "sum"}),
    of("rfft", lambda x: jnp.fft.rfft(x, axis=1), ANY, REAL, "fft.rfft", shapes=(MATRIX,),
       params={"axes": (1,), "norm": "sum", "twice": False}),
    of("irfft", lambda x: jnp.fft.irfft(x, axis=1), ANY, COMPLEX, "fft.irfft", shapes=(MATRIX,),
       params={"axes": (1,), "norm": "mean", "twice": False,
               "length": lambda s: 2 * (s[1] - 1)}, errors=False),
)  # fmt: skip

ROWS = (*ARITHMETIC, *ELEMENTARY, *SPECIAL, *BITS, *WHOLE, *LINALG)

_CONTROL = "it holds programs; its time is that of its body"
_NOTHING = "it computes nothing"
_NO_OTHER = "JAX has no such function"
ABSENT = {
    "jax::call": "it is a function of JAX",
    "std::betainc_derivative": _NO_OTHER,
    "std::bitcast": _NOTHING,
    "std::bound": _NOTHING,
    "std::checkpoint": _CONTROL,
    "std::cholesky_diagonal_cotangent": _NO_OTHER,
    "std::constant": _NOTHING,
    "std::debug_callback": "it calls Python",
    "std::host_callback": "it calls Python",
    "std::iota": _NOTHING,
    "std::lu_permutation": _NO_OTHER,
    "std::matrix_function": "expm of JAX has another algorithm; W6 measures factorizations",
    "std::optimization_barrier": _NOTHING,
    "std::pivoted_qr": "JAX has it on the CPU alone",
    "std::random_bits": "`benchmarks/random_numbers.py` measures draws",
    "std::random_log_gamma": "`benchmarks/random_numbers.py` measures draws",
    "std::scan": _CONTROL,
    "std::schur": "JAX has it on the CPU alone",
    "std::sharding_constraint": _NOTHING,
    "std::stop_gradient": _NOTHING,
    "std::switch": _CONTROL,
    "std::table": _NOTHING,
    "std::threefry2x32": "`benchmarks/random_numbers.py` measures draws",
    "std::while_loop": _CONTROL,
}
