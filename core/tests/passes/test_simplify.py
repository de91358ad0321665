"""``simplify``: identities that keep every bit, and what only looks like one."""

import pytest
from graphs import after, apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Abs, Add, Div, Maximum, Mul, Neg, Square, Sub
from tenferro.primitives.comparison import (
    Eq,
    Le,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Select,
)
from tenferro.primitives.complex import Complex, Conj, Imag, Real
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.structural import Convert, StopGradient


def const(number, dtype="f64", shape=(3,)):
    return apply(Constant(number, dtype, shape))


def neg(x):
    return apply(Neg(), x)


x, y = value("x"), value("y")
n, m = value("n", "i64"), value("m", "i64")
z = value("z", "c128")
p, q = value("p", "bool"), value("q", "bool")

REWRITTEN = {
    "one": (apply(Mul(), x, const(1.0)), "return %0"),
    "one on the left": (apply(Mul(), const(1.0), x), "return %0"),
    "minus one": (apply(Mul(), x, const(-1.0)), "%1 = neg %0; return %1"),
    "integer times zero": (
        apply(Mul(), n, const(0, "i64")),
        "%1 = constant[value=0, dtype=i64, shape=(3,)]; return %1",
    ),
    "signs of a product": (apply(Mul(), neg(x), neg(y)), "%2 = mul %0 %1; return %2"),
    "a sign moves out": (apply(Mul(), neg(x), y), "%2 = mul %0 %1; %3 = neg %2; return %3"),
    "a sign goes into a constant": (
        apply(Mul(), neg(x), const(3.0)),
        "%1 = constant[value=-3.0, dtype=f64, shape=(3,)]; %2 = mul %0 %1; return %2",
    ),
    "a sign after a constant": (
        neg(apply(Mul(), x, const(3.0))),
        "%1 = constant[value=-3.0, dtype=f64, shape=(3,)]; %2 = mul %0 %1; return %2",
    ),
    "doublings": (
        apply(Mul(), apply(Mul(), x, const(2.0)), const(-4.0)),
        "%1 = constant[value=-8.0, dtype=f64, shape=(3,)]; %2 = mul %0 %1; return %2",
    ),
    "integer factors": (
        apply(Mul(), apply(Mul(), n, const(3, "i64")), const(5, "i64")),
        "%1 = constant[value=15, dtype=i64, shape=(3,)]; %2 = mul %0 %1; return %2",
    ),
    "divided by one": (apply(Div(), x, const(1.0)), "return %0"),
    "divided by a power of two": (
        apply(Div(), x, const(8.0)),
        "%1 = constant[value=0.125, dtype=f64, shape=(3,)]; %2 = mul %0 %1; return %2",
    ),
    "signs of a quotient": (apply(Div(), neg(x), neg(y)), "%2 = div %0 %1; return %2"),
    "a sign moves out of a quotient": (
        apply(Div(), x, neg(y)),
        "%2 = div %0 %1; %3 = neg %2; return %3",
    ),
    "plus minus zero": (apply(Add(), x, const(-0.0)), "return %0"),
    "integer plus zero": (apply(Add(), n, const(0, "i64")), "return %0"),
    "a negative term": (apply(Add(), neg(x), y), "%2 = sub %1 %0; return %2"),
    "a negative complex term": (apply(Add(), z, neg(z)), "%1 = sub %0 %0; return %1"),
    "minus zero": (apply(Sub(), x, const(0.0)), "return %0"),
    "minus a negative": (apply(Sub(), x, neg(y)), "%2 = add %0 %1; return %2"),
    "taken off twice": (
        apply(Sub(), neg(x), x),
        "%1 = constant[value=-2.0, dtype=f64, shape=(3,)]; %2 = mul %0 %1; return %2",
    ),
    "from minus zero": (apply(Sub(), const(-0.0), x), "%1 = neg %0; return %1"),
    "an integer minus itself": (
        apply(Sub(), n, n),
        "%1 = constant[value=0, dtype=i64, shape=(3,)]; return %1",
    ),
    "twice negative": (neg(neg(x)), "return %0"),
    "an integer difference": (neg(apply(Sub(), n, m)), "%2 = sub %1 %0; return %2"),
    "square of a negative": (apply(Square(), neg(x)), "%1 = square %0; return %1"),
    "square of a modulus": (apply(Square(), apply(Abs(), x)), "%1 = square %0; return %1"),
    "modulus of a conjugate": (apply(Abs(), apply(Conj(), z)), "%1 = abs %0; return %1"),
    "modulus twice": (apply(Abs(), apply(Abs(), z)), "%1 = abs %0; return %1"),
    "maximum with itself": (apply(Maximum(), x, x), "return %0"),
    "imaginary part of a conjugate": (
        apply(Imag(), apply(Conj(), z)),
        "%1 = imag %0; %2 = neg %1; return %2",
    ),
    "conjugate twice": (apply(Conj(), apply(Conj(), z)), "return %0"),
    "conjugate of a real": (apply(Conj(), x), "return %0"),
    "real part of parts": (apply(Real(), apply(Complex(), x, y)), "return %0"),
    "imaginary part of parts": (apply(Imag(), apply(Complex(), x, y)), "return %1"),
    "real part of a conjugate": (
        apply(Real(), apply(Conj(), z)),
        "%1 = real %0; return %1",
    ),
    "real part of a real": (
        apply(Real(), apply(Convert("c128"), x)),
        "%1 = convert[dtype=f64] %0; return %1",
    ),
    "parts put together": (apply(Complex(), apply(Real(), z), apply(Imag(), z)), "return %0"),
    "not not": (apply(LogicalNot(), apply(LogicalNot(), p)), "return %0"),
    "not equal": (apply(LogicalNot(), apply(Eq(), x, y)), "%2 = ne %0 %1; return %2"),
    "and True": (apply(LogicalAnd(), p, const(True, "bool")), "return %0"),
    "and False": (
        apply(LogicalAnd(), p, const(False, "bool")),
        "%1 = constant[value=False, dtype=bool, shape=(3,)]; return %1",
    ),
    "or False": (apply(LogicalOr(), const(False, "bool"), p), "return %0"),
    "xor True": (apply(LogicalXor(), p, const(True, "bool")), "%1 = logical_not %0; return %1"),
    "and itself": (apply(LogicalAnd(), p, p), "return %0"),
    "chosen beforehand": (apply(Select(), const(False, "bool"), x, y), "return %1"),
    "equal branches": (apply(Select(), p, x, x), "return %0"),
    "not this one": (
        apply(Select(), apply(LogicalNot(), p), x, y),
        "%3 = select %2 %1 %0; return %3",
    ),
    "nothing is differentiated": (apply(StopGradient(), x), "return %0"),
}

KEPT = {
    "zero may be minus zero": apply(Add(), x, const(0.0)),
    "inf times zero is nan": apply(Mul(), x, const(0.0)),
    "inf minus inf is nan": apply(Sub(), x, x),
    "inf over inf is nan": apply(Div(), x, x),
    "zero minus zero is plus zero": apply(Sub(), const(0.0), x),
    "minus (x - x) is minus zero": neg(apply(Sub(), x, y)),
    "a third is rounded": apply(Div(), x, const(3.0)),
    "an inverse that is subnormal": apply(Div(), x, const(2.0**1023)),
    "halves may underflow": apply(Mul(), apply(Mul(), x, const(0.5)), const(0.5)),
    "a factor that overflows": apply(Mul(), apply(Mul(), x, const(2.0**1000)), const(2.0**1000)),
    "integers are divided with truncation": apply(Div(), neg(n), m),
    "complex one has an imaginary zero": apply(Mul(), z, const(1 + 0j, "c128")),
    "a complex product is a sum": apply(Mul(), neg(z), z),
    "an unsigned modulus is of what wrapped": apply(Abs(), neg(value("u", "uint8"))),
    "a complex modulus is rounded": apply(Square(), apply(Abs(), z)),
    "nan is not below": apply(LogicalNot(), apply(Le(), x, y)),
    "in the other order": apply(Complex(), apply(Imag(), z), apply(Real(), z)),
    "parts of two numbers": apply(Complex(), apply(Real(), z), apply(Imag(), value("w", "c128"))),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_an_identity_is_used(name):
    output, expected = REWRITTEN[name]
    inputs = [key for key in (x, y, n, m, z, p, q) if key in _leaves(output)]
    assert after(["simplify"], output, inputs=inputs) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_identity_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["simplify"])[0] is graph


def test_a_sign_that_others_read_stays():
    minus = neg(x)
    text = after(["simplify"], apply(Mul(), minus, y), apply(Exp(), minus), inputs=[x, y])
    assert text == "%2 = neg %0; %3 = mul %2 %1; %4 = exp %2; return %3, %4"


@pytest.mark.parametrize("first", [True, False])
def test_a_sign_moves_out_of_a_product_that_is_there_anyway(first):
    """Before or behind; others that read -x read it then, or what they take it in"""
    minus = neg(x)
    pair = [apply(Mul(), x, y), apply(Mul(), minus, y)]
    last = apply(Add(), apply(Mul(), minus, x), apply(Mul(), x, x))
    outputs = [*(pair if first else pair[::-1]), last]
    text = after(["simplify", "cse"], *outputs, inputs=[x, y])
    assert text.count("mul") == 2
    assert text.count("neg") == 1
    assert after(["simplify"], *outputs, inputs=[x, y]).count("mul") == 4


def test_a_sign_that_others_read_over_a_detour_stays():
    """Who reads what stands for a value reads the value"""
    first, minus = apply(Mul(), neg(y), x), apply(StopGradient(), neg(x))
    text = after(["simplify"], first, apply(Mul(), minus, y), apply(Exp(), minus), inputs=[x, y])
    assert text == (
        "%2 = mul %1 %0; %3 = neg %2; %4 = neg %0; %5 = mul %4 %1; %6 = exp %4; return %3, %5, %6"
    )


def _leaves(output):
    return graph_of(output).inputs
