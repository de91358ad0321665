"""``fold``: operations on constants, where the result is known to the last bit."""

import pytest
from graphs import after, apply, graph_of, short

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Div, Maximum, Mul, Neg, Sqrt, Square, Sub
from tenferro.primitives.comparison import Eq, LogicalNot, Lt
from tenferro.primitives.complex import Conj, Real
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.reduction import ReduceMax, ReduceOr, ReduceSum
from tenferro.primitives.structural import (
    BroadcastInDim,
    Concatenate,
    Convert,
    Pad,
    Reshape,
    Slice,
    Transpose,
)

NAN, INF = float("nan"), float("inf")


def const(number, dtype="f64", shape=()):
    return apply(Constant(number, dtype, shape))


#: Values are made when a test runs: a value of constants alone is the same object as an equal value
#: that another test evaluated, and has no equation any more.
FOLDED = {
    "a sum": (lambda: apply(Add(), const(1.5), const(2.0)), 3.5, "f64", ()),
    "a sum in float32": (
        lambda: apply(Add(), const(1.0, "f32"), const(2.0**-24, "f32")),
        1.0,
        "f32",
        (),
    ),
    "a constant that float32 rounds": (
        lambda: apply(Sub(), const(0.1, "f32"), const(0.0, "f32")),
        0.10000000149011612,
        "f32",
        (),
    ),
    "a product that wraps": (
        lambda: apply(Mul(), const(100, "int8"), const(3, "int8")),
        44,
        "int8",
        (),
    ),
    "an unsigned opposite": (lambda: apply(Neg(), const(1, "uint8")), 255, "uint8", ()),
    "a quotient": (lambda: apply(Div(), const(1.0), const(3.0)), 1 / 3, "f64", ()),
    "a root": (lambda: apply(Sqrt(), const(2.0)), 2**0.5, "f64", ()),
    "a complex sum": (
        lambda: apply(Add(), const(1j, "c64"), const(2 + 0j, "c64")),
        2 + 1j,
        "c64",
        (),
    ),
    "a conjugate": (lambda: apply(Conj(), const(1 + 2j, "c128")), 1 - 2j, "c128", ()),
    "a real part": (lambda: apply(Real(), const(1 + 2j, "c128")), 1.0, "f64", ()),
    "a comparison": (lambda: apply(Lt(), const(1), const(2.0)), True, "bool", ()),
    "a negation": (lambda: apply(LogicalNot(), const(True, "bool")), False, "bool", ()),
    "the larger": (lambda: apply(Maximum(), const(-1.0), const(2.0)), 2.0, "f64", ()),
    "to float32": (lambda: apply(Convert("f32"), const(0.1)), 0.10000000149011612, "f32", ()),
    "to bool": (lambda: apply(Convert("bool"), const(0.5)), True, "bool", ()),
    "truncated": (lambda: apply(Convert("i32"), const(-1.5)), -1, "i32", ()),
    "a narrower integer": (lambda: apply(Convert("uint8"), const(-1, "i64")), 255, "uint8", ()),
    "a count of one": (lambda: apply(Iota((1, 3), 0, "i64")), 0, "i64", (1, 3)),
    "repeated": (
        lambda: apply(BroadcastInDim((2, 3), (1,)), const(2.0, shape=(3,))),
        2.0,
        "f64",
        (2, 3),
    ),
    "nan repeated": (lambda: apply(BroadcastInDim((2,), ()), const(NAN)), NAN, "f64", (2,)),
    "in another order": (
        lambda: apply(Transpose((1, 0)), const(2.0, shape=(2, 3))),
        2.0,
        "f64",
        (3, 2),
    ),
    "in another shape": (lambda: apply(Reshape((6,)), const(2.0, shape=(2, 3))), 2.0, "f64", (6,)),
    "cut": (lambda: apply(Slice((1,), (2,), (1,)), const(2.0, shape=(3,))), 2.0, "f64", (1,)),
    "padded with itself": (
        lambda: apply(Pad((1,), (0,), (0,)), const(2.0, shape=(3,)), const(2.0)),
        2.0,
        "f64",
        (4,),
    ),
    "joined": (
        lambda: apply(Concatenate(0), const(1.0, shape=(1,)), const(1.0, shape=(2,))),
        1.0,
        "f64",
        (3,),
    ),
    "the largest of equals": (
        lambda: apply(ReduceMax((0,)), const(1.0, shape=(3,))),
        1.0,
        "f64",
        (),
    ),
    "any of equals": (lambda: apply(ReduceOr((0,)), const(True, "bool", (3,))), True, "bool", ()),
    "a sum of integers": (lambda: apply(ReduceSum((0,)), const(3.0, shape=(4,))), 12.0, "f64", ()),
    "a sum of nothing": (
        lambda: apply(ReduceSum((0,)), const(3.0, shape=(0, 2))),
        0.0,
        "f64",
        (2,),
    ),
    "a sum that wraps": (lambda: apply(ReduceSum((0,)), const(100, "int8", (3,))), 44, "int8", ()),
}

KEPT = {
    "overflow": lambda: apply(Mul(), const(1e300), const(1e300)),
    "overflow in float16": lambda: apply(Add(), const(6e4, "f16"), const(6e4, "f16")),
    "nan": lambda: apply(Add(), const(NAN), const(1.0)),
    "inf": lambda: apply(Neg(), const(INF)),
    "division by zero": lambda: apply(Div(), const(1.0), const(0.0)),
    "integer division": lambda: apply(Div(), const(1, "i64"), const(0, "i64")),
    "integers that divide with truncation": lambda: apply(Div(), const(4, "i64"), const(2, "i64")),
    "which zero is larger": lambda: apply(Maximum(), const(0.0), const(-0.0)),
    "root of a negative": lambda: apply(Sqrt(), const(-1.0)),
    "a complex product": lambda: apply(Mul(), const(1j, "c128"), const(1j, "c128")),
    "a complex square": lambda: apply(Square(), const(1j, "c128")),
    "a transcendental function": lambda: apply(Exp(), const(1.0)),
    "bfloat16": lambda: apply(Add(), const(1.0, "bf16"), const(1.0, "bf16")),
    "out of the integers": lambda: apply(Convert("i32"), const(1e20)),
    "twice rounded": lambda: apply(Convert("f32"), const(2**60 + 1, "i64")),
    "a true count": lambda: apply(Iota((2, 3), 0, "i64")),
    "two zeros joined": lambda: apply(
        Concatenate(0), const(0.0, shape=(1,)), const(-0.0, shape=(1,))
    ),
    "a sum that is rounded": lambda: apply(ReduceSum((0,)), const(0.1, shape=(3,))),
    "a sum beyond float16": lambda: apply(ReduceSum((0,)), const(1.0, "f16", (5000,))),
}


@pytest.mark.parametrize("name", FOLDED)
def test_what_is_known_is_a_constant(name):
    output, number, dtype, shape = FOLDED[name]
    assert after(["fold"], output()) == short(graph_of(const(number, dtype, shape)))


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_known_stays(name):
    graph = graph_of(KEPT[name]())
    assert optimized(graph, ["fold"])[0] is graph


def test_a_chain_of_constants_is_one():
    one, two = const(1.0), const(2.0)
    is_less = apply(Eq(), apply(Add(), one, one), two)
    assert after(["fold"], is_less) == "%0 = constant[value=True, dtype=bool, shape=()]; return %0"
