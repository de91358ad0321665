"""Materializing keeps what is reachable, once, in a fixed order, and nothing else."""

import pytest
from toy_graphs import (
    Add,
    Alias,
    Const,
    Dup,
    Exp,
    Mul,
    Neg,
    add,
    dup,
    exp,
    flat,
    mul,
    names,
    neg,
    run,
    sub,
)

from tenferro.computegraph import (
    DuplicateInputError,
    Graph,
    KeyView,
    Linearized,
    Operation,
    derive,
    derive_one,
    input_key,
    materialize_merge,
    resolve,
    retire,
    signature,
)

FIXED = Linearized((False, True))


def operations(graph):
    return [node.operation for node in graph.nodes]


def test_one_operation_is_three_values_and_two_inputs():
    graph = flat([add(*names("x", "y"))])
    assert (len(graph.avals), len(graph.inputs), len(graph)) == (3, 2, 1)


def test_a_chain_comes_in_order():
    x, a = names("x", "a")
    assert operations(flat([exp(mul(a, x))])) == [Mul(), Exp()]


def test_a_value_added_to_itself_is_two_values_and_one_operation():
    x = input_key("x")
    graph = flat([add(x, x)])
    assert (len(graph.avals), len(graph)) == (2, 1)
    assert graph.nodes[0].inputs == (0, 0)


def test_graphs_are_merged():
    x, a = names("x", "a")
    first = Graph.of([x, a], [mul(a, x)])
    second = Graph.of([], [exp(mul(a, x))], parents=[first])
    merged = materialize_merge(resolve([second]), second.output_keys, inputs=[x, a])
    assert str(merged) == str(flat([exp(mul(a, x))], [x, a]))


def test_what_no_output_needs_is_left_out():
    x = input_key("x")
    graph = Graph.of([x], [exp(x), neg(x)])
    assert operations(materialize_merge(resolve([graph]), [neg(x)])) == [Neg()]


def test_equal_keys_are_one_node():
    x = input_key("x")
    assert operations(flat([add(exp(x), neg(exp(x)))])) == [Exp(), Neg(), Add()]


def test_operations_that_evaluate_alike_are_one_whatever_their_role():
    x, y = names("x", "y")
    graph = flat([mul(x, y), derive_one(Mul(), (x, y), FIXED)])
    assert len(graph) == 1
    assert graph.outputs == (2, 2)


def test_what_follows_merged_operations_is_merged_too():
    x, y = names("x", "y")
    linear = derive_one(Mul(), (x, y), FIXED)
    assert len(flat([exp(mul(x, y)), derive_one(Exp(), (linear,), Linearized((True,)))])) == 2


def test_both_slots_of_merged_operations_are_merged():
    x = input_key("x")
    linear = [derive_one(Neg(), (slot,)) for slot in dup(derive_one(Alias(1), (x,)))]
    plain = [neg(slot) for slot in dup(x)]
    graph = flat([*linear, *plain])
    assert operations(graph) == [Dup(), Neg(), Neg()]
    assert graph.outputs[:2] == graph.outputs[2:]


@pytest.mark.parametrize("operation, count", [(add, 1), (sub, 2)])
def test_only_commutative_operands_may_change_places(operation, count):
    x, y = names("x", "y")
    assert len(flat([operation(x, y), operation(y, x)])) == count


def test_transparent_operations_disappear_before_merging():
    x = input_key("x")
    first, second = (derive_one(Alias(i), (x,)) for i in (1, 2))
    graph = flat([mul(exp(first), exp(second)), second])
    assert operations(graph) == [Exp(), Mul()]
    assert graph.outputs[1] == 0


class Choose(Operation):
    """Outputs k = inputs k; the other inputs are for others to read."""

    input_count, output_count, transparent = None, 2, True

    def abstract_eval(self, *avals):
        return avals[:2]


def test_a_transparent_operation_gives_its_inputs_and_needs_no_other():
    x, y, unused = names("x", "y", "unused")
    first, second = derive(Choose(), (exp(x), y, exp(unused)))
    graph = flat([second, first])
    assert operations(graph) == [Exp()]
    assert set(graph.inputs) == {x, y}
    assert flat([exp(second)]).inputs == (y,)


def test_a_volatile_operation_has_no_signature():
    class Volatile(Alias):
        volatile = True

    (x,) = names("x")
    assert signature([x], [exp(derive_one(Alias(3), (x,)))])[0] is not None
    assert signature([x], [exp(derive_one(Volatile(3), (x,)))])[0] is None


def test_declared_order_is_kept():
    x, y = names("x", "y")
    graph = flat([sub(y, x)], [x, y])
    assert graph.inputs == (x, y)
    assert graph.nodes[0].inputs == (1, 0)
    assert run([sub(y, x)], [x, y], 2, 5) == [3]


def test_unused_declared_inputs_are_kept():
    x, y, z = names("x", "y", "z")
    assert flat([exp(y)], [z, y, x]).inputs == (z, y, x)


def test_other_leaves_follow_the_declared_inputs():
    x, y, z = names("x", "y", "z")
    assert flat([sub(sub(z, x), y)], [y]).inputs == (y, z, x)


def test_an_input_declared_twice_is_refused():
    x = input_key("x")
    with pytest.raises(DuplicateInputError) as error:
        materialize_merge(KeyView(), [exp(x)], inputs=[x, x])
    assert error.value.input is x


def test_a_declared_input_cuts_its_history():
    x = input_key("x")
    graph = materialize_merge(KeyView(), [neg(exp(x))], inputs=[exp(x)])
    assert graph.inputs == (exp(x),)
    assert operations(graph) == [Neg()]


def test_a_known_operand_cuts_its_history():
    y = exp(input_key("known"))
    y.operand = 1.0
    graph = materialize_merge(KeyView(), [neg(y)])
    assert (graph.inputs, operations(graph)) == ((y,), [Neg()])
    retire(y)
    assert materialize_merge(KeyView(), [neg(y)]).inputs == (y,)


def test_outputs_may_repeat_and_may_be_inputs():
    x = input_key("x")
    graph = flat([x, exp(x), x], [x])
    assert graph.outputs == (0, 1, 0)


def test_the_order_is_postorder_from_the_outputs():
    x, y = names("x", "y")
    graph = flat([sub(exp(x), neg(y)), neg(exp(y))])
    assert [str(op.name) for op in operations(graph)] == ["exp", "neg", "sub", "exp", "neg"]


def test_constants_are_operations_without_inputs():
    half = derive_one(Const(0.5), ())
    graph = flat([mul(half, half)])
    assert graph.nodes[0] == (Const(0.5), (), (0,), graph.nodes[0].role, None)
    assert graph.inputs == ()


def test_constants_that_differ_in_type_stay_apart():
    values = [derive_one(Const(value), ()) for value in (1, 1.0, True, 0.0, -0.0)]
    assert len(flat(values)) == 5
    assert [str(v) for v in run(values, [])] == ["1", "1.0", "True", "0.0", "-0.0"]


def test_constants_of_equal_bits_are_one():
    assert len(flat([derive_one(Const(float("nan")), ()) for _ in range(2)])) == 1


def test_every_output_of_an_operation_is_numbered():
    x = input_key("x", "f64")
    graph = flat([dup(x)[1]])
    assert graph.nodes[0].outputs == (1, 2)
    assert graph.outputs == (2,)
    assert graph.avals == ("f64", "f64", "f64")


def signatures(*graphs):
    """Signatures of (declared inputs, outputs), pairwise beside the structures."""
    found = [signature(inputs, outputs) for inputs, outputs in graphs]
    return [key for key, _ in found], [inputs for _, inputs in found]


def test_a_signature_is_of_structure():
    first, second = ([[x, a], [exp(mul(a, x)), x]] for x, a in (names("x", "a"), names("p", "q")))
    (one, two), inputs = signatures(first, second)
    assert one == two
    assert inputs == [first[0], second[0]]


def test_a_signature_tells_graphs_apart():
    x, y = names("x", "y")
    outputs = [[], [x], [y], [x, x], [sub(x, y)], [sub(y, x)], [sub(x, x)], [neg(x)], [*dup(x)]]
    outputs += [[dup(x)[0]], [dup(x)[1]], [neg(neg(x))], [neg(x), neg(x)], [add(neg(x), neg(y))]]
    graphs = [(inputs, wanted) for inputs in ([x], [x, y]) for wanted in outputs]
    keys, _ = signatures(*graphs)
    flats = [flat(wanted, inputs) for inputs, wanted in graphs]
    told_apart = {
        (len(inputs), graph.structure) for (inputs, _), graph in zip(graphs, flats, strict=True)
    }
    assert len(set(keys)) == len(graphs) == len(told_apart)


def test_a_signature_says_which_further_output_of_an_operation_is_read():
    """(y₀, y₁), (y₀, y₂), (y₁, y₂), … of one operation: ordered pairs have keys of their own"""

    class Triple(Operation):
        output_count = 3

        def abstract_eval(self, x):
            return x, x, x

    (x,) = names("x")
    y = derive(Triple(), (x,))
    pairs = [(a, b) for a in y for b in y]
    keys, _ = signatures(*[([x], [sub(a, b)]) for a, b in pairs], *[([x], [*p]) for p in pairs])
    assert len(set(keys)) == len(keys) == 18


def test_a_signature_has_the_inputs_of_the_graph():
    x, y, z = names("x", "y", "z")
    outputs = [sub(sub(z, x), y), derive_one(Alias(1), (x,))]
    _, (inputs,) = signatures(([y], outputs))
    assert tuple(inputs) == flat(outputs, [y]).inputs


def test_a_signature_does_not_see_pins():
    x = input_key("x")
    (pinned, plain), _ = signatures(*([[x], [exp(v)]] for v in (derive_one(Alias(1), (x,)), x)))
    assert pinned == plain


def test_nothing_at_all_is_a_graph():
    graph = flat([], [input_key("x")])
    assert (len(graph), graph.outputs, len(graph.inputs)) == (0, (), 1)


class One(Operation):
    input_count = 0
    literal = True


def test_a_known_literal_stays_in_the_program():
    """a literal is no input, whether its operand is known or not, and never retires"""
    one = derive_one(One(), ())
    one.operand = 1
    retire(one)
    graph = materialize_merge(KeyView(), [derive_one(Neg(), (one,))])
    assert (graph.inputs, one.operation, len(graph)) == ((), One(), 2)
