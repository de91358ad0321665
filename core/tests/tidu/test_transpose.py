"""Transposition: partial, twice, what it keeps, and what it frees."""

import gc
import weakref

import pytest
from toy_functions import Sincos
from toy_running import apply, ends, keys, numbers, var, view_of
from toy_scalars import Const, Dup, Exp, Mul

from tenferro.computegraph import Linearized, resolve
from tenferro.tidu import MixedFlowError, linear_transpose, linearize

X, Y = var("x"), var("y")
AT = {X: 2.0, Y: 3.0}


def linear_of(outputs, wrt=(X, Y)):
    return linearize(view_of(outputs, [X, Y]), keys(outputs), keys(wrt))


def jacobian(linear, at=AT):
    """The matrix of a linear graph, column by column; ``None`` is a structural zero."""
    count = len(linear.tangent_inputs)
    return [apply(linear, at, [float(i == k) for i in range(count)]) for k in range(count)]


SAMPLES = {
    "product": [X * Y],
    "shared": [(X + X) * X, X * Y],
    "exp": [Exp()(X * Y), X],
    "repeated": [X * X, X * X],
    "two outputs": [*Sincos()(X), *Dup()(Y)],
    "structural zero": [Exp()(Y), X],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_transposing_twice_gives_the_same_matrix(name):
    linear = linear_of(SAMPLES[name])
    twice = linear_transpose(linear_transpose(linear))
    assert jacobian(twice) == [pytest.approx(row) for row in jacobian(linear)]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_matrix_of_the_transpose_is_the_transpose_of_the_matrix(name):
    linear = linear_of(SAMPLES[name])
    rows = [[value or 0.0 for value in row] for row in jacobian(linear)]
    columns = [[value or 0.0 for value in row] for row in jacobian(linear_transpose(linear))]
    assert columns == [pytest.approx(list(column)) for column in zip(*rows, strict=True)]


def test_a_transposed_graph_says_so():
    linear = linear_of([X * Y])
    back = linear_transpose(linear)
    assert {node.role.transposed for node in linear.linear.nodes} == {False}
    assert {node.role for node in back.linear.nodes} <= {
        Linearized((False, True), True),
        Linearized((True, False), True),
    }


# partial transposition of (dx, dy) → (y dx + x dy, 3 dx… )


def two_by_two():
    """d(x y) and d(exp y), so that only the first output depends on x."""
    return linear_of([X * Y, Exp()(Y)])


def test_one_input_and_one_output_are_turned_around():
    """ct → ct_x forward in dy: (ct, dy) ↦ (y ct, exp(y) dy)"""
    turned = linear_transpose(two_by_two(), inputs=[0], outputs=[0])
    assert [None if i is None else i.key for i in turned.tangent_inputs][1] is Y.key
    found = apply(turned, AT, [10.0, 1.0])
    assert found == [30.0, pytest.approx(20.085536923187668)]


def test_turning_everything_is_the_transpose():
    some = linear_transpose(two_by_two(), inputs=[0, 1], outputs=[0, 1])
    assert jacobian(some) == jacobian(linear_transpose(two_by_two()))


def test_turning_around_in_another_order_permutes():
    turned = linear_transpose(two_by_two(), inputs=[1, 0], outputs=[1, 0])
    plain = jacobian(linear_transpose(two_by_two()))
    assert jacobian(turned) == [row[::-1] for row in plain[::-1]]


def test_nothing_turned_around_is_the_map_itself():
    same = linear_transpose(two_by_two(), inputs=[], outputs=[])
    assert jacobian(same) == jacobian(two_by_two())


def test_an_output_that_depends_on_a_turned_input_cannot_stay():
    with pytest.raises(MixedFlowError) as error:
        linear_transpose(linear_of([X * Y, X]), inputs=[0], outputs=[0])
    assert error.value.output == 1


def test_the_rest_of_a_turned_output_is_left_out():
    """d(x y) = y dx + x dy turned in dx alone: y ct, whatever dy is"""
    turned = linear_transpose(linear_of([X * Y]), inputs=[0], outputs=[0])
    assert apply(turned, AT, [1.0, 100.0]) == [3.0]


@pytest.mark.parametrize("wrt", [[X], [X, Y]])
def test_wires_are_transposed(wrt):
    linear = linear_of(wrt, wrt)
    assert jacobian(linear_transpose(linear)) == jacobian(linear)


def test_repeated_wires_need_a_vocabulary():
    with pytest.raises(MixedFlowError) as error:
        linear_transpose(linear_of([X, X], [X]))
    assert error.value.outputs == (0, 1)


# the part between some values


def middle():
    """dx ↦ (a, b) = (dx, dx) ↦ (3 b, a + b), and its part from dx and a, which an equation makes"""
    a, b = Dup()(X)
    swept = linear_of([b * Const(3.0)(), a + b, a], [X]).swept
    (node,) = [node for node in swept.nodes.each() if type(node.operation) is Dup]
    starts = [swept.seeds[0].key, node.outputs[0]]
    return swept.between(starts, [end.key for end in swept.ends])


def values(found):
    return [None if value is None else numbers([value], AT)[0] for value in found]


def test_a_start_in_the_middle_ends_the_flow_into_it():
    """(dx, a) ↦ (3 dx, a + dx, a)"""
    assert values(middle().apply([Const(1.0)(), Const(10.0)()])) == [3.0, 11.0, 10.0]
    assert values(middle().apply([Const(1.0)(), None])) == [3.0, 1.0, None]


def test_a_start_in_the_middle_keeps_its_cotangent():
    """(ct₁, ct₂, ct₃) ↦ (3 ct₁ + ct₂, ct₂ + ct₃)"""
    given = [Const(number)() for number in (1.0, 10.0, 100.0)]
    assert values(middle().transpose(given)) == [13.0, 110.0]


# retention


def test_the_tangent_sweep_is_freed():
    linear = linear_of([Exp()(X * Y)])
    tangents = [weakref.ref(key) for key in linear.linear.keys]
    graph = weakref.ref(linear.linear)
    back = linear_transpose(linear)
    del linear
    gc.collect()
    assert graph() is None
    assert [ref() for ref in tangents] == [None] * len(tangents)
    assert apply(back, {X: 0.0, Y: 3.0}, [1.0]) == [3.0, 0.0]


def test_an_artefact_keeps_its_residuals():
    x = var("kept")
    back = linear_transpose(linearize(view_of([Exp()(x)]), keys([Exp()(x)]), keys([x])))
    gc.collect()
    assert apply(back, {var("kept"): 0.0}, [1.0]) == [1.0]
    assert [key.operation for key in back.residual.output_keys] == [Exp()]


def test_what_the_linear_graph_reads_is_in_the_residual_graph():
    linear = linear_of([Exp()(X * Y)])
    read = {r.key for n in linear.linear.nodes for r in n.inputs if hasattr(r, "key")}
    assert read == set(linear.residual.output_keys)


def test_residuals_and_primal_are_evaluated_together():
    y = Exp()(X * Y)
    back = linear_transpose(linear_of([y]))
    view = resolve([back.linear])
    seed = ends(back)[0][0]
    assert numbers([y, *ends(back)[1]], {X: 0.0, Y: 3.0, seed: 1.0}, view) == [1.0, 3.0, 0.0]


def test_the_structural_zero_is_none_and_stays_none():
    linear = linear_of([Exp()(Y)], [X])
    assert linear.tangent_outputs == (None,)
    assert linear_transpose(linear).tangent_outputs == (None,)
    assert linear_transpose(linear).tangent_inputs == (None,)


def test_transposed_rules_know_no_tensor():
    assert Mul().turn(None, X, None, Y)[0].key is (X * Y).key
