"""A program is instructions over slots; a slot is written once and freed at its last use."""

import pickle

import pytest
from toy_graphs import (
    Dup,
    Exp,
    Mul,
    Neg,
    add,
    dup,
    exp,
    flat,
    input_key,
    mul,
    names,
    neg,
    program,
    sub,
)

from tenferro.computegraph import MaterializedGraph, compile_program


def samples():
    x, a = names("x", "a")
    first, second = dup(exp(x))
    return {
        "chain": program([exp(mul(a, x))], [x, a]),
        "sharing": program([add(exp(x), mul(exp(x), a))], [x, a]),
        "slots": program([mul(first, a), second, x], [a, x]),
        "unused": program([neg(dup(x)[1])], [a, x]),
        "inputs": program([x, x, a], [x, a]),
        "doublings": program([add(add(x, x), add(x, x))]),
    }


@pytest.mark.parametrize("name", samples())
def test_every_slot_is_written_once(name):
    made = samples()[name]
    written = [*made.inputs, *(i for step in made.instructions for i in step.outputs)]
    assert written == list(range(made.slot_count))


@pytest.mark.parametrize("name", samples())
def test_a_slot_is_freed_exactly_at_its_last_use(name):
    made = samples()[name]
    last = {
        i: at for at, step in enumerate(made.instructions) for i in (*step.outputs, *step.inputs)
    }
    freed = {i: at for at, step in enumerate(made.instructions) for i in step.frees}
    assert freed == {i: at for i, at in last.items() if i not in made.outputs}
    assert sum(len(step.frees) for step in made.instructions) == len(freed)


def test_an_unread_slot_is_freed_where_it_is_written():
    step = samples()["unused"].instructions[0]
    assert (step.operation, step.outputs, step.frees) == (Dup(), (2, 3), (2, 1))


def test_outputs_are_never_freed():
    made = program([exp(input_key("x")), neg(exp(input_key("x")))])
    assert [step.frees for step in made.instructions] == [(0,), ()]


def test_a_program_states_its_interface():
    x, a = names("x", "a")
    made = program([exp(mul(a, x)), x], [x, a])
    assert (made.input_names, made.inputs, made.outputs) == (("x", "a"), (0, 1), (3, 0))
    assert (made.input_avals, made.output_avals) == (("f64", "f64"), ("f64", "f64"))
    assert [step.operation for step in made.instructions] == [Mul(), Exp()]
    assert (len(made), made.slot_count, made.avals) == (2, 4, ("f64",) * 4)


def test_structure_is_equal_for_programs_that_differ_in_names():
    first = program([exp(mul(*names("x", "a")))])
    second = program([exp(mul(*names("p", "q")))])
    assert first.structure == second.structure
    assert hash(first.structure) == hash(second.structure)


def test_structure_differs_where_programs_differ():
    x, a = names("x", "a")
    made = [
        program([sub(x, a)], [x, a]),
        program([sub(a, x)], [x, a]),
        program([sub(x, x)], [x, a]),
        program([sub(x, x)], [x]),
        program([sub(x, a), x], [x, a]),
        program([sub(x, a)] * 2, [x, a]),
        program([mul(x, a)], [x, a]),
        program([], [x, a]),
        program([], [x]),
    ]
    assert len({one.structure for one in made}) == len(made)
    assert made[0].structure != "something else"


def test_structure_ignores_avals():
    double, single = (flat([exp(input_key("x", aval))]) for aval in ("f64", "f32"))
    assert double.structure == single.structure


def test_structure_belongs_to_graph_and_program_alike():
    graph = flat([exp(input_key("x"))])
    assert graph.structure == compile_program(graph).structure


def test_passes_rewrite_the_graph_in_order():
    seen = []

    def without_the_last(graph):
        seen.append(len(graph))
        return MaterializedGraph(graph.inputs, graph.nodes[:-1], [1], graph.avals[:-1])

    x = input_key("x")
    made = compile_program(flat([neg(exp(neg(x)))]), passes=[without_the_last] * 2)
    assert seen == [3, 2]
    assert [step.operation for step in made.instructions] == [Neg()]


@pytest.mark.parametrize("name", samples())
def test_programs_pickle(name):
    """loads(dumps(program)) = program"""
    made = samples()[name]
    again = pickle.loads(pickle.dumps(made))
    assert again.instructions == made.instructions
    assert (again.input_names, again.outputs) == (made.input_names, made.outputs)
    assert (again.avals, again.structure) == (made.avals, made.structure)


def test_a_program_prints(golden):
    golden("program_slots", samples()["slots"])
    assert repr(samples()["slots"]) == "<CompiledProgram of 3 instructions>"
