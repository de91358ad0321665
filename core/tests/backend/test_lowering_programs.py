"""Whole programs: what is decomposed, what stays, and what is missing."""

import pytest
from toy_lowerings import (
    Countdown,
    Double,
    Grows,
    Loop,
    Quadruple,
    Two,
    Wrong,
    fake,
    names,
    native,
    table,
)

from tenferro.backend import DecompositionCycleError, Lowering, LoweringError, MissingLoweringError
from tenferro.primitives import Aval, bind, bind_all, exp, sin

# ---- whole programs --------------------------------------------------------------------------


def test_a_program_that_runs_is_left_as_it_is(variable, program):
    x = variable("x")
    one = program([x], [sin(x)])
    assert native("std::sin").close(one) is one


def test_decompositions_are_spliced_and_merged(variable, program):
    x = variable("x")
    before = program([x], [bind(Quadruple(), x), bind(Double(), x)])
    after = native("std::add").close(before)
    assert [line.split() for line in str(after).splitlines()] == [
        ["program(x:", "f64[])", "{"],
        ["%1", "=", "add", "%0", "%0", ":", "f64[]"],
        ["%2", "=", "add", "%1", "%1", ":", "f64[]"],
        ["return", "%2,", "%1"],
        ["}"],
    ]


def test_a_lowering_is_preferred_to_a_decomposition(variable, program):
    x = variable("x")
    after = native("test::double").close(program([x], [bind(Quadruple(), x)]))
    assert names(after) == ["double", "double"]


def test_the_input_order_and_repeated_outputs_are_kept(variable, program):
    x, y = variable("x"), variable("y")
    double = bind(Double(), y)
    after = native("std::add").close(program([x, y], [double, double, x]))
    assert after.input_names == ("x", "y")
    assert after.outputs == (2, 2, 0)


def test_an_output_may_be_an_input_of_the_decomposition(variable, program):
    x = variable("x")
    first, _ = bind_all(Two(), x)
    after = native("std::add", "std::sin", "std::exp").close(program([x], [first]))
    assert (names(after), after.outputs) == ([], (0,))


def test_structure_tells_closed_programs_apart(variable, program):
    x, y = variable("x"), variable("y")
    adds = native("std::add")
    one = adds.close(program([x], [bind(Double(), x)]))
    assert one.structure == adds.close(program([y], [bind(Double(), y)])).structure
    assert one.structure != adds.close(program([x], [bind(Quadruple(), x)])).structure


def test_slots_are_freed_after_their_last_use(variable, program):
    x = variable("x")
    after = native("std::add").close(program([x], [bind(Quadruple(), x)]))
    assert [instruction.frees for instruction in after.instructions] == [(0,), (1,)]


def test_a_decomposition_is_traced_once_per_operation_and_avals(variable, program, monkeypatch):
    traced = []
    monkeypatch.setattr(Double, "decompose", lambda self, x: traced.append(x.aval) or x * 3)
    x, y, z = variable("x", (7,)), variable("y", (7,)), variable("z", (8,))
    outputs = [bind(Double(), v) for v in (x, y, z)]
    table = native("std::mul", "std::constant", "std::broadcast_in_dim")
    table.close(program([x, y, z], outputs))
    table.close(program([x, y, z], outputs))
    assert traced == [Aval((7,), "float64"), Aval((8,), "float64")]


def test_deep_decompositions_need_no_recursion(variable, program):
    x = variable("x")
    after = native("std::add").close(program([x], [bind(Countdown(150), x)]))
    assert len(after) == 150


def test_long_programs_need_no_recursion(variable, program):
    x = y = variable("x")
    for _ in range(5000):
        y = bind(Double(), y)
    assert len(native("std::add").close(program([x], [y]))) == 5000


def test_every_gap_of_the_program_is_listed_once(variable, program):
    x = variable("x")
    _, second = bind_all(Two(), x)
    outputs = [exp(exp(x)), second, x * x, exp(variable("s", (), "float32"))]
    one = program([x], outputs)
    with pytest.raises(MissingLoweringError) as caught:
        native("std::mul").close(one)
    gaps = {(g.primitive, g.dtypes, g.within) for g in caught.value.gaps}
    assert gaps == {
        ("std::exp", ("float64",), ""),
        ("std::exp", ("float32",), ""),
        ("std::sin", ("float64",), "test::two"),
        ("std::exp", ("float64",), "test::two"),
    }


def test_the_text_of_gaps_is_complete(variable, program):
    x = variable("x")
    limited = table(
        Lowering("std::sin", fake("s"), dtypes={"float32"}),
        Lowering("std::exp", fake("e"), for_version=3),
    )
    with pytest.raises(MissingLoweringError) as caught:
        limited.close(program([x], [sin(x), exp(x)]))
    assert str(caught.value) == (
        "toy cannot run 2 operations of this program\n"
        "  missing    std::sin version 1 on (float64)\n"
        "    provider       tenferro.primitives.trigonometric\n"
        "    decomposition  none\n"
        "    lowered on     no installed backend\n"
        "    but            lowerings exist for float32\n"
        "  missing    std::exp version 1 on (float64)\n"
        "    provider       tenferro.primitives.elementwise\n"
        "    decomposition  none\n"
        "    lowered on     no installed backend\n"
        "    but            lowerings exist for version 3\n"
        "  hint       how to write a lowering or a decomposition: docs/add_a_primitive.md"
    )


@pytest.mark.parametrize(
    "operation, cycle",
    [
        (Loop(0), ("test::loop", "test::loop", "test::loop")),
        (Grows(0), ("test::grows",) * 11),
    ],
)
def test_a_cycle_through_parameters_is_found_when_it_is_used(variable, program, operation, cycle):
    x = variable("x")
    with pytest.raises(DecompositionCycleError) as caught:
        native("std::add").close(program([x], [bind(operation, x)]))
    assert caught.value.cycle == cycle


def test_a_decomposition_of_another_aval_is_refused(variable, program):
    x = variable("x")
    with pytest.raises(LoweringError, match=r"test::wrong: .* gives f64\[\], need f32\[\]"):
        native("std::add").close(program([x], [bind(Wrong(), x)]))


def test_a_decomposition_may_not_close_over_values(variable, program, monkeypatch):
    x, other = variable("x", (3,)), variable("other", (3,))
    monkeypatch.setattr(Double, "decompose", lambda self, x: x + other)
    with pytest.raises(LoweringError, match="its decomposition reads"):
        native("std::add").close(program([x], [bind(Double(), x)]))
