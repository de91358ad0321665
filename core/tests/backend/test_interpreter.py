"""The interpreter that every backend gets: results, errors, frees, explanations, profiles."""

import pytest

from tenferro.backend import Backend, BackendConfig, LoweringError, Lowerings, UnsupportedError
from tenferro.computegraph import OperandError
from tenferro.primitives import Add, Constant, Mixed, Mul, Sin, bind_all, sin


class SumAndProduct(Mixed):
    """x + y, x y"""

    key = "test::sum_and_product"
    output_count = 2

    def abstract_eval(self, x, y):
        return x, x


@pytest.fixture
def lowerings():
    """Arithmetic of floats; `sin` fails."""
    found = Lowerings()
    found.register(Add)(lambda operation, x, y: x + y)
    found.register(Mul)(lambda operation, x, y: x * y)
    found.register(Constant)(lambda operation: float(operation.value))
    found.register(Sin)(lambda operation, x: 1 / 0)
    found.register(SumAndProduct)(lambda operation, x, y: (x + y, x * y))
    return found


def test_a_program_runs(variable, program, numbers, lowerings):
    x, y = variable("x"), variable("y")
    run = numbers(lowerings).compile(program([x, y], [x + y * y, x]), ())
    assert run(2.0, 3.0) == (11.0, 2.0)
    assert run(1.0, 1.0) == (2.0, 1.0)


def test_several_outputs(variable, program, numbers, lowerings):
    """An instruction of two outputs gives both: x + y and x·y"""
    x, y = variable("x"), variable("y")
    run = numbers(lowerings).compile(program([x, y], bind_all(SumAndProduct(), x, y)), ())
    assert run(2.0, 3.0) == (5.0, 6.0)


def test_literals_are_evaluated_once(variable, program, numbers, lowerings):
    calls = []
    lowerings.register(Constant, priority=1)(lambda operation: calls.append(1) or 5.0)
    x = variable("x")
    run = numbers(lowerings).compile(program([x], [x + 5.0]), ())
    assert [run(1.0), run(2.0)] == [(6.0,), (7.0,)]
    assert calls == [1]


def test_results_are_fresh(variable, program, numbers):
    found = Lowerings()
    found.register(Add)(lambda operation, x, y: x)  # a view, as far as anybody knows
    x, y = variable("x"), variable("y")
    run = numbers(found).compile(program([x, y], [x + y, x + y, x]), ())
    operand = [1.0]
    results = run(operand, [2.0])
    assert results == ([1.0], [1.0], [1.0])
    assert len({id(r) for r in (*results, operand)}) == 4


def test_values_are_freed_after_their_last_use(variable, program, numbers):
    class Value:
        alive = 0

        def __init__(self):
            Value.alive += 1

        def __del__(self):
            Value.alive -= 1

        def copy(self):
            return Value()

    most = []
    found = Lowerings()
    found.register(Add)(lambda operation, x, y: most.append(Value.alive) or Value())
    x = y = variable("x")
    for _ in range(20):
        y = y + y
    numbers(found).compile(program([x], [y]), ())(1.0)
    assert max(most) == 1
    assert Value.alive == 0


@pytest.mark.parametrize("operands", [(1.0,), (1.0, 2.0, 3.0)])
def test_operands_are_counted(variable, program, numbers, lowerings, operands):
    x, y = variable("x"), variable("y")
    run = numbers(lowerings).compile(program([x, y], [x + y]), ())
    with pytest.raises(OperandError) as caught:
        run(*operands)
    assert caught.value.input == "y"


def test_an_error_carries_the_equation_the_provider_and_stays_what_it_is(
    variable, program, numbers, lowerings
):
    x = variable("x")
    backend = numbers(lowerings)
    backend.provider = "tenferro-numbers 1.0"
    run = backend.compile(program([x], [sin(x)]), ())
    with pytest.raises(ZeroDivisionError) as caught:
        run(1.0)
    equation, lowering, *_ = caught.value.__notes__
    assert equation.split() == ["equation", *"%1 = sin %0 : f64[] %0: f64[]".split()]
    assert lowering == "  lowering   std::sin on numbers, by tenferro-numbers 1.0"


@pytest.mark.parametrize("results", [1.0, (1.0,), (1.0, 2.0, 3.0)])
def test_a_lowering_of_two_outputs_must_give_two(variable, program, numbers, lowerings, results):
    lowerings.register(SumAndProduct, priority=1)(lambda operation, x, y: results)
    x, y = variable("x"), variable("y")
    run = numbers(lowerings).compile(program([x, y], bind_all(SumAndProduct(), x, y)), ())
    with pytest.raises(LoweringError, match="need a tuple of 2") as caught:
        run(1.0, 2.0)
    assert caught.value.primitive == "test::sum_and_product"


def test_explain_says_who_runs_each_line(variable, program, numbers, lowerings):
    x, y = variable("x"), variable("y")
    records = [type(r)(r.primitive, r.target, provider="dist 1") for r in lowerings]
    text = numbers(records).compile(program([x, y], [x + y]), ()).explain()
    lines = text.splitlines()
    assert lines[0] == "numbers: interpreted, one call per line"
    assert lines[1].split() == ["%2", "=", "add", "%0", "%1", ":", "f64[]", "#", "dist", "1"]
    assert lines[2] == "  return %2"


def test_profile_times_every_equation(variable, program, numbers, lowerings):
    x, y = variable("x"), variable("y")
    timings = numbers(lowerings).compile(program([x, y], [x + y * y]), ()).profile(1.0, 2.0)
    assert [row.equation.split()[2] for row in timings] == ["mul", "add"]
    assert timings.total == sum(row.seconds for row in timings) > 0
    assert [event["ph"] for event in timings.to_chrome()] == ["X", "X"]
    assert str(timings).endswith("total")


@pytest.mark.parametrize("option", ["mesh", "in_shardings", "out_shardings"])
def test_sharding_is_refused_by_name(variable, program, numbers, lowerings, option):
    x = variable("x")
    with pytest.raises(UnsupportedError, match='backend="xla"') as caught:
        numbers(lowerings).compile(program([x], [x + x]), (), {option: object()})
    assert (caught.value.feature, caught.value.instead) == ("sharding", "xla")


def test_a_backend_without_its_four_methods_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        Backend()


def test_configurations_are_equal_when_their_settings_are():
    one = BackendConfig(device="gpu:1", options={"a": 1, "b": 2})
    same = BackendConfig(device="gpu:1", options={"b": 2, "a": 1})
    assert one.identity == same.identity
    assert hash(one.identity) == hash(same.identity)
    assert one.identity != BackendConfig(device="gpu:1").identity
