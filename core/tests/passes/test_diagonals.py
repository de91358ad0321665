"""``diagonals``: diagonal matrices are n numbers between zeros, added to n elements."""

import pytest
from graphs import after, apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Sub
from tenferro.primitives.comparison import Eq, Select
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Convert

ONLY = ["diagonals"]
N = 32
k, other = value("k", shape=(N, N)), value("o", shape=(N, N))
v, s = value("v", shape=(N,)), value("s", shape=())


def mask(shape=(N, N), first=0):
    return apply(Eq(), apply(Iota(shape, first, "i64")), apply(Iota(shape, 1 - first, "i64")))


def number(filler, shape=()):
    return apply(Constant(filler, "f64", shape))


def matrix(filler=0.0, shape=(N, N), dimension=1):
    repeated = apply(BroadcastInDim(shape, (dimension,)), v)
    return apply(Select(), mask(shape), repeated, number(filler, shape))


PADDED = "pad[low=(0,), high=(0,), interior=(32,)]"


@pytest.mark.parametrize("first", [0, 1])
def test_an_identity_matrix_is_padded_ones(first):
    text = after(ONLY, apply(Convert("f64"), mask(first=first)))
    assert text == (
        "%0 = constant[value=1.0, dtype=f64, shape=(32,)]; "
        f"%1 = constant[value=0.0, dtype=f64, shape=()]; %2 = {PADDED} %0 %1; "
        "%3 = reshape[shape=(32, 32)] %2; return %3"
    )


@pytest.mark.parametrize("dimension", [0, 1])
@pytest.mark.parametrize("filler", [0.0, 2.5])
def test_a_vector_on_a_diagonal_is_padded(dimension, filler):
    text = after(ONLY, matrix(filler, dimension=dimension))
    assert f"constant[value={filler}, dtype=f64, shape=()]; %2 = {PADDED} %0 %1" in text


def test_the_diagonal_of_a_matrix_is_read():
    text = after(ONLY, apply(Select(), mask(), k, number(0.0, (N, N))))
    assert "slice[start=(0,), limit=(1024,), strides=(33,)]" in text
    assert PADDED in text


def test_a_number_multiplies_the_diagonal_and_what_surrounds_it():
    text = after(ONLY, apply(Mul(), apply(BroadcastInDim((N, N), ()), s), matrix()), inputs=[v, s])
    for part in ("mul %3 %0", "mul %1 %2", PADDED):
        assert part in text
    assert "shape=(32, 32)] %1 " not in text


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("operation", [Add(), Sub()], ids=lambda op: op.name)
def test_it_is_added_to_the_elements_of_another(operation, is_first):
    pair = (matrix(), k) if is_first else (k, matrix())
    text = after(ONLY, apply(operation, *pair), inputs=[k, v])
    order = "%3 %4" if is_first else "%4 %3"
    assert f"%4 = reshape[shape=(1024,)] %0; %5 = {operation.name} {order}" in text


def test_a_sum_of_a_product_reads_the_diagonal():
    text = after(ONLY, apply(ReduceSum((0, 1)), apply(Mul(), k, matrix())), inputs=[k, v])
    assert text.count("mul") == 1
    assert "slice[start=(0,), limit=(1024,), strides=(33,)]" in text
    assert "pad" not in text


@pytest.mark.parametrize("axis", [0, 1])
def test_a_sum_of_rows_or_columns_is_the_diagonal(axis):
    assert after(ONLY, apply(ReduceSum((axis,)), matrix())) == "return %0"


KEPT = {
    "small": apply(Convert("f64"), mask((3, 3))),
    "the same axis": apply(Convert("f64"), apply(Eq(), *[apply(Iota((N, N), 0, "i64"))] * 2)),
    "elsewhere another matrix": apply(Select(), mask(), k, other),
    "of a value": apply(Mul(), k, matrix(2.0)),
    "rows of a matrix that is filled": apply(ReduceSum((0,)), matrix(1.0)),
}


@pytest.mark.parametrize("name", ["small", "the same axis", "elsewhere another matrix"])
def test_what_is_kept(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ONLY)[0] is graph


@pytest.mark.parametrize("name", ["of a value", "rows of a matrix that is filled"])
def test_what_is_not_a_diagonal_among_zeros_is_computed_whole(name):
    assert any(
        text in after(ONLY, KEPT[name]) for text in ("mul %0 %4", "reduce_sum[axes=(0,)] %3")
    )
