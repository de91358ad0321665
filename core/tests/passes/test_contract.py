"""``contract``: transpositions, sums and repetitions that a contraction takes in."""

import pytest
from graphs import apply, graph_of, short, value

import tenferro as tn
from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Reshape, Transpose

x, y = value("x", shape=(4, 5)), value("y", shape=(5, 6))
stack, other = value("a", shape=(2, 4, 5)), value("b", shape=(2, 5, 6))
s, row = value("s", shape=()), value("r", shape=(5,))
s_row, long, single = value("q", shape=(6,)), value("l", shape=(3, 17)), value("t", "f32", (4,))
v, more = value("v", shape=(5, 4)), value("o", shape=(5, 6))
half = value("h", "f16", (4, 5))


def dot(left, right, contract, batch=((), ())):
    return apply(DotGeneral(*contract, *batch), left, right)


def turn(key, *permutation):
    return apply(Transpose(permutation), key)


def repeat(key, shape, *dimensions):
    return apply(BroadcastInDim(shape, dimensions), key)


def reshape(key, *shape):
    return apply(Reshape(shape), key)


def outer(left, right):
    """The products of a stack of columns of a matrix and a stack of rows of another one."""
    return apply(Mul(), repeat(left, (4, 5, 6), 0, 1), repeat(right, (4, 5, 6), 1, 2))


def total(key, *axes):
    return apply(ReduceSum(axes), key)


def text(key):
    """The graph, with a contraction written as `dot` with the axes `left=right` and batch axes."""
    inputs = sorted(graph_of(key).inputs, key=lambda key: key.serial)
    found = short(optimized(graph_of(key, inputs=inputs), ["moves", "contract"])[0])
    for name, sign in [("lhs_contract", ""), (", rhs_contract", ""), (", lhs_batch", ", ")]:
        found = found.replace(f"{name}=(", f"{sign}(" if "lhs" in name else "=(")
    found = found.replace(", rhs_batch=(", "=(").replace("dot_general[", "dot[")
    return found.replace(", ()=()", "").replace(", preferred=None", "")


REWRITTEN = {
    "of transposes": (
        dot(turn(x, 1, 0), turn(y, 1, 0), ((0,), (1,))),
        "%2 = dot[(1,)=(0,)] %0 %1; return %2",
    ),
    "of a transposed stack": (
        dot(turn(stack, 1, 0, 2), other, ((2,), (1,)), ((1,), (0,))),
        "%2 = dot[(2,)=(1,), (0,)=(0,)] %0 %1; return %2",
    ),
    "transposed": (
        turn(dot(x, y, ((1,), (0,))), 1, 0),
        "%2 = dot[(0,)=(1,)] %1 %0; return %2",
    ),
    "a transposed stack of results": (
        turn(dot(stack, other, ((2,), (1,)), ((0,), (0,))), 0, 2, 1),
        "%2 = dot[(1,)=(2,), (0,)=(0,)] %1 %0; return %2",
    ),
    "axes out of order": (
        dot(stack, stack, ((2, 0), (2, 0))),
        "%1 = dot[(0, 2)=(0, 2)] %0 %0; return %1",
    ),
    "summed over rows": (
        total(dot(x, y, ((1,), (0,))), 0),
        "%2 = reduce_sum[axes=(0,)] %0; %3 = dot[(0,)=(0,)] %2 %1; return %3",
    ),
    "summed over all": (
        total(dot(x, y, ((1,), (0,))), 0, 1),
        "%2 = reduce_sum[axes=(0,)] %0; %3 = reduce_sum[axes=(1,)] %1; "
        "%4 = dot[(0,)=(0,)] %2 %3; return %4",
    ),
    "summed over the stack": (
        total(dot(stack, other, ((2,), (1,)), ((0,), (0,))), 0),
        "%2 = dot[(0, 2)=(0, 1)] %0 %1; return %2",
    ),
    "repeated rows": (
        dot(repeat(row, (4, 5), 1), y, ((1,), (0,))),
        "%2 = dot[(0,)=(0,)] %1 %0; "
        "%3 = broadcast_in_dim[shape=(4, 6), dimensions=(1,)] %2; return %3",
    ),
    "a constant": (
        dot(x, apply(Constant(2.0, "f64", (5, 6))), ((1,), (0,))),
        "%1 = reduce_sum[axes=(1,)] %0; %2 = constant[value=2.0, dtype=f64, shape=()]; "
        "%3 = broadcast_in_dim[shape=(4,), dimensions=()] %2; %4 = mul %3 %1; "
        "%5 = broadcast_in_dim[shape=(4, 6), dimensions=(0,)] %4; return %5",
    ),
    "a number": (
        dot(x, s, ((), ())),
        "%2 = broadcast_in_dim[shape=(4, 5), dimensions=()] %1; %3 = mul %2 %0; return %3",
    ),
    "a sum over a product": (
        total(apply(Mul(), repeat(x, (4, 5, 6), 0, 1), repeat(y, (4, 5, 6), 1, 2)), 1),
        "%2 = dot[(1,)=(0,)] %0 %1; return %2",
    ),
    "a sum over a product in another order": (
        total(apply(Mul(), repeat(y, (5, 4, 6), 0, 2), repeat(turn(x, 1, 0), (5, 4, 6), 0, 1)), 0),
        "%2 = dot[(1,)=(0,)] %0 %1; return %2",
    ),
    "a sum over a difference of products": (
        total(apply(Sub(), outer(x, y), outer(turn(v, 1, 0), more)), 1),
        "%4 = dot[(1,)=(0,)] %0 %1; %5 = dot[(0,)=(0,)] %2 %3; %6 = sub %4 %5; return %6",
    ),
    "nothing contracted": (
        dot(row, s_row, ((), ())),
        "%2 = broadcast_in_dim[shape=(5, 6), dimensions=(0,)] %0; "
        "%3 = broadcast_in_dim[shape=(5, 6), dimensions=(1,)] %1; %4 = mul %2 %3; return %4",
    ),
    "nothing contracted, batches in another order": (
        dot(value("w", shape=(4, 2)), stack, ((), ()), ((1, 0), (0, 1))),
        "%2 = transpose[permutation=(1, 0)] %1; "
        "%3 = broadcast_in_dim[shape=(2, 4, 5), dimensions=(0, 1)] %2; %4 = mul %3 %0; return %4",
    ),
    "a stack of products by one matrix": (
        dot(repeat(x, (2, 4, 5), 1, 2), other, ((2,), (1,)), ((0,), (0,))),
        "%2 = dot[(1,)=(1,)] %0 %1; %3 = transpose[permutation=(1, 0, 2)] %2; return %3",
    ),
    "a stack of products with one matrix on the right": (
        dot(stack, repeat(y, (5, 2, 6), 0, 2), ((2,), (0,)), ((0,), (1,))),
        "%2 = dot[(2,)=(0,)] %1 %0; return %2",
    ),
    "a matrix whose rows are split again": (
        reshape(dot(reshape(stack, 8, 5), y, ((1,), (0,))), 2, 4, 6),
        "%2 = dot[(2,)=(0,)] %1 %0; return %2",
    ),
    "columns that are split, to be merged with the rows": (
        reshape(dot(value("v", shape=(4, 2)), reshape(other, 2, 30), ((1,), (0,))), 20, 6),
        "%2 = dot[(1,)=(0,)] %1 %0; %3 = reshape[shape=(20, 6)] %2; return %3",
    ),
    "a sum of matrices whose rows are split again": (
        reshape(
            apply(
                Add(),
                dot(reshape(stack, 8, 5), y, ((1,), (0,))),
                dot(reshape(stack, 8, 5), more, ((1,), (0,))),
            ),
            2,
            4,
            6,
        ),
        "%3 = dot[(2,)=(0,)] %1 %2; %4 = dot[(2,)=(0,)] %1 %0; %5 = add %4 %3; return %5",
    ),
    "axes that both sides merged": (
        dot(reshape(stack, 2, 20), reshape(value("k", shape=(4, 5, 3)), 20, 3), ((1,), (0,))),
        "%2 = dot[(1, 2)=(0, 1)] %0 %1; return %2",
    ),
    "the second axis of x xᵀ": (
        dot(dot(x, x, ((1,), (1,))), value("u", shape=(4, 3)), ((1,), (0,))),
        "%2 = dot[(1,)=(1,)] %0 %0; %3 = dot[(0,)=(0,)] %2 %1; return %3",
    ),
    "a batch of short vectors": (
        dot(turn(stack, 1, 2, 0), value("c", shape=(4, 2, 5)), ((1,), (2,)), ((2, 0), (1, 0))),
        "%2 = transpose[permutation=(1, 0, 2)] %1; %3 = mul %0 %2; "
        "%4 = reduce_sum[axes=(2,)] %3; return %4",
    ),
}

REWRITTEN |= {
    "an input times a repeated vector": (
        total(apply(Mul(), x, repeat(row, (4, 5), 1)), 1),
        "%2 = dot[(1,)=(0,)] %0 %1; return %2",
    ),
    "a repeated column times an input": (
        total(apply(Mul(), repeat(value("c", shape=(4,)), (4, 5), 0), x), 0),
        "%2 = dot[(0,)=(0,)] %1 %0; return %2",
    ),
    "a contraction times repeated weights": (
        total(apply(Mul(), dot(x, y, ((1,), (0,))), repeat(value("c", shape=(4,)), (4, 6), 0)), 0),
        "%3 = dot[(1,)=(0,)] %0 %1; %4 = dot[(0,)=(0,)] %3 %2; return %4",
    ),
}

KEPT = {
    "rows that are split in another way": reshape(
        dot(reshape(stack, 8, 5), y, ((1,), (0,))), 4, 2, 6
    ),
    "rows that stay merged": dot(reshape(stack, 8, 5), y, ((1,), (0,))),
    "axes that the sides merged from others": dot(
        reshape(stack, 2, 20), reshape(value("k", shape=(5, 4, 3)), 20, 3), ((1,), (0,))
    ),
    "the second axis of x yᵀ": dot(
        dot(x, value("X", shape=(4, 5)), ((1,), (1,))), value("u", shape=(4, 3)), ((1,), (0,))
    ),
    "an inner product": dot(row, row, ((0,), (0,))),
    "a batch of long vectors": dot(long, long, ((1,), (1,)), ((0,), (0,))),
    "a batch of matrices": dot(stack, stack, ((2,), (2,)), ((0,), (0,))),
    "nothing contracted, in float16": dot(half, half, ((), ()), ((0, 1), (0, 1))),
    "nothing contracted, in more bits": apply(
        DotGeneral((), (), (0,), (0,), "f64"), single, single
    ),
    "free axes out of order": dot(turn(stack, 2, 1, 0), row, ((0,), (0,))),
    "an order that no contraction gives": turn(dot(stack, row, ((2,), (0,))), 1, 0),
    "a sum of float16": total(dot(half, half, ((1,), (1,))), 0),
    "a vector of ones": dot(apply(Constant(1.0, "f64", (5,))), y, ((0,), (0,))),
    "a product of full arrays": total(apply(Mul(), x, x), 1),
    "elements times a repeated vector": total(
        apply(Mul(), apply(Exp(), x), repeat(row, (4, 5), 1)), 1
    ),
    "small matrices times vectors in a stack": total(
        apply(Mul(), stack, repeat(value("v", shape=(2, 5)), (2, 4, 5), 0, 2)), 2
    ),
    "a sum over more than the vector has": total(apply(Mul(), x, repeat(row, (4, 5), 1)), 0, 1),
    "a product that is no larger": total(
        apply(Mul(), repeat(x, (1, 4, 5), 1, 2), repeat(row, (1, 4, 5), 2)), 2
    ),
    "a sum over a product and an array": total(
        apply(Add(), outer(x, y), value("w", shape=(4, 5, 6))), 1
    ),
    "a sum over a product and a product of arrays": total(
        apply(Add(), outer(x, y), apply(Mul(), outer(x, more), value("w", shape=(4, 5, 6)))),
        1,
    ),
    "small matrices in a stack": total(
        apply(Mul(), repeat(stack, (2, 4, 5, 6), 0, 1, 2), repeat(other, (2, 4, 5, 6), 0, 2, 3)), 2
    ),
    "integers": total(
        apply(
            Mul(),
            repeat(value("n", "i64", (4, 5)), (4, 5, 6), 0, 1),
            repeat(value("m", "i64", (5, 6)), (4, 5, 6), 1, 2),
        ),
        1,
    ),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_contraction_takes_it_in(name):
    output, expected = REWRITTEN[name]
    assert text(output) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_a_contraction_cannot_say_or_save_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["contract"])[0] is graph


def test_a_result_that_others_read_is_not_computed_twice():
    z = dot(x, y, ((1,), (0,)))
    graph = graph_of(total(z, 0), turn(z, 1, 0), apply(Exp(), z))
    assert optimized(graph, ["contract"])[0] is graph


@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_weight_leaves_a_product_that_is_there_without_it(is_left, is_there):
    """A (x·s) = (A x)·s: rows of x have weights, and so have rows of what the product gives"""
    weighted = apply(Mul(), x, repeat(value("w", shape=(4,)), (4, 5), 0))
    sides = (lambda a: (a, y)) if is_left else (lambda a: (y, a))
    axes = ((1,), (0,)) if is_left else ((0,), (1,))
    outputs = [dot(*sides(weighted), axes), *([dot(*sides(x), axes)] if is_there else [])]
    graph = optimized(graph_of(*outputs), ["contract", "cse", "moves"])[0]
    found = [str(graph.avals[n.outputs[0]]) for n in graph.nodes if type(n.operation) is Mul]
    product = "f64[4,6]" if is_left else "f64[6,4]"
    assert found == [product if is_there else "f64[4,5]"]
    assert [type(n.operation) for n in graph.nodes].count(DotGeneral) == 1


def test_a_quadratic_form_with_weights_multiplies_by_its_matrix_once():
    """Σ s·xᵀ (WᵀW) x: the gradient by x has the product of the value"""

    def form(x, w, s):
        return tn.sum(s * tn.sum(x * (x @ (w.T @ w)), axis=1))

    avals = tn.Aval((40, 5), "f64"), tn.Aval((5, 5), "f64"), tn.Aval((40,), "f64")
    graph = optimized(tn.jit(tn.value_and_grad(form)).lower(*avals))[0]
    products = [n for n in graph.nodes if type(n.operation) is DotGeneral]
    assert len([n for n in products if graph.avals[n.outputs[0]].size == 200]) == 1


def test_large_matrices_times_vectors_in_a_stack_are_a_contraction():
    a, b = value("A", shape=(2, 80, 60)), value("B", shape=(2, 60))
    product = apply(Mul(), a, repeat(b, (2, 80, 60), 0, 2))
    assert text(total(product, 2)) == "%2 = dot[(2,)=(1,), (0,)=(0,)] %0 %1; return %2"
    turned = apply(Mul(), turn(a, 1, 0, 2), repeat(b, (80, 2, 60), 1, 2))
    assert text(total(turned, 2)) == (
        "%2 = dot[(2,)=(1,), (0,)=(0,)] %0 %1; %3 = transpose[permutation=(1, 0)] %2; return %3"
    )


def test_matrices_that_a_stack_would_have_to_copy_are_multiplied_by_elements():
    a, b = value("A", shape=(80, 2, 60)), value("B", shape=(2, 60))
    graph = graph_of(total(apply(Mul(), a, repeat(b, (80, 2, 60), 1, 2)), 2))
    assert optimized(graph, ["contract"])[0] is graph


def test_large_matrices_in_a_stack_are_a_contraction():
    a, b = value("A", shape=(2, 40, 50)), value("B", shape=(2, 50, 60))
    wide = (2, 40, 50, 60)
    product = apply(Mul(), repeat(a, wide, 0, 1, 2), repeat(b, wide, 0, 2, 3))
    assert text(total(product, 2)) == "%2 = dot[(2,)=(1,), (0,)=(0,)] %0 %1; return %2"
