"""``residuals``: large values are computed where they are read, if the peak is lower then."""

from graphs import apply, graph_of, short, value

from tenferro.passes import optimized
from tenferro.passes._memory import Liveness
from tenferro.primitives.arithmetic import Add, Mul, Square
from tenferro.primitives.comparison import Lt
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import Convert
from tenferro.primitives.trigonometric import Sin

N = 10_000
x = value("x", shape=(N,))


def after(graph):
    return optimized(graph, ["residuals"])[0]


def peak(graph):
    """In values of N float64"""
    return Liveness.of(graph).peak / (8 * N)


def chain(key, length):
    for _ in range(length):
        key = apply(Sin(), key)
    return key


def test_the_peak_counts_what_waits():
    waits = apply(Square(), x)
    graph = graph_of(apply(Add(), waits, chain(x, 3)))
    assert peak(graph) == 3.0  # what waits, an operand and a result


def test_what_waits_is_computed_late():
    waits = apply(Square(), x)
    graph = graph_of(apply(Add(), waits, chain(apply(Exp(), x), 2)))
    assert short(graph) == (
        "%1 = square %0; %2 = exp %0; %3 = sin %2; %4 = sin %3; %5 = add %1 %4; return %5"
    )
    assert short(after(graph)) == short(graph)  # the peak would be the sum, with both operands


def test_what_waits_over_the_peak_is_computed_late():
    waits = apply(Square(), x)
    a = apply(Exp(), x)
    wide = apply(Mul(), apply(Sin(), a), a)  # three at a time
    graph = graph_of(apply(Add(), waits, apply(Sin(), wide)))
    assert short(graph) == (
        "%1 = square %0; %2 = exp %0; %3 = sin %2; %4 = mul %3 %2; %5 = sin %4; "
        "%6 = add %1 %5; return %6"
    )
    assert short(after(graph)) == (
        "%1 = exp %0; %2 = sin %1; %3 = mul %2 %1; %4 = sin %3; %5 = square %0; "
        "%6 = add %5 %4; return %6"
    )
    assert (peak(graph), peak(after(graph))) == (4.0, 3.0)


def test_small_values_stay_where_they_are():
    y = value("y", shape=(10,))
    a = apply(Exp(), y)
    wide = apply(Mul(), apply(Sin(), a), a)
    graph = graph_of(apply(Add(), apply(Square(), y), apply(Sin(), wide)))
    assert after(graph) is graph


def masked(between):
    """A mask of floats, made of a mask that is needed to the end, read early and late."""
    mask = apply(Lt(), x, value("y", shape=(N,)))
    floats = apply(Convert("f64"), mask)
    early = apply(Mul(), floats, x)
    a = chain(early, between)
    wide = apply(Mul(), apply(Mul(), apply(Sin(), a), a), a)
    return graph_of(apply(Mul(), chain(wide, 3), floats), mask)


def test_a_conversion_is_done_again():
    graph = masked(4)
    found = after(graph)
    assert sum(type(node.operation) is Convert for node in found.nodes) == 2
    assert peak(found) < peak(graph)


def test_a_conversion_that_is_read_again_soon_is_kept():
    mask = apply(Lt(), x, value("y", shape=(N,)))
    floats = apply(Convert("f64"), mask)
    graph = graph_of(apply(Mul(), apply(Mul(), floats, x), floats), mask)
    assert after(graph) is graph


def test_what_costs_more_than_moving_is_never_done_again():
    a = apply(Exp(), x)
    wide = apply(Mul(), chain(apply(Mul(), a, x), 12), a)
    graph = graph_of(apply(ReduceSum((0,)), wide))
    assert len(after(graph)) == len(graph)
