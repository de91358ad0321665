"""A pointwise primitive computes the same of literals, of single numbers and of arrays.

Edge values are both zeros, the ends of each dtype, infinities and nan. Signs of zeros count; a nan
equals every nan, because neither IEEE 754 nor NumPy says which sign and payload it has. XLA flushes
subnormal numbers to zero in arrays and not in literals, computes float16 in float32 where it
likes, and simplifies products of complex numbers: these are left out there.
"""

import itertools

import numpy as np
import pytest

from tenferro import primitives as p
from tenferro.backend import select_backend
from tenferro.computegraph import (
    TenferroError,
    compile_program,
    derive,
    derive_one,
    flatten,
    input_key,
)
from tenferro.passes import NAMES, optimized
from tenferro.primitives import Aval
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.structural import BroadcastInDim, Convert

INF, NAN = float("inf"), float("nan")
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, -700.0, INF, -INF, NAN)
ENDS = {"float64": (5e-324, 1.7e308, -1e200), "float32": (1e-45, 3e38), "float16": (6e-8, 6e4)}
PARTS = (0.0, -0.0, 1.0, -2.5, INF, NAN)
#: correctly rounded by IEEE 754, or not rounded at all
EXACT = {
    "abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp",
    "complex", "conj", "copysign", "div", "eq", "floor", "ge", "gt", "imag", "is_finite", "le",
    "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "maximum", "minimum", "mul",
    "ne", "neg", "nextafter", "popcount", "pow", "real", "rem", "round", "select", "shift_left",
    "shift_right", "shift_right_logical", "sign", "sqrt", "square", "stop_gradient", "sub",
}  # fmt: skip
#: of complex numbers, the primitives above that are computed of more than one rounded number
ROUNDED_IF_COMPLEX = {"abs", "div", "mul", "pow", "sign", "sqrt", "square"}
XLA = select_backend().name == "xla"
WIDE = ("float64", "float32", "int64", "int8", "uint8")
DTYPES = WIDE if XLA else (*WIDE, "float16", "complex128", "complex64")


def values(dtype):
    """Edge values of a dtype."""
    if dtype == "bool":
        return [False, True]
    if dtype.startswith("complex"):
        return [complex(x, y) for x in PARTS for y in PARTS]
    if dtype.startswith("float"):
        return [*FLOATS, *(() if XLA else ENDS[dtype])]
    info = np.iinfo(dtype)
    return sorted({0, 1, 3, 7, info.max, info.min, *((-1, -2) if info.min else ())})


def rows():
    """Each primitive without parameters, with the dtypes of its operands."""
    for cls in p.STANDARD:
        if cls.batch is not pointwise or not cls.input_count or cls.input_count > 3:
            continue
        for dtype in (*DTYPES, "bool"):
            dtypes = (dtype,) * cls.input_count
            if cls is p.Select:
                dtypes = ("bool", dtype, dtype)
            try:
                op = cls()
                op.abstract_eval(*[Aval((), name) for name in dtypes])
            except (TenferroError, TypeError):
                continue
            yield pytest.param(op, dtypes, id=f"{op.name}-{dtype}")
    for source in (*DTYPES, "bool"):
        for target in (*DTYPES, "bool"):
            yield pytest.param(
                Convert(p.DType.of(target)), (source,), id=f"convert-{source}-{target}"
            )


def defined(op, dtypes, xs):
    """Whether the result is: an integer divided by zero or shifted too far has none."""
    if op.name == "convert" and op.dtype.is_integer and not isinstance(xs[0], (bool, int)):
        number = xs[0].real if isinstance(xs[0], complex) else xs[0]
        info = np.iinfo(op.dtype.name)
        return np.isfinite(number) and info.min <= number < info.max
    if "int" not in dtypes[0]:
        return True
    bits = np.iinfo(dtypes[0]).bits
    wants = {"div": xs[-1] != 0, "rem": xs[-1] != 0, "pow": xs[-1] >= 0}
    return wants.get(op.name, not op.name.startswith("shift") or 0 <= xs[-1] < bits)


def said(op, xs):
    """Whether it is said what the result is.

    (-0)**0.5 and (-inf)**0.5 are √x in some of NumPy's loops only; XLA takes x for x + 0, so the
    sign of -0 + 0 depends on which of them is a literal.
    """
    if XLA and op.name in ("add", "sub") and xs[0] == xs[1] == 0:
        return False
    return op.name != "pow" or xs[1] != 0.5 or xs[0] > 0


def run(keys, results, operands):
    """Execute a graph of these results after all passes."""
    graph = flatten(keys, results, lambda key: key.definition)
    graph, _ = optimized(graph, NAMES)
    backend = select_backend()
    avals = graph.avals[: len(graph.inputs)]
    taken = [
        backend.asoperand(np.asarray(x), aval) for x, aval in zip(operands, avals, strict=True)
    ]
    with np.errstate(all="ignore"):
        found = backend.compile(compile_program(graph), avals)(*taken)
    return [backend.to_numpy(x) for x in found]


def literal(value, dtype, shape=()):
    return derive_one(p.Constant(value, dtype, shape), ())


def inputs(dtypes, shape):
    return [input_key(f"x{i}", Aval(shape, name)) for i, name in enumerate(dtypes)]


def on_arrays(op, dtypes, cases):
    """All cases in one operation."""
    keys = inputs(dtypes, (len(cases),))
    columns = [np.array([xs[k] for xs in cases], name) for k, name in enumerate(dtypes)]
    return run(keys, derive(op, keys), columns)[0]


def on_literals(op, dtypes, cases):
    """One operation of literals per case."""
    results = [
        derive_one(op, [literal(x, name) for x, name in zip(xs, dtypes, strict=True)])
        for xs in cases
    ]
    return np.array([np.asarray(x) for x in run([], results, [])])


def on_repeated_literals(op, dtypes, cases):
    """One operation of literals that fill an array per case."""
    results = [
        derive_one(op, [literal(x, name, (3,)) for x, name in zip(xs, dtypes, strict=True)])
        for xs in cases
    ]
    found = run([], results, [])
    assert all(x.shape == (3,) and same(x[:1], x[1:]) for x in found)
    return np.array([x[0] for x in found])


def on_numbers(op, dtypes, cases):
    """One operation of single numbers per case, each an input."""
    count = len(dtypes)
    keys = inputs(dtypes * len(cases), ())
    results = [derive_one(op, keys[i * count : (i + 1) * count]) for i in range(len(cases))]
    numbers = [np.asarray(x).astype(n) for xs in cases for x, n in zip(xs, dtypes, strict=True)]
    return np.array([np.asarray(x) for x in run(keys, results, numbers)])


def beside_a_literal(op, dtypes, cases, place=-1):
    """All cases with one literal in one operation, where the literal fills an array."""
    found = {}
    literals = {repr(xs[place]): xs[place] for xs in cases}
    for text, value in literals.items():
        chosen = [i for i, xs in enumerate(cases) if repr(xs[place]) == text]
        shape = (len(chosen),)
        keys = inputs(dtypes, shape)
        filled = derive_one(BroadcastInDim(shape, ()), (literal(value, dtypes[place]),))
        operands = [*keys[:-1], filled] if place else [filled, *keys[1:]]
        kept = [key for key in operands if key is not filled]
        columns = [np.array([cases[i][k] for i in chosen], dtypes[k]) for k in range(len(dtypes))]
        del columns[place]
        found.update(zip(chosen, run(kept, derive(op, operands), columns)[0], strict=True))
    return np.array([found[i] for i in range(len(cases))])


def before_a_literal(op, dtypes, cases):
    return beside_a_literal(op, dtypes, cases, 0)


def same(x, y, ulps=0):
    """Whether numbers agree to the sign of zero; finite ones that were rounded, to so many ulps."""
    if x.dtype.kind == "c":
        return same(x.real, y.real, ulps) and same(x.imag, y.imag, ulps)
    if x.dtype.kind != "f":
        return bool(np.all(x == y))
    with np.errstate(all="ignore"):
        near = np.abs(x.astype("f8") - y.astype("f8")) <= ulps * np.spacing(np.abs(x)).astype("f8")
    signs = np.signbit(x) == np.signbit(y)
    return bool(np.all(np.isnan(x) & np.isnan(y) | signs & ((x == y) | near)))


FORMS = (on_literals, on_repeated_literals, on_numbers, beside_a_literal, before_a_literal)


@pytest.mark.parametrize("op, dtypes", list(rows()))
def test_literals_numbers_and_arrays_give_the_same(op, dtypes):
    """f(literal) = f(number) = f(array)[i] = f(array, literal)[i]"""
    every = itertools.product(*[values(name) for name in dtypes])
    cases = [xs for xs in every if defined(op, dtypes, xs) and said(op, xs)]
    cases = cases[:: 7 if "complex" in dtypes[-1] else 41 if len(cases) > 1000 else 1]
    wanted = on_arrays(op, dtypes, cases)
    exact = op.name in EXACT and not (
        dtypes[0].startswith("complex") and op.name in ROUNDED_IF_COMPLEX
    )
    for form in FORMS if len(dtypes) > 1 else FORMS[:3]:
        found = form(op, dtypes, cases)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        bad = [
            (xs, x, y)
            for xs, x, y in zip(cases, found, wanted, strict=True)
            if not same(np.array(x), np.array(y), 0 if exact else 4)
        ]
        assert not bad, (form.__name__, len(bad), bad[:6])
