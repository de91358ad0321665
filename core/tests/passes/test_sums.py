"""``sums``: parts that are padded to a whole and added are joined, wherever in a sum they stand."""

import pytest
from graphs import after, apply, graph_of, value

from tenferro.computegraph import derive
from tenferro.computegraph._roles import Linearized
from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.elementwise import Exp
from tenferro.primitives.indexing import ScatterAdd
from tenferro.primitives.structural import Concatenate, Pad, Slice

x, y, z = (value(name, shape=(4,)) for name in "xyz")
whole = value("w", shape=(6,))
half = value("h", "f16", shape=(4,))
many = value("m", shape=(2000,))


def zero(dtype="f64"):
    return apply(Constant(0, dtype))


def pad(key, low, high, filler=None, interior=0):
    filler = filler or zero(key.aval.dtype)
    if not isinstance(low, tuple):
        low, high = (low,), (high,)
    return apply(Pad(low, high, (interior,) * len(low)), key, filler)


def add(*keys):
    total = keys[0]
    for key in keys[1:]:
        total = apply(Add(), total, key)
    return total


def sub(a, b):
    return apply(Sub(), a, b)


def block(key, row, column):
    """One of four parts of a matrix 4 × 2."""
    return pad(key, (2 * row, column), (2 - 2 * row, 1 - column))


parts = [value(name, shape=(2, 1)) for name in "abcd"]

REWRITTEN = {
    "two parts that are the whole": (
        [add(pad(x, 0, 4), pad(y, 4, 0))],
        [x, y],
        "%2 = concatenate[dimension=0] %0 %1; return %2",
    ),
    "with other terms between them": (
        [add(pad(x, 2, 0), sub(whole, apply(Neg(), pad(apply(Slice((0,), (2,), (1,)), y), 0, 4))))],
        [x, y, whole],
        "%3 = slice[start=(0,), limit=(2,), strides=(1,)] %1; "
        "%4 = concatenate[dimension=0] %3 %0; %5 = neg %4; %6 = sub %2 %5; return %6",
    ),
    "both are taken off": (
        [sub(sub(value("v", shape=(8,)), pad(x, 0, 4)), pad(y, 4, 0))],
        [x, y],
        "%3 = concatenate[dimension=0] %0 %1; %4 = sub %2 %3; return %4",
    ),
    "one is taken off": (
        [sub(pad(x, 0, 4), pad(y, 4, 0))],
        [x, y],
        "%2 = neg %0; %3 = concatenate[dimension=0] %2 %1; %4 = neg %3; return %4",
    ),
    "only a padding is left behind the sign": (
        [sub(pad(x, 0, 4), sub(pad(y, 4, 0), value("v", shape=(8,))))],
        [x, y],
        "%3 = neg %0; %4 = concatenate[dimension=0] %3 %1; %5 = sub %4 %2; %6 = neg %5; return %6",
    ),
    "nothing before the first and behind the last": (
        [add(pad(x, 1, 5), pad(y, 5, 1))],
        [x, y],
        "%2 = constant[value=0.0, dtype=f64, shape=()]; %3 = concatenate[dimension=0] %0 %1; "
        "%4 = pad[low=(1,), high=(1,), interior=(0,)] %3 %2; return %4",
    ),
    "nothing between them": (
        [add(pad(x, 0, 6), pad(y, 6, 0))],
        [x, y],
        "%2 = constant[value=0.0, dtype=f64, shape=(2,)]; "
        "%3 = concatenate[dimension=0] %0 %2 %1; return %3",
    ),
    "each goes with the one that it touches": (
        [
            add(
                pad(x, 0, 4),
                pad(y, 0, 4),
                pad(z, 4, 0),
                pad(value("v"), 5, 0),
                pad(value("u"), 0, 5),
            )
        ],
        [x, y, z],
        "%5 = constant[value=0.0, dtype=f64, shape=()]; %6 = concatenate[dimension=0] %1 %2; "
        "%7 = constant[value=0.0, dtype=f64, shape=(1,)]; "
        "%8 = concatenate[dimension=0] %0 %7 %3; %9 = add %6 %8; "
        "%10 = pad[low=(0,), high=(5,), interior=(0,)] %4 %5; %11 = add %9 %10; return %11",
    ),
    "parts along two axes": (
        [
            add(
                block(parts[0], 0, 0),
                block(parts[3], 1, 1),
                block(parts[1], 0, 1),
                block(parts[2], 1, 0),
            )
        ],
        parts,
        "%4 = concatenate[dimension=0] %0 %2; %5 = concatenate[dimension=0] %1 %3; "
        "%6 = concatenate[dimension=1] %4 %5; return %6",
    ),
    "integers": (
        [add(pad(value("i", "i8"), 0, 3), pad(value("j", "i8"), 3, 0))],
        [],
        "%2 = concatenate[dimension=0] %0 %1; return %2",
    ),
}

KEPT = {
    "parts that overlap": add(pad(x, 0, 2), pad(y, 2, 0)),
    "a part of another place along two axes": add(block(parts[0], 0, 0), block(parts[1], 1, 1)),
    "zeros between the elements": add(pad(x, 0, 4, interior=1), pad(value("v"), 8, 0)),
    "a part that is cropped": add(pad(x, -1, 3), pad(y, 3, -1)),
    "not among zeros": add(pad(x, 0, 4, apply(Constant(1.0, "f64"))), pad(y, 4, 0)),
    "among what is not known": add(pad(x, 0, 4, value("f", shape=())), pad(y, 4, 0)),
    "factors": apply(Mul(), pad(x, 0, 4), pad(y, 4, 0)),
    "float16 overflows early": add(pad(half, 0, 4), pad(half, 4, 0)),
    "a number has no parts": add(
        pad(value("s", shape=()), (), ()), pad(value("t", shape=()), (), ())
    ),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_parts_are_joined(name):
    outputs, inputs, expected = REWRITTEN[name]
    assert after(["sums"], *outputs, inputs=inputs) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_are_no_parts_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["sums"])[0] is graph


def test_what_others_read_stays_as_it_is():
    part, other = pad(x, 0, 4), pad(y, 4, 0)
    for outputs in [(add(part, other), part), (add(part, part), add(other, other))]:
        graph = graph_of(*outputs)
        assert optimized(graph, ["sums"])[0] is graph
    between = add(part, value("v", shape=(8,)))
    graph = graph_of(add(between, other), between)
    assert optimized(graph, ["sums"])[0] is graph


def test_equal_zeros_are_written_once():
    text = after(["sums"], *[add(pad(a, 0, 6), pad(b, 6, 0)) for a, b in [(x, y), (y, z)]])
    assert text.count("constant") == 1
    assert text.count("concatenate") == 2


def test_a_row_flows_as_its_parts_did():
    role = Linearized((True, False), True)
    both = [
        derive(Pad((k,), (4 - k,), (0,)), (key, zero()), role)[0] for k, key in [(0, x), (4, y)]
    ]
    total = derive(Add(), both, Linearized((True, True), True))[0]
    (node,) = optimized(graph_of(total), ["sums"])[0].nodes
    assert node.operation is Concatenate(0)
    assert node.role is Linearized((True, True), True)


def test_elements_that_are_read_one_by_one_are_one_array():
    """Not n arrays of n elements"""
    n = 2000
    total = None
    for i in range(n):
        element = apply(Exp(), apply(Slice((i,), (i + 1,), (1,)), many))
        one = pad(element, i, n - 1 - i)
        total = one if total is None else apply(Add(), total, one)
    found, report = optimized(graph_of(total), ["sums"])
    assert report.rewritten == {"sums": n}
    assert [node.operation for node in found.nodes[-1:]] == [Concatenate(0)]
    assert len(found.nodes) == 2 * n + 1


def test_a_gradient_of_a_stencil_rolls_as_often_as_the_stencil():
    import tenferro as tn

    def step(u):
        return tn.sum(u * (tn.roll(u, 1) - 2 * u + tn.roll(u, -1)))

    graph = tn.jit(tn.grad(step)).lower(tn.Aval((8,), "f64"))
    names = [node.operation.name for node in optimized(graph)[0].nodes]
    assert names.count("concatenate") == 4
    assert "pad" not in names


places, many_places = value("i", "i64", (2, 1)), value("k", "i64", (65, 1))
few, other_few = (value(name, shape=(2,)) for name in "uv")


def scattered(updates, base=None, indices=places):
    base = apply(Constant(0, updates.aval.dtype, (4,))) if base is None else base
    scatter = ScatterAdd((), (0,), (0,), "clip")
    return apply(scatter, base, indices, updates)


ADDED = (
    "scatter_add[update_window_dims=(), inserted_window_dims=(0,), "
    "scatter_dims_to_operand_dims=(0,), mode='clip']"
)


@pytest.mark.parametrize(
    "total, expected",
    [
        (add(x, scattered(few)), f"%3 = {ADDED} %0 %1 %2; return %3"),
        (add(scattered(few), x), f"%3 = {ADDED} %0 %1 %2; return %3"),
        (
            add(scattered(few), x, scattered(other_few)),
            f"%4 = {ADDED} %0 %1 %2; %5 = {ADDED} %4 %1 %3; return %5",
        ),
    ],
)
def test_what_is_added_to_zeros_is_added_to_the_other_term(total, expected):
    assert after(["sums"], total, inputs=[x, places, few]) == expected


@pytest.mark.parametrize(
    "outputs",
    [
        (add(x, scattered(few, y)),),
        (add(x, scattered(few, apply(Constant(1.0, "f64", (4,))))),),
        (sub(x, scattered(few)),),
        (add(x, scattered(few)), scattered(few)),
        (add(scattered(few), scattered(few)),),
        (add(half, scattered(value("h", "f16", (2,)))),),
        (add(x, scattered(value("m", shape=(65,)), indices=many_places)),),
    ],
    ids=["to values", "to ones", "taken off", "read elsewhere", "read twice", "float16", "many"],
)
def test_what_is_added_to_something_else_stays(outputs):
    graph = graph_of(*outputs)
    assert optimized(graph, ["sums"])[0] is graph


# ---- terms that are padded alike -----------------------------------------------------------------

ALIKE = {
    "u + (v + w)": (lambda u, v, w: add(u, add(v, w)), "add %0 %1", "add %5 %2"),
    "(v + w) + u": (lambda u, v, w: add(add(v, w), u), "add %0 %1", "add %5 %2"),
    "u + (w + v)": (lambda u, v, w: add(u, add(w, v)), "add %0 %1", "add %5 %2"),
    "u + (v - w)": (lambda u, v, w: add(u, sub(v, w)), "add %0 %1", "sub %5 %2"),
    "u + (w - v)": (lambda u, v, w: add(u, sub(w, v)), "sub %0 %1", "add %5 %2"),
    "u - (v + w)": (lambda u, v, w: sub(u, add(v, w)), "sub %0 %1", "sub %5 %2"),
    "u - (v - w)": (lambda u, v, w: sub(u, sub(v, w)), "sub %0 %1", "add %5 %2"),
    "u - (w - v)": (lambda u, v, w: sub(u, sub(w, v)), "add %0 %1", "sub %5 %2"),
    "(v + w) - u": (lambda u, v, w: sub(add(v, w), u), "sub %1 %0", "add %5 %2"),
    "(w - v) - u": (lambda u, v, w: sub(sub(w, v), u), "add %0 %1", "sub %2 %5"),
}


@pytest.mark.parametrize("make, inside, outside", ALIKE.values(), ids=ALIKE)
def test_terms_that_are_padded_alike_are_added_before(make, inside, outside):
    made = make(pad(x, 2, 0), pad(y, 2, 0), whole)
    text = after(["sums"], made, inputs=[x, y, whole])
    assert text == (
        f"%3 = constant[value=0.0, dtype=f64, shape=()]; %4 = {inside}; "
        f"%5 = pad[low=(2,), high=(0,), interior=(0,)] %4 %3; %6 = {outside}; return %6"
    )


def test_terms_that_are_padded_otherwise_or_read_elsewhere_are_not():
    u, v = pad(x, 2, 0), pad(y, 2, 0)
    inner, ones = add(v, whole), apply(Constant(1, "f64"))
    for outputs in (
        [add(u, inner), inner],
        [add(u, inner), v],
        [add(pad(x, 2, 0, ones), add(pad(y, 2, 0, ones), whole))],
        [add(pad(half, 2, 0), add(pad(value("h2", "f16", (4,)), 2, 0), value("h3", "f16", (6,))))],
        [sub(sub(apply(Neg(), whole), v), u)],
    ):
        text = after(["sums"], *outputs)
        assert text.count("pad") == 2 or "neg" in text
