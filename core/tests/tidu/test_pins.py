"""A pin is a fresh identity: transparent to outer transforms, gone after materialization."""

import pickle

import pytest
from toy_running import (
    FORMS,
    GraphForm,
    forward,
    keys,
    nest,
    numbers,
    pinned,
    program,
    reverse,
    var,
    view_of,
)
from toy_scalars import Exp, Scalar

from tenferro.computegraph import UNKNOWN, Graph
from tenferro.tidu import Pin, Seed, Trace, fresh_id, linear_transpose, linearize, pin, pinned_leaf


def test_every_pin_is_a_value_of_its_own():
    x, trace = var("x"), Trace()
    first, second = pin(x.key, trace), pin(x.key, trace)
    assert first is not second
    assert (first.inputs, first.aval) == ((x.key,), "f")


def test_pins_disappear():
    """A program has no pins, and their values are the pinned one"""
    x = var("x")
    once, twice = (Scalar(pin(x.key, Trace())) for _ in range(2))
    made = program([Exp()(once) * Exp()(twice), once], [x])
    assert [step.operation.key for step in made.instructions] == ["toy::exp", "toy::mul"]
    assert made.outputs[1] == 0


@pytest.mark.parametrize("form", FORMS)
def test_a_pin_is_the_identity_to_outer_transforms(form):
    x = var("x")
    y = Scalar(pin((x * x).key, Trace()))
    assert form.jvp([y], [x], {x: 3}, [1]) == [6]
    assert form.vjp([y, -y], [x], {x: 3}, [1, 10]) == [-54]


@pytest.mark.parametrize("form", FORMS)
def test_a_pin_alone_has_the_identity_as_derivative(form):
    x = var("x")
    y = Scalar(pin(pin(x.key, Trace()), Trace()))
    assert form.jvp([y], [x], {x: 3}, [1]) == [1]
    assert form.vjp([y], [x], {x: 3}, [5]) == [5]


def test_differentiating_a_pin_leaves_other_uses_alone():
    x = var("x")
    y, inner = pinned(lambda u: u * x, x)
    assert GraphForm.jvp([y], [inner], {x: 3, inner: 3}, [1]) == [3]
    assert numbers([forward(lambda u: u * x, x)], {x: 3}) == [3]


def test_a_pin_opens_a_trace():
    x, trace = var("x"), Trace()
    inner = Scalar(pin(x.key, trace))
    assert (x.key.traces, inner.key.traces) == (frozenset(), frozenset({trace}))
    assert Exp()(inner).key.traces == {trace}
    trace.open = False
    assert (Exp()(inner) * (x + Scalar(pin(x.key, Trace())))).key.traces != {trace}
    assert repr(trace).startswith("<closed trace")


def test_a_pin_of_a_known_value_is_known():
    x = var("known")
    x.key.operand = 3.0
    assert pin(x.key, Trace()).operand == 3.0
    assert pin(var("unknown").key, Trace()).operand is UNKNOWN


def test_a_pinned_leaf_is_an_input_of_its_own():
    trace = Trace()
    first, second = pinned_leaf("x", "f", trace), pinned_leaf("x", "f", trace)
    assert first is not second
    assert (first.is_input, first.traces) == (True, {trace})


def test_identities_are_unique_and_survive_pickling():
    assert fresh_id() != fresh_id()
    assert fresh_id().process == fresh_id().process
    operation = Pin(fresh_id())
    assert pickle.loads(pickle.dumps(operation)) is operation


@pytest.mark.parametrize("modes", ["FF", "RR"])
def test_graphs_of_nested_transforms_pickle(modes):
    x = var("x")
    graph = Graph.of([x.key], keys([nest(modes, Exp())(x)]))
    assert pickle.loads(pickle.dumps(graph)).output_keys == graph.output_keys


def test_seeds_are_fresh_for_every_call():
    x = var("x")
    y = Exp()(x)
    first, second = (linearize(view_of([y]), keys([y]), keys([x])) for _ in range(2))
    assert first.linear.input_keys != second.linear.input_keys
    backs = [linear_transpose(first) for _ in range(2)]
    assert backs[0].linear.input_keys != backs[1].linear.input_keys


def test_seeds_are_named_after_what_they_belong_to():
    x = var("x")
    y = Exp()(x)
    linear = linearize(view_of([y, y]), keys([y, y]), keys([x]))
    assert [str(key.input_key) for key in linear.linear.input_keys] == ["dx"]
    names = [str(key.input_key) for key in linear_transpose(linear).linear.input_keys]
    assert names == ["ct_y0", "ct_y1"]
    nested, _ = pinned(lambda u: u, x)
    again = linearize(view_of([Exp()(nested)]), keys([Exp()(nested)]), keys([nested]))
    assert [str(key.input_key) for key in again.linear.input_keys] == ["dx"]


def test_an_input_key_may_name_its_own_seeds():
    class Name(str):
        def tangent_of(self, sweep_id):
            return Seed("tangent of ", self, sweep_id)

        def cotangent_of(self, sweep_id, index):
            return Seed("cotangent of ", self, sweep_id)

    x = var(Name("x"))
    linear = linearize(view_of([x]), keys([x]), keys([x]))
    assert str(linear.linear.input_keys[0].input_key) == "tangent of x"


def test_reverse_inside_a_closure_is_no_confusion():
    x = var("x")
    found = reverse(lambda u: forward(lambda v: u * v * v, u), x)
    assert numbers([found], {x: 3}) == [12]  # d/du 2u²
