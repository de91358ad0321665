"""The reference interpreter: values, frees, and errors that name the input or the equation."""

import math
import weakref

import pytest
from toy_graphs import (
    Neg,
    add,
    chain,
    derive_one,
    dup,
    execute,
    exp,
    input_key,
    mul,
    names,
    neg,
    program,
    run,
    six_threads,
    sub,
)

from tenferro.computegraph import Graph, GraphError, OperandError, Operation, evaluate

E2 = math.exp(2)


class Box:
    """A number that can be watched."""

    def __init__(self, value):
        self.value = value


def test_add():
    """3 + 4 = 7"""
    assert run([add(*names("x", "y"))], names("x", "y"), 3, 4) == [7]


def test_exp_of_zero():
    assert run([exp(input_key("x"))], [input_key("x")], 0) == [1]


def test_two_outputs():
    """Both outputs of an operation are results"""
    x = input_key("x")
    assert run([*dup(x)], [x], 5) == [5, 5]


def test_exp_of_a_product():
    x, a = names("x", "a")
    assert run([exp(mul(a, x))], [x, a], 1, 2) == [pytest.approx(E2)]


def test_one_program_runs_twice():
    made = program([add(*names("x", "y"))], names("x", "y"))
    assert evaluate(made, execute, (1, 2)) == [3]
    assert evaluate(made, execute, (10, 20)) == [30]


def test_several_outputs():
    """A result that another result reads is kept: (ax, exp(ax))"""
    x, a = names("x", "a")
    assert run([mul(a, x), exp(mul(a, x))], [x, a], 1, 2) == [2, pytest.approx(E2)]


@pytest.mark.parametrize("cut", [False, True])
def test_one_graph_and_two_graphs_compute_the_same(cut):
    x, a = names("x", "a")
    parents = [Graph.of([x, a], [mul(a, x)])] if cut else []
    graph = Graph.of([] if cut else [x, a], [exp(mul(a, x))], parents=parents)
    made = program(graph.output_keys, [x, a])
    assert evaluate(made, execute, (2, 3)) == [pytest.approx(math.exp(6))]
    assert evaluate(made, execute, (0.5, 2)) == [pytest.approx(math.e)]


def test_a_value_added_to_itself():
    x = input_key("x")
    assert run([add(x, x)], [x], 5) == [10]


def test_a_chain_of_three():
    x = input_key("x")
    assert run([neg(exp(x))], [x], 0) == [-1]


def test_dup_then_add():
    x = input_key("x")
    assert run([add(*dup(x))], [x], 7) == [14]


def test_declared_order_is_the_order_of_operands():
    x, y = names("x", "y")
    assert run([sub(y, x)], [x, y], 2, 5) == [3]


@pytest.mark.parametrize(
    "operands, name", [((), "x"), ((1,), "a"), ((1, 2, 3), "a"), ((1, 2, 3, 4), "a")]
)
def test_a_missing_or_surplus_operand_names_the_input(operands, name):
    x, a = names("x", "a")
    with pytest.raises(OperandError) as error:
        run([mul(a, x)], [x, a], *operands)
    assert (error.value.input, error.value.got, error.value.need) == (name, len(operands), 2)
    assert repr(name) in str(error.value)


def test_an_operand_for_a_program_without_inputs_is_surplus():
    with pytest.raises(OperandError) as error:
        run([], [], 1)
    assert (error.value.input, error.value.got, error.value.need) == (None, 1, 0)


def test_an_ill_typed_operand_names_the_input():
    made = program([add(*names("x", "y"))], names("x", "y"))
    accepts = lambda aval, operand: aval == "f64" and type(operand) is float  # noqa: E731
    assert evaluate(made, execute, (1.0, 2.0), accepts=accepts) == [3.0]
    with pytest.raises(OperandError) as error:
        evaluate(made, execute, (1.0, "2"), accepts=accepts)
    assert (error.value.input, error.value.got, error.value.need) == ("y", "str", "f64")


def test_any_error_carries_the_equation():
    x, a = names("x", "a")
    with pytest.raises(OverflowError) as error:
        run([exp(mul(a, x))], [x, a], 1e3, 1.0)
    (note,) = error.value.__notes__
    assert note.split() == ["equation", "%3", "=", "exp", "%2", ":", "f64"]


def test_a_wrong_number_of_results_is_an_error():
    made = program([neg(input_key("x"))])
    with pytest.raises(GraphError, match="equation") as error:
        evaluate(made, lambda operation, operands: (1, 2), (1,))
    assert error.value.operation is Neg()


def test_an_operand_is_freed_at_its_last_use():
    alive = []

    def watch(operation, operands):
        alive.append([ref() is not None for ref in made])
        result = Box(-operands[0].value)
        made.append(weakref.ref(result))
        return (result,)

    made = []
    (last,) = evaluate(program([chain(input_key("x"), 4)]), watch, [Box(1)])
    assert last.value == 1
    assert alive == [[], [True], [False, True], [False, False, True]]


def test_an_operand_lives_until_its_last_use():
    x = input_key("x")
    early = neg(x)
    outputs = [sub(chain(early, 3), early)]
    assert run(outputs, [x], 2) == [4]


def test_zero_operations_and_no_outputs():
    x = input_key("x")
    assert run([x, x], [x], 3) == [3, 3]
    assert run([], [x], 3) == []


def test_an_operation_of_the_user_is_all_it_takes():
    join = type("Join", (Operation,), {"input_count": 2})
    x, y = names("x", "y")
    made = program([derive_one(join(), (y, x))], [x, y])
    assert evaluate(made, lambda operation, operands: ["".join(operands)], "ab") == ["ba"]


def test_threads_evaluate_one_program(impatient_threads):
    made = program([chain(input_key("x"), 101)])
    runs = six_threads(lambda i: [evaluate(made, execute, (i,)) for _ in range(20)])
    assert runs == [[[-i]] * 20 for i in range(6)]


def test_threads_record_materialize_and_compile(impatient_threads):
    def work(i):
        x, y = names("x", f"y{i % 2}")
        return run([exp(mul(chain(x, 50), chain(y, 50)))], [x, y], 0.5, 2.0)

    assert six_threads(lambda i: [work(i) for _ in range(20)]) == [[[math.e]] * 20] * 6
