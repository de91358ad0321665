"""``contract``: products that differ in order and scaling are one; diagonal matrices."""

import pytest
from graphs import after, apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.comparison import Eq, Select
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Pad, Reshape, Slice, Transpose

N = 64
u, c, v = (value(name, shape=(N, N)) for name in "ucv")
s, t, number = value("s", shape=(N,)), value("t", shape=(N,)), value("n", shape=())


def times(x, y, lhs=1, rhs=0):
    return apply(DotGeneral((lhs,), (rhs,), (), ()), x, y)


def turned(x):
    return apply(Transpose((1, 0)), x)


def columns(x, by):
    return apply(Mul(), x, apply(BroadcastInDim(x.aval.shape, (1,)), by))


def rows(x, by):
    return apply(Mul(), apply(BroadcastInDim(x.aval.shape, (0,)), by), x)


def total(x):
    return apply(ReduceSum((0, 1)), x)


def products(*outputs, passes=("contract", "cse")):
    """The number of products of matrices after the pass."""
    graph = optimized(graph_of(*outputs), list(passes))[0]
    nodes = [node for node in graph.nodes if type(node[0]) is DotGeneral]
    return sum([len(graph.avals[node[2][0]].shape) == 2 for node in nodes])


g, h = times(c, v), times(u, c, 0)
back = times(c, columns(v, t), 0)  # cᵀ (v t)
SHARED = {
    "both orders": ((g, times(columns(u, s), g, 0), times(rows(h, s), v)), 4, 2),
    "scaled at the ends": ((times(u, columns(g, t), 0), times(rows(h, s), v)), 4, 2),
    "a transpose": ((times(v, columns(g, t), 0), times(columns(g, t), v, 0)), 3, 2),
    "c and cᵀ": ((times(v, apply(Add(), columns(g, t), back), 0), g), 3, 2),
    "a difference": ((times(v, apply(Sub(), back, columns(g, t)), 0), g), 3, 2),
    "a sign": ((times(u, apply(Neg(), g), 0), times(h, v), g), 4, 2),
    "a sum of all": ((total(apply(Mul(), c, times(columns(u, s), v, 1, 1))), times(c, v)), 2, 1),
    "of the other side": ((total(apply(Mul(), times(u, v, 1, 1), c)), times(c, u, 0)), 2, 1),
}


@pytest.mark.parametrize("name", SHARED)
def test_products_become_one(name):
    outputs, before, then = SHARED[name]
    assert products(*outputs, passes=["cse"]) == before
    assert products(*outputs) == then


small = [value(name, shape=(8, 8)) for name in "xyz"]
KEPT = {
    "other factors": (times(u, g, 0), times(times(v, c, 0), u)),
    "scaled between": (g, times(u, rows(g, s), 0), times(columns(h, t), v)),
    "read besides": (g, h, times(u, g, 0)),
    "a sum of other products": (total(apply(Mul(), c, times(u, v, 1, 1))), times(u, v)),
    "small": (times(times(small[0], small[1]), small[2]), times(small[1], small[2]),
              times(small[0], times(small[1], small[2]))),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_other_products_stay(name):
    outputs = KEPT[name]
    assert products(*outputs) == products(*outputs, passes=["cse"])


def diag(by, axis=1):
    counts = [apply(Iota((N, N), k, "i32")) for k in (0, 1)]
    nothing = apply(Constant(0.0, "f64", (N, N)))
    return apply(
        Select(), apply(Eq(), *counts), apply(BroadcastInDim((N, N), (axis,)), by), nothing
    )


def scattered(by, step=N):
    zero = apply(Constant(0.0, "f64", ()))
    flat = apply(Pad((0,), ((N - 1) * (N - step),), (step,)), by, zero)
    return apply(Reshape((N, N)), flat)


SPREAD = "broadcast_in_dim[shape=(64, 64), dimensions=({},)]"
DIAGONAL = {
    "on the right": (times(c, diag(t)), f"%2 = {SPREAD.format(1)} %1; %3 = mul %0 %2; return %3"),
    "on the left": (times(diag(t, 0), c), f"%2 = {SPREAD.format(0)} %1; %3 = mul %0 %2; return %3"),
    "of a derivative": (
        times(c, scattered(t), 1, 1), f"%2 = {SPREAD.format(1)} %1; %3 = mul %0 %2; return %3"
    ),
    "of a transpose": (
        times(c, diag(t), 0),
        f"%2 = transpose[permutation=(1, 0)] %0; %3 = {SPREAD.format(1)} %1; "
        "%4 = mul %2 %3; return %4",
    ),
    "of a vector": (times(s, diag(t), 0), "%2 = mul %0 %1; return %2"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIAGONAL)
def test_a_diagonal_matrix_scales(name):
    output, text = DIAGONAL[name]
    inputs = [x for x in (c, s, t) if x in graph_of(output).inputs]
    assert after(["contract"], output, inputs=inputs) == text


def test_the_diagonal_of_a_product():
    flat = apply(Reshape((N * N,)), times(u, v, 1, 1))
    found = after(["contract"], apply(Slice((0,), (N * N,), (N + 1,)), flat), inputs=[u, v])
    assert found == "%2 = mul %0 %1; %3 = reduce_sum[axes=(1,)] %2; return %3"


def matrix_of(by):
    """Something like a diagonal matrix: t in other places, or other numbers outside."""
    counts = [apply(Iota((N, N), k, "i32")) for k in (0, 1)]
    spread = apply(BroadcastInDim((N, N), (1,)), by)
    one = apply(Constant(1.0, "f64", (N, N)))
    return apply(Select(), apply(Eq(), *counts), spread, one)


OTHERS = {
    "ones outside": times(c, matrix_of(t)),
    "another diagonal": times(c, scattered(t, N - 1)),
    "another slice": apply(
        Slice((1,), (N * N,), (N + 1,)), apply(Reshape((N * N,)), times(u, v))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_matrices_are_multiplied(name):
    assert products(OTHERS[name]) == 1
