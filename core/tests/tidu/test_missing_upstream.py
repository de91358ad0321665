"""G-M1 … G-M16: what other engines get wrong."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from toy_functions import one
from toy_running import (
    FORMS,
    MODES,
    EmittingForm,
    GraphForm,
    apply,
    ends,
    forward,
    keys,
    nest,
    numbers,
    program,
    reverse,
    var,
    view_of,
)
from toy_scalars import Const, Dup, Mul, Scalar, Space

from tenferro.computegraph import (
    DuplicateInputError,
    External,
    Graph,
    GraphBuilder,
    UnresolvedValueError,
    materialize_merge,
    resolve,
)
from tenferro.tidu import (
    DuplicateWrtError,
    linear_transpose,
    linearize,
    linearize_keys,
    pullback,
    pushforward,
)

both_forms = pytest.mark.parametrize("form", FORMS)


def cube(x):
    return x * x * x


# G-M1


@both_forms
def test_seeds_of_a_repeated_output_add(form):
    x = var("x")
    y = -x
    assert form.vjp([y, y], [x], {x: 3}, [1, 10]) == [-11]
    assert form.jvp([y, y], [x], {x: 3}, [1]) == [-1, -1]


@both_forms
def test_seeds_of_both_slots_add(form):
    x = var("x")
    assert form.vjp(list(Dup()(x)), [x], {x: 3}, [1, 10]) == [11]


@both_forms
def test_seeds_of_an_input_that_is_also_an_output_add(form):
    x = var("x")
    assert form.vjp([x, -x, x], [x], {x: 3}, [1, 10, 100]) == [91]


# G-M2


def reverse_over_reverse(x):
    """The outer cotangent graph, the program's inputs in order: x, inner seed, outer seed."""
    y = cube(x)
    inner = linear_transpose(linearize(view_of([y]), keys([y]), keys([x])))
    (seed,), (ct_x,) = ends(inner)
    outer = linearize(resolve([inner.linear]), keys([ct_x]), keys([x]))
    return seed, linear_transpose(outer)


@pytest.mark.parametrize(
    "at, seeds, result", [(3, (1, 5), 90), ((3.0, 2.0), ((1.0, 1.0), (5.0, 5.0)), (90.0, 60.0))]
)
def test_reverse_over_reverse_keeps_its_seeds_apart(at, seeds, result):
    x = var("x")
    seed, outer = reverse_over_reverse(x)
    assert apply(outer, {x: at, seed: seeds[0]}, [seeds[1]]) == [result]


def test_reverse_over_reverse_has_three_program_inputs():
    x = var("x")
    seed, outer = reverse_over_reverse(x)
    (outer_seed,), (found,) = ends(outer)
    made = program([found], [x, seed, outer_seed], resolve([outer.linear]))
    assert made.input_names == ("x", "ct_y0", "ct_y0")
    assert len(made.inputs) == 3


def test_reverse_over_reverse_by_emission():
    x, inner, outer = var("x"), var("inner"), var("outer")
    found = reverse(lambda u: reverse(cube, u, inner), x, outer)
    assert numbers([found], {x: 3, inner: 1, outer: 5}) == [90]


# G-M3


def test_two_pullbacks_in_one_program_have_seeds_of_their_own():
    x = var("x")
    square, third = x * x, cube(x)
    backs = [
        linear_transpose(linearize(view_of([y]), keys([y]), keys([x]))) for y in (square, third)
    ]
    seeds = [ends(back)[0][0] for back in backs]
    found = [ends(back)[1][0] for back in backs]
    assert len({seed.key for seed in seeds}) == 2
    view = resolve([back.linear for back in backs])
    assert numbers(found, {x: 3, seeds[0]: 2, seeds[1]: 5}, view) == [12, 135]


def test_two_pullbacks_by_emission():
    x = var("x")
    two, five = Const(2.0)(), Const(5.0)()
    assert numbers([reverse(lambda u: u * u, x, two), reverse(cube, x, five)], {x: 3}) == [12, 135]


# G-M4


@pytest.mark.parametrize(
    "transform",
    [
        lambda y, x: linearize(view_of([y]), keys([y]), keys([x, y, x])),
        lambda y, x: pushforward(keys([y]), keys([x, y, x]), [one()] * 3, space=Space),
        lambda y, x: pullback(keys([y]), keys([x, y, x]), [one()], space=Space),
        lambda y, x: linearize_keys(keys([y]), keys([x, y, x]), space=Space),
    ],
)
def test_a_value_named_twice_in_wrt_is_refused(transform):
    x = var("x")
    with pytest.raises(DuplicateWrtError, match="<x: f> twice, at positions 0 and 2") as error:
        transform(x * x, x)
    assert (error.value.value, error.value.positions) == (x.key, (0, 2))


# G-M5


def test_an_unresolved_external_value_is_an_error_in_a_transform():
    stranger = -var("stranger")
    builder = GraphBuilder()
    x = builder.input("x", "f")
    (y,) = builder.apply(Mul(), x, External(stranger.key))
    builder.output(y)
    graph = builder.build()
    with pytest.raises(UnresolvedValueError) as error:
        linearize(resolve([graph]), graph.output_keys, graph.input_keys)
    assert error.value.value is stranger.key


def test_a_linear_graph_needs_its_primal_graph():
    x = var("x")
    y = cube(x)
    linear = linearize(resolve([Graph.of([x.key], [y.key])]), keys([y]), keys([x]))
    lonely = Graph(linear.linear.keys, linear.linear.inputs, linear.linear.nodes, ())
    with pytest.raises(UnresolvedValueError):
        materialize_merge(resolve([lonely]), keys(ends(linear)[1]))


# G-M6

DEEP = """
import gc, pickle, sys, threading
from toy_running import *
from toy_scalars import *
from tenferro.computegraph import *
from tenferro.tidu import *

def negated(x, length=10_000):
    for _ in range(length):
        x = Neg.__base__.__call__(Plain(), x)
    return x

class Plain(Neg):
    key = "toy::plain_neg"
    simplify = None
    turn = lambda self, rule, ct, x: (Plain()(ct),)

assert sys.getrecursionlimit() == 1000
x = var("x")
y = negated(x)
"""
DEEP_CASES = {
    "run": "assert numbers([y], {x: 2}) == [2]",
    "graph": """
assert GraphForm.jvp([y], [x], {x: 2}, [1]) == [1]
assert GraphForm.vjp([y], [x], {x: 2}, [1]) == [1]
""",
    "emitting": """
assert EmittingForm.jvp([y], [x], {x: 2}, [1]) == [1]
assert EmittingForm.vjp([y], [x], {x: 2}, [1]) == [1]
""",
    "twice": "assert numbers([nest('RR', negated)(x)], {x: 2}) == [0]",
    "print, pickle and free": """
back = linear_transpose(linearize(view_of([y]), [y.key], [x.key]))
assert str(back).count('= plain *') == 10_000
seed, = ends(back)[0]
made = program(ends(back)[1], [x, seed], resolve([back.linear]))
assert pickle.loads(pickle.dumps(made)).structure == made.structure
del back, made, y, seed
gc.collect()
assert table_size() <= 2, table_size()
""",
}

# A recursion in C overflows a stack of 1 MiB if each operation of the chain takes 100 bytes.
IN_A_SMALL_STACK = """
threading.stack_size(1 << 20)
worker = threading.Thread(target=exec, args=({code!r}, globals()))
worker.start(); worker.join()
"""


@pytest.mark.parametrize("case", DEEP_CASES)
def test_a_chain_of_10_000(case):
    code = DEEP + IN_A_SMALL_STACK.format(code=DEEP_CASES[case])
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


# G-M7


def doublings(x, count=60):
    for _ in range(count):
        x = x + x
    return x


def test_doublings_built_twice_are_one_object():
    assert doublings(var("x")).key is doublings(var("x")).key


@both_forms
def test_doublings_and_their_derivative_are_exact(form):
    x = var("x")
    y = doublings(x)
    assert numbers([y], {x: 1}) == [2**60]
    assert form.jvp([y], [x], {x: 1}, [1]) == [2**60]
    assert form.vjp([y], [x], {x: 1}, [1]) == [2**60]


@pytest.mark.parametrize("count", [60, 120])
def test_doublings_cost_a_node_each(count):
    x = var("x")
    y = doublings(x, count)
    linear = linearize(view_of([y]), keys([y]), keys([x]))
    back = linear_transpose(linear)
    assert (len(linear.linear), len(back.linear)) == (count, count)
    assert len(str(back.linear).splitlines()) == count + 3


# G-M8


def test_declared_order_is_kept_in_transforms():
    x, y = var("x"), var("y")
    z = y + -x
    assert GraphForm.vjp([z], [x, y], {x: 2, y: 5}, [1]) == [-1, 1]
    assert GraphForm.vjp([z], [y, x], {x: 2, y: 5}, [1]) == [1, -1]
    assert program([z], [x, y]).input_names == ("x", "y")
    assert numbers([z], {x: 2, y: 5}) == [3]
    with pytest.raises(DuplicateInputError):
        program([z], [x, y, x])


# G-M9


@both_forms
def test_a_value_that_no_output_reaches_has_no_derivative(form):
    x, y = var("x"), var("y")
    assert form.jvp([x * x], [y], {x: 1}, [1]) == [None]
    assert form.vjp([x * x], [y], {x: 1}, [1]) == [None]
    assert form.vjp([x * x], [y, x], {x: 1}, [1]) == [None, 2]


# G-M15


@pytest.mark.parametrize("modes", ["FF", "FR", "RF", "RR"])
def test_perturbations_are_not_confused(modes):
    """d/dx [x · d/dy (x + y) at y = x] at 1"""
    outer, inner = (MODES[mode] for mode in modes)
    found = outer(lambda x: x * inner(lambda y: x + y, x), var("x"))
    assert numbers([found], {var("x"): 1}) == [1]


@pytest.mark.parametrize("modes", ["FF", "FR", "RF", "RR"])
def test_perturbations_are_not_confused_in_a_product(modes):
    """d/dx [x · d/dy (x y) at y = x] at 3: the inner derivative is x"""
    outer, inner = (MODES[mode] for mode in modes)
    found = outer(lambda x: x * inner(lambda y: x * y, x), var("x"))
    assert numbers([found], {var("x"): 3}) == [6]


# G-M16


@pytest.mark.parametrize("modes", ["FF", "FR", "RF", "RR"])
def test_the_sensitivity_of_a_closure(modes):
    """h(x) = d/dy (x y²) at y = 3, then dh/dx at 2"""
    outer, inner = (MODES[mode] for mode in modes)
    y = var("y")
    found = outer(lambda x: inner(lambda v: x * v * v, y), var("x"))
    assert numbers([found], {var("x"): 2, y: 3}) == [6]


def test_an_outer_value_may_be_the_point_of_differentiation():
    """d/dx [d/dy y³ at y = x²] = d/dx 3x⁴"""
    x = var("x")
    found = forward(lambda u: reverse(cube, u * u), x)
    assert numbers([found], {x: 2}) == [96]


def test_a_value_may_be_closed_over_and_differentiated():
    """d/dy (x + y) y at y = x, where x is closed over: x + 2y = 3x"""
    x = var("x")
    assert numbers([forward(lambda y: (x + y) * y, x)], {x: 2}) == [6]
    assert numbers([nest("RF", lambda y: (x + y) * y)(x)], {x: 2}) == [2]


def test_programs_of_nested_transforms_pickle():
    x = var("x")
    made = program([nest("RRR", cube)(x)], [x])
    again = pickle.loads(pickle.dumps(made))
    assert again.structure == made.structure
    assert isinstance(EmittingForm.vjp([x], [x], {x: 1}, [1]), list)
    assert Scalar(x.key).key is x.key
