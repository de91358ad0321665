"""``factors``: what is repeated is multiplied first, and signs move out of sums."""

import pytest
from graphs import after, apply, graph_of, value

import tenferro as tn
from tenferro.computegraph import derive
from tenferro.computegraph._roles import Linearized
from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.structural import BroadcastInDim, Transpose

x, y, z = (value(name) for name in "xyz")
matrix = value("m", shape=(4, 3))
s, t = value("s", shape=()), value("t", shape=())
n, k = value("n", "i64"), value("k", "i64", ())
half, small_half = value("h", "f16"), value("g", "f16", ())
other_half = value("H", "f16")
LEAVES = [x, y, z, matrix, s, t, n, k, half, small_half]


def const(number, dtype="f64", shape=(3,)):
    return apply(Constant(number, dtype, shape))


def repeat(key, shape=(3,), dimensions=()):
    return apply(BroadcastInDim(shape, dimensions), key)


def mul(*keys):
    product = keys[0]
    for key in keys[1:]:
        product = apply(Mul(), product, key)
    return product


def div(a, b):
    return apply(Div(), a, b)


def neg(key):
    return apply(Neg(), key)


def turn(key):
    return apply(Transpose((1, 0)), key)


def twice(key):
    return apply(Add(), key, key)


FIRST = "%2 = constant[value=3.0, dtype=f64, shape=()]; %3 = mul %1 %2; "
LAST = "%3 = constant[value=3.0, dtype=f64, shape=()]; %4 = mul %3 %1; "
WIDE = "broadcast_in_dim[shape=(3,), dimensions=()]"

REWRITTEN = {
    "products of equal factors": (
        apply(Add(), mul(x, y, z), mul(y, apply(Mul(), z, x))),
        "%3 = mul %0 %1; %4 = mul %3 %2; %5 = add %4 %4; return %5",
    ),
    "a number after what is repeated": (
        mul(x, repeat(s), const(3.0)),
        f"{FIRST}%4 = {WIDE} %3; %5 = mul %0 %4; return %5",
    ),
    "on the other sides": (
        mul(const(3.0), mul(repeat(s), x)),
        f"{FIRST}%4 = {WIDE} %3; %5 = mul %0 %4; return %5",
    ),
    "a negative number": (
        mul(x, repeat(s), const(-3.0)),
        f"{FIRST}%4 = {WIDE} %3; %5 = mul %0 %4; return %5".replace("3.0", "-3.0"),
    ),
    "along one axis": (
        mul(matrix, const(3.0, shape=(4, 3)), repeat(x, (4, 3), (1,))),
        "%2 = constant[value=3.0, dtype=f64, shape=(3,)]; %3 = mul %2 %0; "
        "%4 = broadcast_in_dim[shape=(4, 3), dimensions=(1,)] %3; %5 = mul %1 %4; return %5",
    ),
    "integers": (
        mul(n, repeat(k), const(3, "i64")),
        "%2 = constant[value=3, dtype=i64, shape=()]; %3 = mul %1 %2; "
        f"%4 = {WIDE} %3; %5 = mul %0 %4; return %5",
    ),
    "a product twice": (
        twice(mul(x, repeat(s))),
        f"%2 = add %1 %1; %3 = {WIDE} %2; %4 = mul %0 %3; return %4",
    ),
    "a transposed product twice": (
        twice(turn(mul(matrix, repeat(s, (4, 3))))),
        "%2 = add %1 %1; %3 = broadcast_in_dim[shape=(4, 3), dimensions=()] %2; "
        "%4 = mul %0 %3; %5 = transpose[permutation=(1, 0)] %4; return %5",
    ),
    "a quotient twice": (
        twice(div(repeat(s), x)),
        f"%2 = add %1 %1; %3 = {WIDE} %2; %4 = div %3 %0; return %4",
    ),
    "both are negative": (
        apply(Sub(), neg(x), y),
        "%2 = add %0 %1; %3 = neg %2; return %3",
    ),
}

KEPT = {
    "products of other factors": apply(Add(), mul(x, y, z), mul(x, apply(Mul(), y, y))),
    "products of equal factors in float16": apply(
        Add(), mul(half, half, other_half), mul(half, apply(Mul(), other_half, half))
    ),
    "two that are not known": mul(x, repeat(s), repeat(t)),
    "a small number may make it too small": mul(x, repeat(s), const(0.5)),
    "a large number may make it too large": mul(x, repeat(s), const(1e30)),
    "nothing is repeated": mul(x, y, const(3.0)),
    "numbers alone": mul(s, t, const(3.0, shape=())),
    "as large as the array": mul(x, repeat(value("o", shape=(1,)), (3,), (0,)), repeat(s)),
    "float16 overflows early": mul(half, repeat(small_half), const(2.0, "f16")),
    "what is divided by is not doubled": twice(div(x, repeat(s))),
    "integers are divided with truncation": twice(div(repeat(k), n)),
    "a product of arrays": twice(mul(x, y)),
    "a transposed product of arrays": twice(turn(mul(matrix, matrix))),
    "a sign behind": apply(Sub(), x, neg(y)),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_what_multiplies_is_put_together(name):
    output, expected = REWRITTEN[name]
    read = set(graph_of(output).inputs)
    assert after(["factors"], output, inputs=[key for key in LEAVES if key in read]) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_gains_nothing_or_may_fail_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["factors"])[0] is graph


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_a_quotient_that_is_there_takes_the_place_of_another(first, turned):
    """As in the derivative of z/y, where x is its cotangent"""
    (quotient,) = derive(Div(), (x, y), Linearized((True, False), True))
    pair, role = (quotient, z), Linearized((not turned, turned), True)
    product = derive(Mul(), pair[::-1] if turned else pair, role)[0]
    outputs = [product, div(z, y)]
    text = after(["factors", "cse"], *(outputs[::-1] if first else outputs), inputs=[x, y, z])
    found = "return %3, %4" if first else "return %4, %3"
    assert text == f"%3 = div %2 %1; %4 = mul %0 %3; {found}"
    graph = graph_of(*outputs)
    assert optimized(graph, ["factors"])[0] is graph  # it would not be shared
    assert optimized(graph_of(outputs[0], outputs[0]), ["factors", "cse"])[1].after == 2


def test_values_are_divided_in_the_order_of_the_user():
    """(x/y)·z is 1e-200 where x and y are 1e200 and z 1e-200; x·(z/y) would be 0."""
    graph = graph_of(mul(div(x, y), z), div(z, y))
    assert optimized(graph, ["factors", "cse"])[0] is graph


def test_a_gradient_of_a_softmax_divides_by_its_sum_twice():
    """Once for itself; the derivatives by numerators and by their sum have the other in common"""

    def loss(x, y):
        e = tn.exp(x)
        return tn.sum(tn.square(e / tn.sum(e, axis=1, keepdims=True) * y))

    wide = tn.Aval((4, 3), "f64")
    found, _ = optimized(tn.jit(tn.grad(loss)).lower(wide, wide))
    divided = [node for node in found.nodes if type(node.operation) is Div]
    assert [found.avals[node.outputs[0]].shape for node in divided] == [(4, 3)] * 2


def test_what_others_read_stays():
    product, minus, quotient = mul(x, repeat(s)), neg(x), div(x, y)
    wide = mul(matrix, repeat(s, (4, 3)))
    for read, sums in [
        (product, mul(product, const(3.0))),
        (product, twice(product)),
        (minus, apply(Sub(), minus, y)),
        (quotient, apply(Add(), mul(quotient, z), div(z, y))),
        (wide, twice(turn(wide))),
        (turn(wide), twice(turn(wide))),
    ]:
        graph = graph_of(sums, apply(Exp(), read))
        assert optimized(graph, ["factors"])[0] is graph


# ---- t + (t + w) ---------------------------------------------------------------------------------

w = value("w")


def add(*keys):
    total = keys[-1]
    for key in keys[-2::-1]:
        total = apply(Add(), key, total)
    return total


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_term_that_is_there_twice_is_multiplied_by_two_where_that_is_there(is_turned):
    total = apply(Add(), add(x, w), x) if is_turned else add(x, x, w)
    text = after(["factors", "cse"], total, mul(x, const(2.0)), inputs=[x, w])
    assert text == (
        "%2 = constant[value=2.0, dtype=f64, shape=(3,)]; %3 = mul %0 %2; %4 = add %3 %1; "
        "return %4, %3"
    )


def test_a_repeated_factor_of_a_term_that_is_there_twice_is_doubled():
    term = mul(x, repeat(s))
    text = after(["factors"], add(term, term, w), inputs=[x, s, w])
    assert text == (
        "%3 = add %1 %1; %4 = broadcast_in_dim[shape=(3,), dimensions=()] %3; %5 = mul %0 %4; "
        "%6 = add %5 %2; return %6"
    )


NOT_DOUBLED = {
    "it would be computed for this": [add(x, x, w)],
    "the sum is read": [add(x, x, w), add(x, w), mul(x, const(2.0))],
    "the term is read": [add(mul(x, repeat(s)), mul(x, repeat(s)), w), mul(x, repeat(s))],
    "float16": [add(half, half, value("v", "f16")), mul(half, const(2.0, "f16"))],
    "one term": [add(x, y, w), mul(x, const(2.0))],
}


@pytest.mark.parametrize("outputs", NOT_DOUBLED.values(), ids=NOT_DOUBLED)
def test_sums_that_are_kept(outputs):
    graph = graph_of(*outputs)
    assert optimized(graph, ["factors", "cse"])[0] is graph
