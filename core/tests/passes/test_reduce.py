"""``reduce``: what is repeated is not reduced n times, factors go behind a sum."""

import pytest
from graphs import after, apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Div, Mul, Neg
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.reduction import ReduceAnd, ReduceMax, ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Transpose

x, y = value("x", shape=(2, 3)), value("y", shape=(3,))
s, column = value("s", shape=()), value("c", shape=(2, 1))
half, n = value("h", "f16", (2, 3)), value("n", "i64", (2, 3))


def repeat(key, shape, *dimensions):
    return apply(BroadcastInDim(shape, dimensions), key)


def total(key, *axes):
    return apply(ReduceSum(axes), key)


def mul(x, y):
    return apply(Mul(), x, y)


REWRITTEN = {
    "a factor of a factor": (
        total(mul(mul(x, repeat(value("s", shape=()), (2, 3))), x), 1),
        "%2 = mul %0 %0; %3 = reduce_sum[axes=(1,)] %2; "
        "%4 = broadcast_in_dim[shape=(2,), dimensions=()] %1; %5 = mul %3 %4; return %5",
    ),
    "twice": (total(total(x, 1), 0), "%1 = reduce_sum[axes=(0, 1)] %0; return %1"),
    "over the first, then the last": (
        total(total(value("q", shape=(2, 3, 4)), 0), 1),
        "%1 = reduce_sum[axes=(0, 2)] %0; return %1",
    ),
    "maximum twice": (
        apply(ReduceMax((0,)), apply(ReduceMax((0,)), half)),
        "%1 = reduce_max[axes=(0, 1)] %0; return %1",
    ),
    "over an axis of size 1": (
        total(column, 0, 1),
        "%1 = reshape[shape=(2,)] %0; %2 = reduce_sum[axes=(0,)] %1; return %2",
    ),
    "over nothing": (total(x), "return %0"),
    "of a transpose": (
        total(apply(Transpose((1, 0)), x), 0),
        "%1 = reduce_sum[axes=(1,)] %0; return %1",
    ),
    "n times one value": (
        total(repeat(y, (5, 3), 1), 0),
        "%1 = constant[value=5.0, dtype=f64, shape=(3,)]; %2 = mul %0 %1; return %2",
    ),
    "n times a sum": (
        total(repeat(y, (5, 3), 1), 0, 1),
        "%1 = reduce_sum[axes=(0,)] %0; %2 = constant[value=5.0, dtype=f64, shape=()]; "
        "%3 = mul %1 %2; return %3",
    ),
    "of what is repeated along another axis": (
        total(repeat(y, (5, 3), 1), 1),
        "%1 = reduce_sum[axes=(0,)] %0; "
        "%2 = broadcast_in_dim[shape=(5,), dimensions=()] %1; return %2",
    ),
    "of a constant": (
        total(apply(Constant(0.1, "f64", (4,))), 0),
        "%0 = constant[value=0.1, dtype=f64, shape=()]; "
        "%1 = constant[value=4.0, dtype=f64, shape=()]; %2 = mul %0 %1; return %2",
    ),
    "an integer that wraps": (
        total(repeat(value("i", "int8", ()), (300,)), 0),
        "%1 = constant[value=44, dtype=i8, shape=()]; %2 = mul %0 %1; return %2",
    ),
    "the largest of equals": (apply(ReduceMax((0,)), repeat(y, (5, 3), 1)), "return %0"),
    "all of equals": (
        apply(ReduceAnd((0, 1)), repeat(value("p", "bool"), (5, 3), 1)),
        "%1 = reduce_and[axes=(0,)] %0; return %1",
    ),
    "a sign": (total(apply(Neg(), x), 0), "%1 = reduce_sum[axes=(0,)] %0; %2 = neg %1; return %2"),
    "a number": (
        total(apply(Mul(), x, repeat(s, (2, 3))), 0, 1),
        "%2 = reduce_sum[axes=(0, 1)] %0; %3 = mul %2 %1; return %3",
    ),
    "a number within": (
        total(apply(Mul(), apply(Mul(), x, repeat(s, (2, 3))), apply(Exp(), x)), 0, 1),
        "%2 = exp %0; %3 = mul %0 %2; %4 = reduce_sum[axes=(0, 1)] %3; %5 = mul %4 %1; return %5",
    ),
    "a divisor and a sign within": (
        total(
            apply(Mul(), apply(Exp(), x), apply(Neg(), apply(Div(), x, repeat(s, (2, 3))))), 0, 1
        ),
        "%2 = exp %0; %3 = mul %2 %0; %4 = reduce_sum[axes=(0, 1)] %3; %5 = neg %4; "
        "%6 = div %5 %1; return %6",
    ),
    "a factor of rows": (
        total(apply(Mul(), repeat(y, (2, 3), 1), x), 0),
        "%2 = reduce_sum[axes=(0,)] %0; %3 = mul %2 %1; return %3",
    ),
    "a divisor": (
        total(apply(Div(), x, repeat(s, (2, 3))), 0),
        "%2 = reduce_sum[axes=(0,)] %0; "
        "%3 = broadcast_in_dim[shape=(3,), dimensions=()] %1; %4 = div %2 %3; return %4",
    ),
}

KEPT = {
    "a factor of a factor that varies": total(mul(mul(x, repeat(value("r"), (2, 3), 1)), x), 1),
    "float16, whose sums overflow": total(
        apply(Mul(), half, repeat(value("t", "f16", ()), (2, 3))), 0
    ),
    "float16 twice": total(total(half, 1), 0),
    "float16 n times": total(repeat(value("t", "f16", ()), (3,)), 0),
    "more than float32 counts": total(repeat(value("f", "f32", ()), (2**24 + 1,)), 0),
    "nothing, n times": total(repeat(s, (0,)), 0),
    "a factor that varies": total(apply(Mul(), repeat(y, (2, 3), 1), x), 1),
    "float32, which underflows early": total(
        apply(
            Mul(),
            apply(Mul(), value("p", "f32", (2, 3)), repeat(value("f", "f32", ()), (2, 3))),
            value("q", "f32", (2, 3)),
        ),
        0,
        1,
    ),
    "a factor within that varies": total(
        apply(Mul(), apply(Mul(), x, repeat(y, (2, 3), 1)), apply(Exp(), x)), 1
    ),
    "what is repeated is divided": total(apply(Div(), repeat(s, (2, 3)), x), 0),
    "an integer quotient": total(apply(Div(), n, repeat(value("k", "i64", ()), (2, 3))), 0),
    "the other order of the other axes": total(
        apply(Transpose((2, 0, 1)), value("q", shape=(2, 3, 4))), 1
    ),
    "a maximum of a sum": apply(ReduceMax((0,)), total(x, 1)),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_less_is_reduced(name):
    output, expected = REWRITTEN[name]
    inputs = sorted(graph_of(output).inputs, key=lambda key: key.serial)
    assert after(["reduce"], output, inputs=inputs) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_would_be_another_result_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["reduce"])[0] is graph


def test_a_product_that_others_read_stays():
    product = apply(Mul(), x, repeat(s, (2, 3)))
    graph = graph_of(total(product, 0), apply(Exp(), product))
    assert optimized(graph, ["reduce"])[0] is graph


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_a_product_that_others_read_is_not_summed_if_its_factor_is(first, turned):
    """As in the derivative of log Σ exp x: Σ e·c is c·Σ e, which is there before or behind"""
    pair = x, repeat(y, (2, 3), 1)
    product = apply(Mul(), *(pair[::-1] if turned else pair))
    sums = [total(x, 0), total(product, 0)]
    outputs = [*(sums if first else sums[::-1]), apply(Exp(), product)]
    text = after(["reduce", "cse"], *outputs, inputs=[x, y])
    assert text.count("reduce_sum") == 1
    assert after(["reduce"], *outputs, inputs=[x, y]).count("reduce_sum") == 2
