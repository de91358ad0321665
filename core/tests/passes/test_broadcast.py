"""``broadcast``: compute small, repeat late, where that saves half of the elements or more."""

import pytest
from graphs import after, apply, graph_of, value

from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul
from tenferro.primitives.comparison import Lt, Select
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.random import Threefry2x32
from tenferro.primitives.structural import BroadcastInDim, Convert

x, y, s = value("x"), value("y", shape=(2,)), value("s", shape=())
column, wide = value("c", shape=(2, 1)), value("w", shape=(2, 3))


def repeat(key, shape, *dimensions):
    return apply(BroadcastInDim(shape, dimensions), key)


REWRITTEN = {
    "of one operand": (
        apply(Exp(), repeat(x, (5, 3), 1)),
        "%1 = exp %0; %2 = broadcast_in_dim[shape=(5, 3), dimensions=(1,)] %1; return %2",
    ),
    "with a constant": (
        apply(Mul(), repeat(x, (5, 3), 1), apply(Constant(2.0, "f64", (5, 3)))),
        "%1 = constant[value=2.0, dtype=f64, shape=(3,)]; %2 = mul %0 %1; "
        "%3 = broadcast_in_dim[shape=(5, 3), dimensions=(1,)] %2; return %3",
    ),
    "of a constant alone": (
        apply(Exp(), apply(Constant(2.0, "f64", (5,)))),
        "%0 = constant[value=2.0, dtype=f64, shape=()]; %1 = exp %0; "
        "%2 = broadcast_in_dim[shape=(5,), dimensions=()] %1; return %2",
    ),
    "along different axes": (
        apply(Add(), repeat(x, (4, 2, 3), 2), repeat(y, (4, 2, 3), 1)),
        "%2 = broadcast_in_dim[shape=(2, 3), dimensions=(1,)] %0; "
        "%3 = broadcast_in_dim[shape=(2, 3), dimensions=(0,)] %1; %4 = add %2 %3; "
        "%5 = broadcast_in_dim[shape=(4, 2, 3), dimensions=(1, 2)] %4; return %5",
    ),
    "along an axis of size 1": (
        apply(Exp(), repeat(column, (2, 3), 0, 1)),
        "%1 = reshape[shape=(2,)] %0; %2 = exp %1; "
        "%3 = broadcast_in_dim[shape=(2, 3), dimensions=(0,)] %2; return %3",
    ),
    "of a number and a count": (
        apply(Lt(), apply(Iota((4, 3), 1, "f64")), repeat(s, (4, 3))),
        "%1 = iota[shape=(3,), dimension=0, dtype=f64]; "
        "%2 = broadcast_in_dim[shape=(3,), dimensions=()] %0; %3 = lt %1 %2; "
        "%4 = broadcast_in_dim[shape=(4, 3), dimensions=(1,)] %3; return %4",
    ),
    "a chain of operations": (
        apply(Exp(), apply(Convert("f32"), apply(Exp(), repeat(s, (3,))))),
        "%1 = exp %0; %2 = convert[dtype=f32] %1; %3 = exp %2; "
        "%4 = broadcast_in_dim[shape=(3,), dimensions=()] %3; return %4",
    ),
}

KEPT = {
    "an operand that is full": apply(Add(), repeat(x, (2, 3), 1), wide),
    "all axes together": apply(Add(), repeat(x, (2, 3), 1), repeat(y, (2, 3), 0)),
    "nothing to repeat": apply(Exp(), repeat(x, (1, 3), 1)),
    "no elements": apply(Exp(), repeat(x, (0, 3), 1)),
    "a choice of full ones": apply(Select(), repeat(value("p", "bool", ()), (3,)), x, x),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_what_is_repeated_is_computed_once(name):
    output, expected = REWRITTEN[name]
    inputs = sorted(graph_of(output).inputs, key=lambda key: key.serial)
    assert after(["broadcast"], output, inputs=inputs) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_saves_nothing_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["broadcast"])[0] is graph


def test_operations_of_several_results_stay():
    words = [repeat(value(f"u{k}", "u32", ()), (8,)) for k in range(4)]
    graph = graph_of(*apply(Threefry2x32(), *words))
    assert optimized(graph, ["broadcast"])[0] is graph
