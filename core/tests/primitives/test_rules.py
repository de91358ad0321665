"""Derivative rules on numbers of rank 0, the conventions of the vocabulary, and printed graphs."""

import math

import pytest
import vocabulary
from vocabulary import graph, jvp, ones, value, var, vjp, zeros

from tenferro import primitives as p

INF, NAN = math.inf, math.nan


def derivative(f, at, mode=jvp, dtype="f64"):
    """f′ at a point of rank 0, forward or reverse."""
    x = var((), dtype)
    y = f(x)
    return value(mode(y, x, ones(x if mode is jvp else y)), {x: at})


def second(f, at, inner, outer):
    x = var()
    first = inner(f(x), x, ones(x))
    return value(outer(first, x, ones(x)), {x: at})


MODES = [jvp, vjp]
UNARY = {
    "exp": 0.7,
    "log": 0.7,
    "expm1": 0.3,
    "log1p": 0.3,
    "sin": 0.7,
    "cos": 0.7,
    "tan": 0.7,
    "tanh": 0.7,
    "logistic": 0.7,
    "erf": 0.7,
    "neg": 0.7,
    "abs": -0.7,
    "square": 0.7,
    "sqrt": 0.7,
    "rsqrt": 0.7,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", UNARY)
def test_derivative_is_the_difference_quotient(name, mode):
    """f′ = (f(x+h) - f(x-h)) / 2h"""
    f, x, at, h = getattr(p, name), var(), UNARY[name], 1e-6
    quotient = (value(f(x), {x: at + h}) - value(f(x), {x: at - h})) / (2 * h)
    assert derivative(f, at, mode) == pytest.approx(quotient, rel=1e-8)


@pytest.mark.parametrize("name", UNARY)
def test_second_derivatives_agree(name):
    """FoF = FoR = RoF = RoR = the difference quotient of f′"""
    f, at, h = getattr(p, name), UNARY[name], 1e-6
    quotient = (derivative(f, at + h) - derivative(f, at - h)) / (2 * h)
    for inner in MODES:
        for outer in MODES:
            assert second(f, at, inner, outer) == pytest.approx(quotient, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("erf", "abs")])
def test_holomorphic_derivatives_are_conjugated_in_reverse_only(name):
    """ct_z = conj(f′(z)) for ct = 1"""
    f, at = getattr(p, name), 0.6 + 0.3j
    forward = derivative(f, at, jvp, "c128")
    x, h = var((), "c128"), 1e-6
    quotient = (value(f(x), {x: at + h}) - value(f(x), {x: at - h})) / (2 * h)
    assert forward == pytest.approx(quotient, rel=1e-8)
    assert derivative(f, at, vjp, "c128") == pytest.approx(forward.conjugate())


def step(x):
    return p.select(p.gt(x, zeros(x)), x, zeros(x))


def relu(x):
    return p.maximum(x, zeros(x))


def below(x):
    return p.minimum(x, zeros(x))


def unit(x):
    return p.clamp(p.neg(ones(x)), x, ones(x))


def safe_log(x):
    positive = p.gt(x, zeros(x))
    return p.select(positive, p.log(p.select(positive, x, ones(x))), zeros(x))


def upside_down(x):
    return p.clamp(ones(x), x, p.neg(ones(x)))


KINKS = [
    (step, {INF: 1, -INF: 0, NAN: 0, 0.0: 0}),
    (relu, {INF: 1, -INF: 0, NAN: 0.5, 0.0: 0.5, 2.0: 1}),
    (below, {INF: 0, -INF: 1, NAN: 0.5, 0.0: 0.5, 2.0: 0}),
    (p.abs, {INF: 1, -INF: -1, 0.0: 0, -2.0: -1}),
    (p.sign, {INF: 0, -INF: 0, NAN: 0, 0.0: 0, 2.0: 0}),
    (unit, {INF: 0, -INF: 0, NAN: 1, 1.0: 0, -1.0: 0, 0.5: 1}),
    (upside_down, {INF: 0, 0.0: 0, 1.0: 0, -1.0: 0}),
    (safe_log, {0.0: 0, 2.0: 0.5}),
    (p.sqrt, {0.0: INF}),
    (lambda x: p.integer_pow(x, 0), {0.0: 0, -2.0: 0}),
    (lambda x: p.integer_pow(x, 1), {0.0: 1, -2.0: 1}),
    (lambda x: p.integer_pow(x, 2), {0.0: 0, -2.0: -4}),
    (lambda x: p.integer_pow(x, 3), {0.0: 0, -2.0: 12}),
    (lambda x: p.integer_pow(x, -2), {-2.0: 0.25}),
    (p.stop_gradient, {2.0: 0}),
    (lambda x: p.convert(p.convert(x, "i64"), "f64"), {2.5: 0}),
    (lambda x: p.maximum(x, x), {2.0: 1, NAN: 1}),
    (lambda x: p.minimum(x, x), {2.0: 1}),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f, at, expected", [(f, at, e) for f, points in KINKS for at, e in points.items()]
)
def test_conventions_at_kinks(f, at, expected, mode):
    """Ties share equally, clamp is strict, |x|′(0) = 0, masks are real zeros"""
    assert derivative(f, at, mode) == expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "lo, x, hi, expected",
    [
        (0.0, -1.0, 1.0, (1, 0, 0)),
        (0.0, 0.5, 1.0, (0, 1, 0)),
        (0.0, 2.0, 1.0, (0, 0, 1)),
        (0.0, 0.0, 1.0, (0, 0, 0)),
        (0.0, 1.0, 1.0, (0, 0, 0)),
        (1.0, 0.5, 0.0, (0, 0, 1)),
        (1.0, -1.0, 0.0, (0, 0, 1)),
    ],
)
def test_clamp_has_at_most_one_active_input(lo, x, hi, expected, mode):
    """min(max(x, lo), hi), also where lo > hi"""
    xs = [var(), var(), var()]
    y = p.clamp(*xs)
    given = dict(zip(xs, (lo, x, hi), strict=True))
    found = tuple(value(mode(y, v, ones(v)), given) for v in xs)
    assert found == expected


POWERS = [
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 1.0, 0.0),
    (0.0, 2.0, 0.0, 0.0),
    (0.0, 0.5, INF, 0.0),
    (0.0, -1.0, -INF, -INF),
    (2.0, 0.0, 0.0, math.log(2)),
    (2.0, 3.0, 12.0, 8 * math.log(2)),
    (INF, 0.0, 0.0, INF),
    (5e-324, 0.0, 0.0, math.log(5e-324)),
    (NAN, 0.0, 0.0, NAN),
    (-2.0, 3.0, 12.0, NAN),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("at, exponent, by_base, by_exponent", POWERS)
def test_power_is_guarded_at_zero(at, exponent, by_base, by_exponent, mode):
    x, y = var(), var()
    z, given = p.pow(x, y), {x: at, y: exponent}
    assert value(mode(z, x, ones(x)), given) == by_base
    assert value(mode(z, y, ones(y)), given) == pytest.approx(by_exponent, nan_ok=True)


def test_mixed_derivatives_of_power_at_exponent_zero():
    """∂²(x^y)/∂x∂y = 1/x at y = 0, whichever comes first"""
    x, y = var(), var()
    z, given = p.pow(x, y), {x: 2.0, y: 0.0}
    assert value(vjp(vjp(z, x, ones(x)), y, ones(y)), given) == 0.5
    assert value(vjp(vjp(z, y, ones(y)), x, ones(x)), given) == 0.5


def test_modulus():
    """grad |z|² = 2z;  grad |z| = z/|z|, 0 at 0;  |z| turns at second order"""
    z = var((), "c128")
    squared = p.real(p.conj(z) * z)
    assert value(vjp(squared, z, p.constant(1, "f64")), {z: 1 + 2j}) == 2 + 4j
    first = vjp(p.abs(z), z, p.constant(1, "f64"))
    assert value(first, {z: 3 + 4j}) == pytest.approx(0.6 + 0.8j)
    assert value(first, {z: 0j}) == 0
    turned = jvp(first, z, p.constant(1j, "c128"))  # d(z/|z|) along i at 1 is i
    assert value(turned, {z: 1 + 0j}) == pytest.approx(1j)


def test_parts_of_complex_numbers():
    """ct_z of Re, Im, conj and of a conversion to real; ct of the parts of a complex number"""
    z, x, y = var((), "c128"), var(), var()
    one, i = p.constant(1, "f64"), p.constant(2 + 3j, "c128")
    assert value(vjp(p.real(z), z, one), {}) == 1
    assert value(vjp(p.imag(z), z, one), {}) == 1j
    assert value(vjp(p.conj(z), z, i), {}) == 2 - 3j
    assert value(vjp(p.convert(z, "f64"), z, one), {}) == 1 + 0j
    assert value(vjp(p.convert(x, "c128"), x, i), {}) == 2.0
    assert value(vjp(p.complex(x, y), x, i), {}) == 2.0
    assert value(vjp(p.complex(x, y), y, i), {}) == 3.0


def test_nothing_flows_through_integers_and_bools():
    x = var((3,))
    for y in (p.convert(p.convert(x, "i32"), "f64"), p.convert(p.gt(x, zeros(x)), "f64")):
        assert jvp(y, x) is None
        assert vjp(y, x) is None
    assert jvp(p.argmax(x, 0), x) is None


LAYOUTS = [
    ((2, 3), (3, 4), (1,), (0,), (), ()),
    ((2, 3), (3, 2), (0, 1), (1, 0), (), ()),
    ((2, 3), (4,), (), (), (), ()),
    ((2, 3, 4, 5), (5, 4, 2, 3), (1, 3), (3, 0), (2,), (1,)),
    ((5, 2, 3, 6, 4), (5, 3, 6, 4, 2, 7), (0, 3), (0, 2), (2, 4), (1, 3)),
    ((2, 3), (3, 2), (), (), (1, 0), (0, 1)),
    ((2, 0), (0, 4), (1,), (0,), (), ()),
]


@pytest.mark.parametrize("dtype, preferred", [("f64", None), ("f32", "f64"), ("c64", "c128")])
@pytest.mark.parametrize("lhs, rhs, lc, rc, lb, rb", LAYOUTS)
def test_transposes_of_contractions_fit(lhs, rhs, lc, rc, lb, rb, dtype, preferred):
    x, y = var(lhs, dtype), var(rhs, dtype)
    z = p.dot_general(x, y, lc, rc, lb, rb, preferred)
    for operand in (x, y):
        assert vjp(z, operand).aval is operand.aval
        assert vjp(vjp(z, operand), y if operand is x else x) is not None


@pytest.mark.parametrize("mode", p.indexing.GATHER_MODES)
def test_modes_are_carried_into_derived_operations(mode):
    x, rows = var((5, 3)), var((2, 1), "i64")
    y = p.gather(x, rows, **vocabulary.LAYOUT, mode=mode)
    back = vjp(p.mul(y, y), x)
    modes = [n.operation.mode for n in graph(back).nodes if hasattr(n.operation, "mode")]
    assert modes == [mode, "drop" if mode == "fill" else mode]


def show(name, f, xs, mode):
    y = f(*xs)
    seed = {jvp: "dx", vjp: "ct"}[mode]
    seeds = p.variable(seed, *_of(xs[0] if mode is jvp else y))
    found = mode(y, xs[0], seeds)
    return name, graph([found], [*xs, seeds])


def _of(x):
    return x.shape, x.dtype


A, W, V = (
    p.variable("a", (2, 3), "c128"),
    p.variable("w", (3, 4), "c128"),
    p.variable("v", (5,), "f64"),
)
U, E = p.variable("u", (5,), "f64"), p.variable("y", (5,), "f64")
ROWS = p.variable("rows", (2, 1), "i64")
GOLDEN = [
    show("mul_vjp", p.mul, (A, p.variable("b", (2, 3), "c128")), vjp),
    show("div_jvp", lambda u, v: p.div(v, u), (U, V), jvp),
    show("tanh_vjp", p.tanh, (V,), vjp),
    show("abs_complex_vjp", p.abs, (A,), vjp),
    show("maximum_jvp", p.maximum, (U, V), jvp),
    show("clamp_vjp", lambda x, lo, hi: p.clamp(lo, x, hi), (U, V, E), vjp),
    show("pow_vjp", p.pow, (U, E), vjp),
    show("select_vjp", lambda x, y: p.select(p.gt(x, y), x, y), (U, V), vjp),
    show("dot_general_vjp", lambda a, w: p.dot_general(a, w, (1,), (0,)), (A, W), vjp),
    show("reduce_prod_jvp", lambda v: p.reduce_prod(v, (0,)), (V,), jvp),
    show("reduce_max_vjp", lambda v: p.reduce_max(v, (0,)), (V,), vjp),
    show("broadcast_vjp", lambda v: p.broadcast_in_dim(v, (2, 5), (1,)), (V,), vjp),
    show("slice_vjp", lambda v: p.slice(v, (1,), (5,), (2,)), (V,), vjp),
    show("pad_vjp", lambda x: p.pad(x, 0, (-1,), (2,), (1,)), (V,), vjp),
    show(
        "gather_vjp", lambda a, r: p.gather(a, r, **vocabulary.LAYOUT, mode="fill"), (A, ROWS), vjp
    ),
]


@pytest.mark.parametrize("name, printed", GOLDEN, ids=[row[0] for row in GOLDEN])
def test_printed_derivatives(name, printed, golden):
    """Graphs of derivatives are the stored ones"""
    golden(f"primitives_{name}", printed)


@pytest.mark.parametrize("slot", ["x", "y"])
def test_the_cotangent_of_a_complex_factor_has_the_other_one_conjugated(slot):
    """z = x y:   ct_x = ct conj(y),   ct_y = conj(x) ct

    The engine sorts the operands of a product, so that a program may use one of the rules alone.
    """
    ct, x, y = var((), "c128"), var((), "c128"), var((), "c128")
    found = getattr(p.Mul(), f"transpose_{slot}")(ct, x, y)
    assert value(found, {ct: 2 - 1j, x: 3 + 4j, y: 3 + 4j}) == (2 - 1j) * (3 - 4j)


def test_the_cotangent_of_a_complex_dividend_has_the_divisor_conjugated():
    """z = x / y:   ct_x = ct / conj(y)"""
    ct, x, y = var((), "c128"), var((), "c128"), var((), "c128")
    found = value(p.Div().transpose_x(ct, x, y), {ct: 25, x: 1j, y: 3 + 4j})
    assert found == pytest.approx(3 + 4j, rel=1e-15)
