"""``packs``: the same operations on parts of an array become operations on all parts."""

import pytest
from graphs import after, apply, graph_of, value

import tenferro as tn
from tenferro.passes import optimized
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.elementwise import Exp, Log
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import Concatenate, Slice

x = value("x", shape=(6,))
batch, weight = value("b", shape=(4, 3)), value("w", shape=(3, 5))
large = value("l", shape=(4, 512))
TOTAL = ReduceSum((0,))


def part(key, start, limit):
    """Rows of an array."""
    rest = key.aval.shape[1:]
    return apply(Slice((start, *[0] * len(rest)), (limit, *rest), (1,) * (1 + len(rest))), key)


def parts(key, size):
    return [part(key, i, i + size) for i in range(0, key.aval.shape[0], size)]


def each(operation, keys, *others):
    return [apply(operation, key, *others) for key in keys]


def added(keys):
    total = keys[0]
    for key in keys[1:]:
        total = apply(Add(), total, key)
    return total


def joined(keys, axis=0):
    return apply(Concatenate(axis), *keys)


REWRITTEN = {
    "joined again": (
        [joined(each(Exp(), parts(x, 2)))],
        [x],
        "%1 = reshape[shape=(3, 2)] %0; %2 = exp %1; %3 = reshape[shape=(6,)] %2; return %3",
    ),
    "added": (
        [added(each(TOTAL, each(Exp(), parts(x, 2))))],
        [x],
        "%1 = reshape[shape=(3, 2)] %0; %2 = exp %1; %3 = reduce_sum[axes=(1,)] %2; "
        "%4 = reduce_sum[axes=(0,)] %3; return %4",
    ),
    "taken off": (
        [apply(Sub(), apply(Neg(), each(Exp(), parts(x, 3))[0]), each(Exp(), parts(x, 3))[1])],
        [x],
        "%1 = reshape[shape=(2, 3)] %0; %2 = exp %1; %3 = reduce_sum[axes=(0,)] %2; "
        "%4 = neg %3; return %4",
    ),
    "a product by one matrix": (
        [joined(each(DotGeneral((1,), (0,), (), ()), parts(batch, 1), weight))],
        [batch, weight],
        "%2 = reshape[shape=(4, 1, 3)] %0; "
        "%3 = dot_general[lhs_contract=(2,), rhs_contract=(0,), lhs_batch=(), rhs_batch=(), "
        "preferred=None] %2 %1; %4 = reshape[shape=(4, 5)] %3; return %4",
    ),
}

KEPT = {
    "parts that overlap": joined(each(Exp(), [part(x, 0, 4), part(x, 2, 6)])),
    "parts of different sizes": joined(each(Exp(), [part(x, 0, 4), part(x, 4, 6)])),
    "parts with a gap": joined(each(Exp(), [part(x, 0, 2), part(x, 4, 6)])),
    "another operation on one part": joined(
        [apply(Exp(), part(x, 0, 3)), apply(Log(), part(x, 3, 6))]
    ),
    "nothing but views": joined(parts(x, 2)[::-1]),
    "each result read by itself": apply(Mul(), *each(Exp(), parts(x, 3))),
    "a step that reads the one before": apply(
        Mul(), part(x, 3, 6), apply(Mul(), part(x, 0, 3), value("c", shape=(3,)))
    ),
    "parts of two arrays": joined(
        [apply(Exp(), part(x, 0, 3)), apply(Exp(), part(value("y", shape=(6,)), 3, 6))]
    ),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_parts_are_done_at_once(name):
    outputs, inputs, expected = REWRITTEN[name]
    assert after(["packs", "moves"], *outputs, inputs=inputs) == expected


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_pack_stays(name):
    graph = graph_of(KEPT[name])
    assert optimized(graph, ["packs"])[0] is graph


def test_divisions_of_one_array_may_overlap_each_other():
    x = value("x", shape=(5,))
    terms = [apply(Mul(), apply(Exp(), part(x, i, i + 2)), part(x, i + 1, i + 3)) for i in (0, 2)]
    found, report = optimized(graph_of(joined(terms)), ["packs"])
    assert report.rewritten == {"packs": 2}
    assert [n.operation.name for n in found.nodes].count("slice") == 2


def test_float16_is_not_summed_in_another_order():
    half = value("h", "f16", shape=(6,))
    graph = graph_of(added(each(Exp(), parts(half, 2))))
    assert optimized(graph, ["packs"])[0] is graph


def test_a_part_that_is_read_beside_the_others_stays_the_slice_that_it_was():
    first, *rest = parts(x, 1)
    made = added(each(Exp(), [first, *rest]))
    text = after(["packs", "moves"], made, apply(Log(), first), inputs=[x])
    assert "slice[start=(0,), limit=(1,), strides=(1,)] %0" in text
    assert text.count("exp") == 1


def test_small_values_of_each_lane_are_stacked():
    weights = [value(f"w{i}", shape=()) for i in range(6)]
    scaled = [
        apply(Mul(), apply(TOTAL, apply(Exp(), apply(Exp(), a))), w)
        for a, w in zip(parts(x, 1), weights, strict=True)
    ]
    names = [n.operation.name for n in optimized(graph_of(added(scaled)), ["packs"])[0].nodes]
    assert names.count("exp") == 2
    assert names.count("mul") == 1


def test_a_budget_leaves_the_parts_of_a_user_alone():
    graph = graph_of(added(each(ReduceSum((0, 1)), each(Exp(), parts(large, 1)))))
    assert optimized(graph, "all", budget=1 << 20)[1].rewritten["packs"]
    assert "packs" not in optimized(graph, "all", budget=1 << 13)[1].rewritten


def test_arrays_that_are_divided_to_save_memory_stay_divided():
    huge = value("l", shape=(8, 1 << 21))
    graph = graph_of(added(each(Exp(), parts(huge, 2))))
    assert optimized(graph, ["packs"])[0] is graph


def test_the_gradient_of_a_batch_in_parts_is_that_of_the_batch():
    """Of three products per layer none is left for each part"""

    def loss(w, rows, count):
        total = 0.0
        for start in range(0, 8, 8 // count):
            own = rows[start : start + 8 // count]
            total = total + tn.sum(tn.tanh(tn.tanh(own @ w) @ w))
        return total

    avals = tn.Aval((3, 3), "f64"), tn.Aval((8, 3), "f64")
    counts = []
    for count in (1, 4):
        graph = tn.jit(tn.grad(lambda w, rows, count=count: loss(w, rows, count))).lower(*avals)
        nodes = optimized(graph)[0].nodes
        counts.append(sum([n.operation.name == "dot_general" for n in nodes]))
    assert counts[0] == counts[1]
