"""``windows``: an operation is computed where its result is read, and padded last."""

import pytest
from graphs import after, apply, graph_of, value

import tenferro as tn
from tenferro.computegraph import derive
from tenferro.computegraph._roles import PRIMARY, Linearized
from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from tenferro.primitives.comparison import Select
from tenferro.primitives.complex import Complex
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import Concatenate, Pad, Slice

x, y, u = value("x", shape=(5,)), value("y", shape=(5,)), value("u", shape=(3,))
a, b = value("a", shape=(2,)), value("b", shape=(3,))
ONLY = ["windows"]
INNER = Slice((1,), (4,), (1,))


def constant(number, shape=()):
    return apply(Constant(number, "f64", shape))


# ---- slices --------------------------------------------------------------------------------------


def test_a_slice_moves_before_operations_on_elements():
    made = apply(INNER, apply(Mul(), apply(Exp(), x), y))
    text = (
        "%2 = slice[start=(1,), limit=(4,), strides=(1,)] %0; %3 = exp %2; "
        "%4 = slice[start=(1,), limit=(4,), strides=(1,)] %1; %5 = mul %3 %4; return %5"
    )
    assert after(ONLY, made) == text


def test_not_where_the_whole_is_read_too():
    whole = apply(Exp(), x)
    assert "slice[start=(1,), limit=(4,), strides=(1,)] %1" in after(
        ONLY, whole, apply(INNER, whole)
    )


def test_not_with_gaps_which_some_loops_of_numpy_round_unlike_contiguous_arrays():
    text = after(ONLY, apply(Slice((0,), (5,), (2,)), apply(Exp(), x)))
    assert text.startswith("%1 = exp %0")


def parts(first, second):
    joined = apply(Exp(), apply(Concatenate(0), a, b))
    return apply(Slice(*first, (1,)), joined), apply(Slice(*second, (1,)), joined)


def test_slices_that_read_parts_of_what_is_joined_read_the_parts():
    text = after(["windows", "moves"], *parts(((0,), (2,)), ((2,), (5,))))
    assert text == "%2 = exp %0; %3 = exp %1; return %2, %3"


def test_not_where_slices_overlap_parts():
    assert "concatenate" in after(["windows", "moves"], *parts(((0,), (3,)), ((2,), (5,))))


@pytest.mark.parametrize(
    "start, limit, want",
    [
        ((1,), (4,), "%2 = slice[start=(0,), limit=(3,), strides=(1,)] %0"),
        ((0,), (1,), "broadcast_in_dim[shape=(1,), dimensions=()] %1"),
        ((0,), (2,), "pad[low=(1,), high=(0,), interior=(0,)] %2 %1"),
        ((3,), (6,), "pad[low=(0,), high=(2,), interior=(0,)] %2 %1"),
    ],
    ids=["inside", "outside", "before", "behind"],
)
def test_a_slice_of_a_padding(start, limit, want):
    made = apply(Slice(start, limit, (1,)), apply(Pad((1,), (2,), (0,)), u, value("f", shape=())))
    assert want in after(ONLY, made)


# ---- paddings of derivatives ---------------------------------------------------------------------

FLOW = Linearized((True, False), True)


def padded(source=u, filler=0.0, role=FLOW, low=1, high=1):
    return derive(Pad((low,), (high,), (0,)), (source, constant(filler)), role)[0]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("operation", [Mul(), Div()], ids=lambda op: op.name)
def test_a_product_with_a_padded_derivative_is_computed_in_the_window(operation, is_first):
    pair = (padded(), y) if is_first else (y, padded())
    text = after(ONLY, apply(operation, *pair), inputs=[u, y])
    if operation == Div() and not is_first:
        assert f"%4 = {operation.name} %1 %3" in text
        return
    order = "%0 %3" if is_first else "%3 %0"
    assert text == (
        "%2 = constant[value=0.0, dtype=f64, shape=()]; "
        f"%3 = slice[start=(1,), limit=(4,), strides=(1,)] %1; %4 = {operation.name} {order}; "
        "%5 = pad[low=(1,), high=(1,), interior=(0,)] %4 %2; return %5"
    )


def test_a_chain_of_products_is_computed_in_the_window():
    made = derive(Neg(), (padded(),), Linearized((True,), True))[0]
    made = derive(Mul(), (made, y), FLOW)[0]
    text = after(ONLY, apply(Mul(), apply(Exp(), y), made), inputs=[u, y])
    assert text.count("pad") == 1
    assert text.index("pad") > text.rindex("mul")
    assert text.index("slice") < text.index("exp")


def test_sums_of_what_is_padded_alike_are_padded_once():
    v = value("v", shape=(3,))
    for operation in (Add(), Sub()):
        text = after(ONLY, apply(operation, padded(u), padded(v)), inputs=[u, v])
        assert f"%3 = {operation.name} %0 %1; %4 = pad" in text
        other = padded(value("w", shape=(2,)), low=2)
        assert after(ONLY, apply(operation, padded(u), other)).count("pad") == 2


def test_gaps_of_a_padding_become_the_strides_of_a_slice():
    wide = value("wide", shape=(7,))
    spread = derive(Pad((1,), (1,), (1,)), (u, constant(0.0)), FLOW)[0]
    text = after(ONLY, apply(Mul(), spread, wide), inputs=[u, wide])
    assert "slice[start=(1,), limit=(6,), strides=(2,)] %1" in text


KEPT = {
    "a value: inf·0 is nan": apply(Mul(), padded(role=PRIMARY), y),
    "padded with ones": apply(Mul(), padded(filler=1.0), y),
    "cropped": apply(Mul(), padded(value("c", shape=(6,)), low=-1, high=0), y),
    "divides": apply(Div(), y, padded()),
    "a sum of values: of -0 alone it is -0": apply(ReduceSum((0,)), padded(role=PRIMARY)),
    "a sum of what is cropped": apply(
        ReduceSum((0,)), padded(value("d", shape=(6,)), low=-1, high=0)
    ),
}


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_what_is_kept(kept):
    graph = graph_of(kept)
    assert optimized(graph, ONLY)[0] is graph


def test_a_derivative_between_zeros_is_padded():
    zeros = constant(0.0, (2,))
    flow = derive(Neg(), (u,), Linearized((True,), True))[0]
    assert after(ONLY, apply(Concatenate(0), zeros, flow)).endswith(
        "pad[low=(2,), high=(0,), interior=(0,)] %1 %2; return %3"
    )
    assert "concatenate" in after(ONLY, apply(Concatenate(0), zeros, u))


# ---- whole functions -----------------------------------------------------------------------------


def largest(function, n=9):
    """The sizes of all products of the Hessian times a vector."""
    aval = tn.Aval((n,), "f64")
    product = tn.jit(lambda x, v: tn.jvp(tn.grad(function), (x,), (v,))[1])
    graph = optimized(product.lower(aval, aval))[0]
    return [graph.avals[node[2][0]].size for node in graph.nodes if node[0] == Mul()]


WAYS = {
    "slices": lambda x: tn.sum((x[1:] - x[:-1] ** 2) ** 2),
    "roll, then cut": lambda x: tn.sum(((tn.roll(x, -1) - x**2) ** 2)[:-1]),
    "residuals": lambda x: tn.sum(tn.concatenate([x[1:] - x[:-1] ** 2, 1 - x[1:]]) ** 2),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_is_multiplied_that_is_cut_off(way):
    sizes = largest(way)
    assert sizes
    assert max(sizes) <= 8


# ---- sums over padded axes -----------------------------------------------------------------------


def sum_of_padded_rows(low, high, axes):
    rows = value("rows", shape=(2, 3))
    made = derive(Pad(low, high, (0, 0)), (rows, constant(0.0)), FLOW)[0]
    return after(ONLY, apply(ReduceSum(axes), made), inputs=[rows])


def test_a_sum_over_padded_axes_reads_what_was_padded():
    assert (
        sum_of_padded_rows((1, 0), (2, 4), (0, 1)) == "%1 = reduce_sum[axes=(0, 1)] %0; return %1"
    )


def test_paddings_of_other_axes_stay_around_the_sum():
    assert sum_of_padded_rows((1, 2), (0, 0), (0,)) == (
        "%1 = constant[value=0.0, dtype=f64, shape=()]; %2 = reduce_sum[axes=(0,)] %0; "
        "%3 = pad[low=(2,), high=(0,), interior=(0,)] %2 %1; return %3"
    )


def test_a_sum_along_another_axis_reads_the_padding():
    assert "pad" in sum_of_padded_rows((0, 2), (0, 0), (0,)).partition("reduce_sum")[0]


# ---- sums of derivatives that are zero where the other is not -----------------------------------

mask, other = value("mask", "bool", shape=(3,)), value("other", "bool", shape=(3,))
v = value("v", shape=(3,))
ZEROS = constant(0.0, (3,))


def branch(*operands, role=None):
    flows = tuple([operand in (u, v) for operand in operands])
    return derive(Select(), operands, role or Linearized(flows, True))[0]


def part(*operands, role=None):
    flows = tuple([operand in (u, v) for operand in operands])
    return derive(Complex(), operands, role or Linearized(flows, True))[0]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    "parts, want",
    [
        ((branch(mask, u, ZEROS), branch(mask, ZEROS, v)), "%3 = select %0 %1 %2; return %3"),
        ((branch(mask, u, ZEROS), branch(mask, ZEROS, u)), "return %1"),
        ((part(u, ZEROS), part(ZEROS, v)), "%3 = complex %1 %2; return %3"),
    ],
    ids=["two branches", "one derivative in both branches", "a real and an imaginary part"],
)
def test_derivatives_of_two_parts_become_one(parts, want, swapped):
    made = apply(Add(), *(parts[::-1] if swapped else parts))
    assert after(ONLY, made, inputs=[mask, u, v]) == want


APART = {
    "other masks": (branch(mask, u, ZEROS), branch(other, ZEROS, v)),
    "the same branch": (branch(mask, u, ZEROS), branch(mask, v, ZEROS)),
    "no zero": (branch(mask, u, v), branch(mask, ZEROS, v)),
    "values: -0 + 0 is 0": (
        branch(mask, u, ZEROS, role=PRIMARY),
        branch(mask, ZEROS, v, role=PRIMARY),
    ),
    "parts of values": (part(u, ZEROS, role=PRIMARY), part(ZEROS, v, role=PRIMARY)),
    "two real parts": (part(u, ZEROS), part(v, ZEROS)),
}


@pytest.mark.parametrize("parts", APART.values(), ids=APART)
def test_other_sums_of_derivatives_stay(parts):
    graph = graph_of(apply(Add(), *parts))
    assert optimized(graph, ONLY)[0] is graph
