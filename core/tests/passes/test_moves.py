"""``moves``: two moves in a row become one or none; conversions that lose nothing are left out."""

import pytest
from graphs import after, apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.structural import (
    BroadcastInDim,
    Concatenate,
    Convert,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)

x = value("x", shape=(2, 3))
column, row, cube = value("c", shape=(2, 1)), value("r", shape=(3,)), value("q", shape=(2, 3, 4))
number, other = value("m", shape=()), value("n", shape=())
zero, one = (apply(Constant(float(k), "f64")) for k in (0, 1))


def cut(key, start, limit, strides=None):
    return apply(Slice(start, limit, strides or (1,) * len(start)), key)


def pad(key, low, high, filler=zero):
    return apply(Pad(low, high, (0,) * len(low)), key, filler)


def repeat(key, shape, dimensions):
    return apply(BroadcastInDim(shape, dimensions), key)


def chain(key, *dtypes):
    for dtype in dtypes:
        key = apply(Convert(dtype), key)
    return key


def joined(axis, *parts):
    return apply(Concatenate(axis), *parts)


def columns(places, shape=(1, 2)):
    """x[:, t] of an x of shape [2, 8], as arrays of a shape."""
    return [apply(Reshape(shape), cut(wide, (0, t), (2, t + 1))) for t in places]


def planes(places):
    """q[:, j] of a q of shape [2, 5, 4], as arrays of shape [2, 4, 1]."""
    return [apply(Reshape((2, 4, 1)), cut(deep, (0, j, 0), (2, j + 1, 4))) for j in places]


square = value("p", shape=(2, 2, 2))
wide, deep = value("w", shape=(2, 8)), value("d", shape=(2, 5, 4))

REWRITTEN = {
    "stacked columns": (
        joined(0, *columns(range(8))),
        "%1 = transpose[permutation=(1, 0)] %0; return %1",
    ),
    "some columns": (
        joined(0, *columns(range(1, 5))),
        "%1 = slice[start=(0, 1), limit=(2, 5), strides=(1, 1)] %0; "
        "%2 = transpose[permutation=(1, 0)] %1; return %2",
    ),
    "every second column from the last": (
        joined(0, *columns((7, 5, 3, 1))),
        "%1 = slice[start=(0, 1), limit=(2, 8), strides=(1, 2)] %0; "
        "%2 = reverse[dimensions=(1,)] %1; %3 = transpose[permutation=(1, 0)] %2; return %3",
    ),
    "planes along the last axis": (
        joined(2, *planes(range(5))),
        "%1 = transpose[permutation=(0, 2, 1)] %0; return %1",
    ),
    "reshape of a reshape": (
        apply(Reshape((3, 2)), apply(Reshape((6,)), x)),
        "%1 = reshape[shape=(3, 2)] %0; return %1",
    ),
    "there and back": (apply(Reshape((2, 3)), apply(Reshape((6,)), x)), "return %0"),
    "transposed twice": (
        apply(Transpose((1, 2, 0)), apply(Transpose((1, 2, 0)), cube)),
        "%1 = transpose[permutation=(2, 0, 1)] %0; return %1",
    ),
    "transposed in two ways": (
        apply(Transpose((0, 2, 1)), apply(Transpose((1, 0, 2)), cube)),
        "%1 = transpose[permutation=(1, 2, 0)] %0; return %1",
    ),
    "transposed back": (apply(Transpose((1, 0)), apply(Transpose((1, 0)), x)), "return %0"),
    "an axis of size 1 that comes, moves and goes": (
        apply(Reshape((3, 2)), apply(Transpose((2, 1, 0)), apply(Reshape((2, 3, 1)), x))),
        "%1 = transpose[permutation=(1, 0)] %0; return %1",
    ),
    "both operands transposed": (
        apply(Sub(), *[apply(Transpose((1, 0)), key) for key in (x, apply(Exp(), x))]),
        "%1 = exp %0; %2 = sub %0 %1; %3 = transpose[permutation=(1, 0)] %2; return %3",
    ),
    "broadcasts side by side": (
        joined(0, *[repeat(cut(row, (i,), (i + 1,)), (1, 4), (0,)) for i in range(3)]),
        "%1 = broadcast_in_dim[shape=(3, 4), dimensions=(0,)] %0; return %1",
    ),
    "numbers repeated in rows": (
        joined(0, repeat(number, (1, 4), ()), repeat(other, (1, 4), ())),
        "%2 = reshape[shape=(1,)] %0; %3 = reshape[shape=(1,)] %1; "
        "%4 = concatenate[dimension=0] %2 %3; "
        "%5 = broadcast_in_dim[shape=(2, 4), dimensions=(0,)] %4; return %5",
    ),
    "vectors repeated side by side": (
        joined(1, *[repeat(y, (3, 1, 5), (0,)) for y in (row, value("s", shape=(3,)))]),
        "%2 = reshape[shape=(3, 1)] %0; %3 = reshape[shape=(3, 1)] %1; "
        "%4 = concatenate[dimension=1] %2 %3; "
        "%5 = broadcast_in_dim[shape=(3, 2, 5), dimensions=(0, 1)] %4; return %5",
    ),
    "only an axis of size 1 moves": (
        apply(Transpose((1, 0)), column),
        "%1 = reshape[shape=(1, 2)] %0; return %1",
    ),
    "repeated twice": (
        repeat(repeat(row, (1, 3), (1,)), (5, 2, 3), (1, 2)),
        "%1 = broadcast_in_dim[shape=(5, 2, 3), dimensions=(2,)] %0; return %1",
    ),
    "repeated along an axis that was added": (
        repeat(apply(Reshape((3, 1)), row), (3, 4), (0, 1)),
        "%1 = broadcast_in_dim[shape=(3, 4), dimensions=(0,)] %0; return %1",
    ),
    "repeated with an axis that was dropped": (
        repeat(apply(Reshape((2,)), column), (2, 4, 5), (0,)),
        "%1 = broadcast_in_dim[shape=(2, 4, 5), dimensions=(0, 1)] %0; return %1",
    ),
    "an axis added to what is repeated": (
        apply(Reshape((4, 1, 3)), repeat(row, (4, 3), (1,))),
        "%1 = broadcast_in_dim[shape=(4, 1, 3), dimensions=(2,)] %0; return %1",
    ),
    "transposed after it is repeated": (
        apply(Transpose((2, 1, 0)), repeat(x, (2, 4, 3), (0, 2))),
        "%1 = transpose[permutation=(1, 0)] %0; "
        "%2 = broadcast_in_dim[shape=(3, 4, 2), dimensions=(0, 2)] %1; return %2",
    ),
    "reversed twice": (
        apply(Reverse((1,)), apply(Reverse((0, 1)), x)),
        "%1 = reverse[dimensions=(0,)] %0; return %1",
    ),
    "one element reversed": (
        apply(Reverse((0, 1)), column),
        "%1 = reverse[dimensions=(0,)] %0; return %1",
    ),
    "slice of a slice": (
        cut(cut(row, (1,), (3,)), (1,), (2,)),
        "%1 = slice[start=(2,), limit=(3,), strides=(1,)] %0; return %1",
    ),
    "every second of every second": (
        cut(cut(value("w", shape=(20,)), (1,), (20,), (2,)), (1,), (9,), (3,)),
        "%1 = slice[start=(3,), limit=(16,), strides=(6,)] %0; return %1",
    ),
    "slice of what is repeated": (
        cut(repeat(row, (5, 3), (1,)), (1, 1), (4, 3)),
        "%1 = slice[start=(1,), limit=(3,), strides=(1,)] %0; "
        "%2 = broadcast_in_dim[shape=(3, 2), dimensions=(1,)] %1; return %2",
    ),
    "slice within a padding": (
        cut(pad(row, (2,), (1,)), (3,), (5,)),
        "%1 = slice[start=(1,), limit=(3,), strides=(1,)] %0; return %1",
    ),
    "slice of one that is joined": (
        cut(apply(Concatenate(0), row, value("w")), (4,), (6,)),
        "%2 = slice[start=(1,), limit=(3,), strides=(1,)] %1; return %2",
    ),
    "cropped": (
        pad(x, (-1, 0), (0, -1)),
        "%1 = slice[start=(1, 0), limit=(2, 2), strides=(1, 1)] %0; return %1",
    ),
    "padded twice": (
        pad(pad(row, (1,), (0,)), (1,), (2,)),
        "%1 = constant[value=0.0, dtype=f64, shape=()]; "
        "%2 = pad[low=(2,), high=(2,), interior=(0,)] %0 %1; return %2",
    ),
    "parts of one value": (
        apply(Concatenate(1), *[cut(x, (0, k), (2, k + 1)) for k in range(3)]),
        "return %0",
    ),
    "joined with nothing": (
        apply(Concatenate(0), value("e", shape=(0,)), row),
        "return %0",
    ),
    "joined twice": (
        apply(Concatenate(0), apply(Concatenate(0), row, row), row),
        "%1 = concatenate[dimension=0] %0 %0 %0; return %1",
    ),
    "wider and back": (chain(value("f", "f32"), "f64", "f32"), "return %0"),
    "complex and back": (chain(row, "c128", "f64"), "return %0"),
    "over a wider one": (
        chain(value("h", "f16"), "f32", "f64"),
        "%1 = convert[dtype=f64] %0; return %1",
    ),
    "bool over integers": (
        chain(value("b", "bool"), "i64", "f32"),
        "%1 = convert[dtype=f32] %0; return %1",
    ),
    "an integer over floats": (chain(value("i", "i32"), "f64", "i32"), "return %0"),
}

KEPT = {
    "rows that nothing repeats": joined(0, repeat(row, (1, 3), (1,)), repeat(row, (1, 3), (1,))),
    "rows of two elements": joined(0, repeat(number, (2, 4), ()), repeat(other, (2, 4), ())),
    "repeated along other axes": joined(
        1, repeat(row, (3, 1, 3), (0,)), repeat(value("s", shape=(3,)), (3, 1, 3), (2,))
    ),
    "narrower and back": chain(row, "f32", "f64"),
    "bfloat16 has the larger range": chain(value("b", "bfloat16"), "float16", "f64"),
    "more bits than the float has": chain(value("i", "i64"), "f64", "i64"),
    "an imaginary part is lost": chain(value("z", "c128"), "f64", "c128"),
    "a float that may be out of range": chain(value("f", "f32"), "f64", "i32"),
    "a negative float as unsigned": chain(value("i", "int8"), "f32", "uint8"),
    "transposed in different ways": apply(
        Sub(), apply(Transpose((1, 0, 2)), square), apply(Transpose((0, 2, 1)), square)
    ),
    "broadcasts along another axis": joined(
        1,
        repeat(value("a", shape=(2,)), (2, 4), (0,)),
        repeat(value("e", shape=(2,)), (2, 4), (0,)),
    ),
    "one of them wider than what it repeats": joined(
        0,
        repeat(value("a", shape=(2,)), (2, 4), (0,)),
        repeat(value("e", shape=(1,)), (2, 4), (0,)),
    ),
    "a reshape that mixes axes": repeat(apply(Reshape((3, 2)), x), (3, 2, 4), (0, 1)),
    "a slice of the padding": cut(pad(row, (2,), (1,)), (1,), (4,)),
    "a slice of both": cut(apply(Concatenate(0), row, row), (2,), (4,)),
    "paddings of two values": pad(pad(row, (1,), (0,)), (1,), (2,), one),
    "cropping, then padding": pad(pad(row, (-1,), (1,)), (1,), (0,)),
    "a few columns": joined(0, *columns(range(3))),
    "columns in no order": joined(0, *columns((0, 3, 1, 2, 6, 4))),
    "parts in the other order": apply(Concatenate(0), cut(row, (1,), (3,)), cut(row, (0,), (1,))),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_moves_that_meet_become_one(name):
    output, expected = REWRITTEN[name]
    leaves = [key for key in graph_of(output).inputs if key is not zero]
    assert after(["moves"], output, inputs=sorted(leaves, key=lambda key: key.serial)) == expected


@pytest.mark.parametrize("name", [*KEPT])
def test_what_one_move_cannot_say_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["moves"])[0] is graph


def test_what_is_joined_twice_and_read_twice_stays():
    inner = apply(Concatenate(0), row, row)
    graph = graph_of(apply(Concatenate(0), inner, row), apply(Exp(), inner))
    assert optimized(graph, ["moves"])[0] is graph


def test_appending_in_a_loop_is_no_long_list_of_operands():
    """Each step would have all operands before it: that is quadratic"""
    joined = row
    for _ in range(2000):
        joined = apply(Concatenate(0), joined, row)
    found, _ = optimized(graph_of(joined), ["moves"])
    assert max(len(node.inputs) for node in found.nodes) <= 64
    assert len(found) > 30
