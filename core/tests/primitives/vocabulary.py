"""One application of every primitive, its derivatives as graphs, and rank-0 evaluation.

The numbers of arrays are checked by the conformance kit; here a Python scalar is enough.
"""

import cmath
import math
from itertools import count

import vocabulary_of_control
import vocabulary_of_matrices

from tenferro import primitives as p
from tenferro.computegraph import KeyView, compile_program, evaluate, materialize_merge
from tenferro.primitives._primitive import pointwise
from tenferro.tidu import pullback, pushforward

SPACE = p.TensorPrimitive.space
_names = count()


def var(shape=(), dtype="f64"):
    return p.variable(f"v{next(_names)}", shape, dtype)


def ones(x):
    return p.constant(1, x.dtype, x.shape)


def zeros(x):
    return p.constant(0, x.dtype, x.shape)


def jvp(y, x, dx=None):
    """The tangent of y for a tangent of x; ``None`` where nothing flows."""
    dx = p.variable("dx", x.shape, x.dtype) if dx is None else dx
    return pushforward([y.key], [x.key], [dx], space=SPACE)[0]


def vjp(y, x, ct=None):
    """The cotangent of x for a cotangent of y; ``None`` where nothing flows."""
    ct = p.variable("ct", y.shape, y.dtype) if ct is None else ct
    return pullback([y.key], [x.key], [ct], space=SPACE)[0]


def derivatives(f, xs):
    """Everything that order two gives for f at xs: handles on tangents and cotangents."""
    found = []
    for x in xs:
        for first in (jvp(f(*xs), x), vjp(f(*xs), x)):
            if first is not None:
                seconds = (d(first, other) for d in (jvp, vjp) for other in xs)
                found += [first, *(second for second in seconds if second is not None)]
    return found


def graph(outputs, inputs=()):
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    keys = [x.key for x in outputs]
    return materialize_merge(KeyView(), keys, inputs=[x.key for x in inputs])


def emitted(outputs):
    """The classes of the operations that the outputs need."""
    return {type(node.operation) for node in graph(outputs).nodes}


def value(y, assignment):
    """y as a Python number, for values of rank 0."""
    if y is None:
        return 0.0
    program = compile_program(graph([y], list(assignment)))
    execute = lambda op, operands: (_SCALAR[type(op)](op, *operands),)  # noqa: E731
    return evaluate(program, execute, list(assignment.values()))[0]


def _plain(function):
    return lambda op, *operands: function(*operands)


def _either(real, complex_):
    def function(op, x):
        return complex_(x) if isinstance(x, complex) else real(x)

    return function


def _divide(x, y):
    if y != 0:
        return x / y
    return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _power(x, y):
    if x == 0 and not isinstance(y, complex) and y < 0:
        return math.inf
    return x**y


def _log(x):
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _sign(x):
    if isinstance(x, complex):
        return x / abs(x) if x else 0j
    return x if x != x else float((x > 0) - (x < 0))


def _larger(x, y):
    return math.nan if x != x or y != y else max(x, y)


def _smaller(x, y):
    return math.nan if x != x or y != y else min(x, y)


def _logistic(op, x):
    return 1 / (1 + cmath.exp(-x)) if isinstance(x, complex) else 1 / (1 + math.exp(-x))


def _convert(op, x):
    if op.dtype.is_complex:
        return complex(x)
    x = x.real if isinstance(x, complex) else x
    return float(x) if op.dtype.is_float else bool(x) if op.dtype.is_bool else int(x)


_SCALAR = {
    p.Add: _plain(lambda x, y: x + y),
    p.Sub: _plain(lambda x, y: x - y),
    p.Mul: _plain(lambda x, y: x * y),
    p.Div: _plain(_divide),
    p.Neg: _plain(lambda x: -x),
    p.Abs: _plain(abs),
    p.Sign: _plain(_sign),
    p.Maximum: _plain(_larger),
    p.Minimum: _plain(_smaller),
    p.Clamp: _plain(lambda lo, x, hi: _smaller(_larger(x, lo), hi)),
    p.Pow: _plain(_power),
    p.IntegerPow: lambda op, x: _power(x, op.exponent),
    p.Square: _plain(lambda x: x * x),
    p.Sqrt: _either(math.sqrt, cmath.sqrt),
    p.Rsqrt: _either(lambda x: 1 / math.sqrt(x), lambda x: 1 / cmath.sqrt(x)),
    p.Exp: _either(math.exp, cmath.exp),
    p.Log: _either(_log, cmath.log),
    p.Expm1: _either(math.expm1, lambda x: cmath.exp(x) - 1),
    p.Log1p: _either(math.log1p, lambda x: cmath.log(1 + x)),
    p.Sin: _either(math.sin, cmath.sin),
    p.Cos: _either(math.cos, cmath.cos),
    p.Tan: _either(math.tan, cmath.tan),
    p.Tanh: _either(math.tanh, cmath.tanh),
    p.Logistic: _logistic,
    p.Erf: _plain(math.erf),
    p.Eq: _plain(lambda x, y: x == y),
    p.Ne: _plain(lambda x, y: x != y),
    p.Lt: _plain(lambda x, y: x < y),
    p.Le: _plain(lambda x, y: x <= y),
    p.Gt: _plain(lambda x, y: x > y),
    p.Ge: _plain(lambda x, y: x >= y),
    p.LogicalAnd: _plain(lambda x, y: x and y),
    p.LogicalOr: _plain(lambda x, y: x or y),
    p.LogicalXor: _plain(lambda x, y: x is not y),
    p.LogicalNot: _plain(lambda x: not x),
    p.Select: _plain(lambda pred, x, y: x if pred else y),
    p.Real: _plain(lambda z: z.real),
    p.Imag: _plain(lambda z: z.imag),
    p.Conj: _plain(lambda z: z.conjugate()),
    p.Complex: _plain(complex),
    p.Constant: lambda op: op.value,
    p.Convert: _convert,
    p.StopGradient: _plain(lambda x: x),
    p.Reshape: _plain(lambda x: x),
}

LAYOUT = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "slice_sizes": (1, 3),
}
WINDOW = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
}


def _unary(function, *dtypes):
    return [(function, (var((2, 3), dtype),)) for dtype in dtypes or ("f64", "c128")]


def _binary(function, *dtypes):
    return [
        (function, (var((2, 3), dtype), var((2, 3), dtype))) for dtype in dtypes or ("f64", "c128")
    ]


def _moves(dtype):
    x, y, value_ = var((2, 3), dtype), var((2, 3), dtype), var((), dtype)
    return {
        p.Reshape: [(lambda x: p.reshape(x, (3, 2)), (x,))],
        p.Transpose: [(lambda x: p.transpose(x, (1, 0)), (x,))],
        p.BroadcastInDim: [(lambda x: p.broadcast_in_dim(x, (4, 2, 3), (1, 2)), (x,))],
        p.Slice: [(lambda x: p.slice(x, (0, 0), (2, 3), (1, 2)), (x,))],
        p.Pad: [(lambda x, v: p.pad(x, v, (1, -1), (0, 2), (0, 1)), (x, value_))],
        p.Concatenate: [(lambda x, y: p.concatenate([x, y, x], 1), (x, y))],
        p.Reverse: [(lambda x: p.reverse(x, (0,)), (x,))],
        p.ReduceSum: [(lambda x: p.reduce_sum(x, (0,)), (x,))],
        p.ReduceProd: [(lambda x: p.reduce_prod(x, (1,)), (x,))],
        p.StopGradient: [(lambda x: p.mul(p.stop_gradient(x), x), (x,))],
    }


def _indexed(dtype, mode):
    x, rows, updates = var((5, 3), dtype), var((2, 1), "i64"), var((2, 3), dtype)
    start = var((), "i32")
    into = "drop" if mode == "fill" else mode
    return {
        p.Gather: [(lambda x: p.gather(x, rows, **LAYOUT, mode=mode), (x,))],
        p.ScatterAdd: [(lambda x, u: p.scatter_add(x, rows, u, **WINDOW, mode=into), (x, updates))],
        p.Scatter: [(lambda x, u: p.scatter(x, rows, u, **WINDOW, mode=into), (x, updates))],
        p.ScatterMul: [(lambda x, u: p.scatter_mul(x, rows, u, **WINDOW, mode=into), (x, updates))],
        p.DynamicSlice: [(lambda x: p.dynamic_slice(x, (start, 0), (2, 3)), (x,))],
        p.DynamicUpdateSlice: [
            (lambda x, u: p.dynamic_update_slice(x, u, (start, 0)), (x, updates))
        ],
    }


def _ordered_scatters():
    rows, at = var((2, 1), "i64"), (var((5, 3)), var((2, 3)))
    return {
        p.ScatterMax: [(lambda x, u: p.scatter_max(x, rows, u, **WINDOW, mode="drop"), at)],
        p.ScatterMin: [(lambda x, u: p.scatter_min(x, rows, u, **WINDOW, mode="clip"), at)],
    }


def _cumulative():
    return {
        p.Cumsum: _unary(lambda x: p.cumsum(x, 1)),
        p.Cumprod: _unary(lambda x: p.cumprod(x, 1, reverse=True)),
        p.Cummax: _unary(lambda x: p.cummax(x, 1), "f64"),
        p.Cummin: _unary(lambda x: p.cummin(x, 0), "f64"),
        p.Cumlogsumexp: _unary(lambda x: p.cumlogsumexp(x, 1), "f64"),
    }


def _sorting():
    row, value_ = var((3,)), var((2,))
    return {
        p.Sort: _unary(lambda x: p.sort([x], 1)[0]) + _binary(lambda x, y: p.sort([x, y], 1)[1]),
        p.TopK: _unary(lambda x: p.top_k(x, 2, axis=1)[0], "f64"),
        p.Searchsorted: [(p.searchsorted, (row, value_))],
        p.ReduceAnd: _unary(lambda x: p.reduce_and(x, (0,)), "bool"),
        p.ReduceOr: _unary(lambda x: p.reduce_or(x, (0,)), "bool"),
    }


def twice(x):
    return x + x


def twice_back(cts):
    return cts[0] + cts[0]


def _callbacks():
    call = lambda x: p.host_callback(twice, [x.aval], x, transpose=twice_back)[0]  # noqa: E731
    return {
        p.HostCallback: _unary(call),
        p.DebugCallback: _unary(lambda x: p.debug_callback(twice, x)),
    }


def _contractions(dtype):
    x, y = var((2, 3, 4, 5), dtype), var((5, 4, 2, 3), dtype)
    dot = lambda x, y: p.dot_general(x, y, (1, 3), (3, 0), (2,), (1,))  # noqa: E731
    return {p.DotGeneral: [(dot, (x, y))]}


_DTYPES = {"integer": ["i32"], "bits": ["i32"], "bool": ["bool"], "complex": ["c128"]}
_DTYPES |= {"inexact": ["f64", "c128"], "numeric": ["f64", "c128"]}


def elementwise():
    """The primitives of each element of operands of one aval, without parameters: class → count."""
    return {
        cls: cls.input_count
        for cls in p.STANDARD
        if cls.batch is pointwise and cls.accepts and not cls._fields and cls is not p.Zeta
    }


def _accepted():
    """Apply what is elementwise to operands of the dtypes that it accepts."""
    found = {}
    for cls, count_ in elementwise().items():
        function = getattr(p, cls.key.removeprefix("std::"))
        dtypes = _DTYPES.get(cls.accepts, ["f64"])
        found[cls] = [(function, tuple(var((2, 3), d) for _ in range(count_))) for d in dtypes]
    return found


def _ordered_reductions():
    return {
        p.ReduceMax: _unary(lambda x: p.reduce_max(x, (1,)), "f64"),
        p.ReduceMin: _unary(lambda x: p.reduce_min(x, (1,)), "f64"),
        p.Argmax: _unary(lambda x: p.argmax(x, 1), "f64"),
        p.Argmin: _unary(lambda x: p.argmin(x, 1), "f64"),
    }


def _others():
    pred = var((2, 3), "bool")
    return {
        p.Polygamma: _unary(lambda x: p.polygamma(1, x), "f64"),
        p.Bitcast: _unary(lambda x: p.bitcast(x, "i64"), "f64"),
        p.ShardingConstraint: _unary(lambda x: p.sharding_constraint(x, (None,) * x.ndim)),
        p.OptimizationBarrier: _unary(lambda x: p.optimization_barrier([x])[0])
        + _binary(lambda x, y: p.optimization_barrier([x, y])[1]),
        p.Eq: _binary(p.eq),
        p.Ne: _binary(p.ne),
        p.IntegerPow: _unary(lambda x: p.integer_pow(x, -3)),
        p.Select: _binary(lambda x, y: p.select(pred, x, y)),
        p.Conj: _unary(p.conj, "c128"),
        p.Convert: _unary(lambda x: p.convert(x, "f32")) + _unary(lambda x: p.convert(x, "c64")),
        p.Constant: [(lambda: p.constant(1, "f64"), ())],
        p.Iota: [(lambda: p.iota((3,), 0, "i64"), ())],
        p.Table: [(lambda: p.table((2, 0, 1), "i64"), ())],
    }


def _statistics():
    x, y, z = var((3,)), var((3,)), var((3,))
    return {
        p.Erfcx: _unary(p.erfcx, "f64"),
        p.Exprel: _unary(p.exprel, "f64"),
        p.BetaDensity: [(p.beta_density, (x, y, z))],
        p.GammaDensity: [(p.gamma_density, (x, y))],
        p.BesselI: [(lambda x: p.bessel_i(2, x), (x,))],
        p.BesselIe: [(lambda x: p.bessel_ie(0, x), (x,))],
        p.BesselJ: [(lambda x, n=n: p.bessel_j(n, x), (x,)) for n in (0, 0.5, 2)],
        p.BesselY: [(lambda x, n=n: p.bessel_y(n, x), (x,)) for n in (0, 2)],
        p.BesselK: [(lambda x, n=n: p.bessel_k(n, x), (x,)) for n in (0, 0.5, 2)],
        p.BesselKe: [(lambda x, n=n: p.bessel_ke(n, x), (x,)) for n in (0, 0.5, 2)],
        p.Expn: [(lambda x, n=n: p.expn(n, x), (x,)) for n in (0, 1, 20)],
        p.EllipticIntegral: [(lambda x, k=k: p.elliptic_integral(k, x), (x,)) for k in "KEBD"],
        p.Wofz: [(p.wofz, (p.complex(x, y),))],
        p.ComplexErf: [(p.complex_erf, (p.complex(x, y),))],
        p.ComplexErfc: [(p.complex_erfc, (p.complex(x, y),))],
        p.Dawsn: [(p.dawsn, (x,)), (p.dawsn, (p.complex(x, y),))],
        p.Zeta: [(lambda q: p.zeta(p.full((3,), 2.5, "f64"), q), (x,))],
        p.BetaincDerivative: [(lambda *xs: p.betainc_derivative((1, 0), *xs), (x, y, z))],
        p.GammaincDerivative: [(lambda *xs: p.gammainc_derivative(1, *xs), (x, y))],
        p.GammaMoment: [(lambda *xs: p.gamma_moment(1, *xs), (x, y))],
        p.PolygammaDifference: [(lambda *xs: p.polygamma_difference(1, *xs), (x, y))],
        p.ReduceLogsumexp: _unary(lambda x: p.reduce_logsumexp(x, (1,)), "f64"),
        p.Softmax: _unary(lambda x: p.softmax(x, (1,)), "f64"),
        p.LogSoftmax: _unary(lambda x: p.log_softmax(x, (1,)), "f64"),
    }


def applications():
    """For every primitive, functions and their arguments."""
    tables = [_accepted(), _ordered_reductions(), _others()]
    tables += [_ordered_scatters(), _cumulative(), _sorting(), _callbacks()]
    tables += [_statistics(), *vocabulary_of_matrices.tables()]
    tables += vocabulary_of_control.tables()
    for dtype in ("f64", "c128"):
        tables += [_moves(dtype), _contractions(dtype)]
        tables += [_indexed(dtype, mode) for mode in p.indexing.GATHER_MODES]
    return {cls: [row for t in tables for row in t.get(cls, ())] for cls in p.STANDARD}
