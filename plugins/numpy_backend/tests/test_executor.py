"""The executable: sharing, freeing, errors, long programs, threads, reports."""

import sys
import threading
import weakref

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro.backend import LoweringError, Lowerings, LoweringTable
from tenferro.computegraph import OperandError, compile_program, derive_one, flatten
from tenferro_numpy import executable as executables
from tenferro_numpy.backend import NumpyBackend
from tenferro_numpy.execution.codegen import generate

X = np.arange(1.0, 7.0).reshape(2, 3)


def chain(length, shape=()):
    """x ← sin x, −x, sin x, … in one program, recorded without recursion."""
    x = tp.variable("x", shape, "float64")
    key, steps = x.key, (tp.Sin(), tp.Neg())
    for i in range(length):
        key = derive_one(steps[i & 1], (key,))
    return compile_program(flatten([x.key], [key], lambda key: key.definition))


def chain_by_hand(length, x):
    for i in range(length):
        x = -x if i & 1 else np.sin(x)
    return x


# ---- results -------------------------------------------------------------------------------------


def test_results_alias_nothing(check):
    def outputs(x):
        double = x + x
        return (
            x,
            x,
            double,
            double,
            tp.transpose(double, (1, 0)),
            tp.slice(double, (0, 0), (1, 3)),
            tp.constant(1.0, "float64", (2,)),
            tp.constant(1.0, "float64", (2,)),
            tp.iota((3,), 0, "int64"),
        )

    one, iota = np.ones(2), np.arange(3)
    expected = (X, X, 2 * X, 2 * X, 2 * X.T, 2 * X[:1], one, one, iota)
    check(outputs, [X], expected)


def test_a_part_of_a_repeated_array_can_be_written_to(run):
    """It has as many elements as the array that is repeated, and lies in its memory."""

    def function(x):
        repeated = tp.broadcast_in_dim(tp.exp(x), (3, *x.shape), (1,))
        return tp.slice(repeated, (1, 0), (2, x.shape[0]))

    x = np.linspace(0, 1, 5000)
    (result,) = run(function, x)
    assert result.flags.writeable
    np.testing.assert_array_equal(result, np.exp(x)[None])


def test_a_transposed_new_array_is_not_copied(backend, program):
    made = program(lambda x: tp.transpose(x + x, (1, 0)), X)
    (result,) = backend.compile(made, made.input_avals).plan.results
    assert not result.copied


def test_rank_zero_results_are_arrays(run):
    results = run(
        lambda x, y: (x + y, tp.reduce_sum(y + x, ()), x, y * 2), np.array(1.5), np.array(2.0)
    )
    assert [type(r) for r in results] == [np.ndarray] * 4
    assert [r.shape for r in results] == [()] * 4
    assert [float(r) for r in results] == [3.5, 3.5, 1.5, 4.0]


@pytest.mark.parametrize("executor", ["interpret", "source"])
def test_values_are_freed_at_their_last_use(backend, program, executor):
    """How many values of this program are alive when each has just been made."""
    made_so_far, alive = [], []

    def probe(op, x, *others):
        result = x + 1
        made_so_far.append(weakref.ref(result))
        alive.append(sum(there() is not None for there in made_so_far))
        return result

    lowerings = Lowerings()
    for primitive in (tp.Sin, tp.Add):
        lowerings.register(primitive)(probe)
    own = NumpyBackend(backend.config)
    own.name, own.lowerings = "numpy", LoweringTable("numpy", lowerings)

    def tree(x):
        left, right = tp.sin(x), tp.sin(tp.sin(x))
        return tp.sin(tp.sin(left + right))

    made = program(tree, X)
    own.compile(made, made.input_avals, {"executor": executor})(X)
    assert alive == [1, 2, 3, 2, 2]


def test_somebody_elses_lowering_is_called_and_copied(backend, program):
    lowerings = Lowerings()
    lowerings.register(tp.Sin)(lambda op, x: x[::-1])
    own = NumpyBackend(backend.config)
    own.name, own.lowerings = "numpy", LoweringTable("numpy", lowerings)
    made = program(tp.sin, X)
    for executor in ("interpret", "source"):
        (result,) = own.compile(made, made.input_avals, {"executor": executor})(X)
        np.testing.assert_array_equal(result, X[::-1])
        assert not np.shares_memory(result, X)


# ---- plans and source ----------------------------------------------------------------------------


def test_equal_structures_share_a_plan_and_a_code_object(backend, program):
    first, second = (program(lambda x: tp.exp(x) * x, X) for _ in range(2))
    executables = [
        backend.compile(p, p.input_avals, {"executor": "source"}) for p in (first, second)
    ]
    assert executables[0].plan is executables[1].plan
    other = program(lambda x: tp.exp(x) * x, X[:1])
    plan = backend.compile(other, other.input_avals).plan
    codes = {generate(p).compile().__code__ for p in (executables[0].plan, plan)}
    assert len(codes) == 1


def test_nothing_of_the_user_reaches_the_source(backend):
    x = tp.variable("'); import os; ('", (2,), "float64")
    key = (x * tp.constant(0.12345, "float64", (2,))).key
    program = compile_program(flatten([x.key], [key], lambda key: key.definition))
    text = generate(backend.compile(program, program.input_avals).plan).text
    assert "import" not in text
    assert "0.12345" not in text


def test_source_is_generated_when_it_pays(backend, program, monkeypatch):
    monkeypatch.setattr(executables, "RUNS_BEFORE_SOURCE", 3)
    made = program(lambda x: x + x, X)
    executable = backend.compile(made, made.input_avals)
    for _ in range(3):
        executable(X)
        assert "interpreted so far" in executable.explain()
    executable(X)
    assert "compiled" in executable.explain()


def test_a_program_that_will_run_often_is_compiled_after_a_few_runs(backend, program, monkeypatch):
    made = program(lambda x: x + x, X)
    for longest, state in ((1, "compiled"), (0, "interpreted so far")):
        monkeypatch.setattr(executables, "_LONGEST_PREPARED", longest)
        executable = backend.compile(made, made.input_avals)
        executable.prepare()
        for _ in range(executables._RUNS_OF_PREPARED):
            np.testing.assert_array_equal(executable(X)[0], X + X)
            assert "interpreted so far" in executable.explain()
        np.testing.assert_array_equal(executable(X)[0], X + X)
        assert state in executable.explain()


@pytest.mark.parametrize(
    "options, state",
    [
        ({"executor": "source"}, "compiled"),
        ({"executor": "interpret"}, "interpreted so far"),
        ({"executor": "source", "debug": True}, "interpreted so far"),
    ],
)
def test_what_is_asked_for_is_made_before_the_first_run(backend, program, options, state):
    made = program(lambda x: x + x, X)
    executable = backend.compile(made, made.input_avals, options)
    executable.prepare()
    assert state in executable.explain()
    np.testing.assert_array_equal(executable(X)[0], X + X)
    assert state in executable.explain()


def test_an_unknown_executor_is_refused(backend, program):
    made = program(tp.neg, X)
    with pytest.raises(ValueError, match="interpret"):
        backend.compile(made, made.input_avals, {"executor": "jit"})


def test_broadcasts_are_left_to_the_ufunc(backend, program):
    shape = 3, 300  # in a small array it costs less to expand the operand before

    def affine(x, b):
        return x * tp.constant(2.0, "float64", shape) + tp.broadcast_in_dim(b, shape, (1,))

    x = np.linspace(-1.0, 1.0, 900).reshape(shape)
    made = program(affine, x, x[0])
    plan = backend.compile(made, made.input_avals).plan
    assert len(plan.lines) == 2
    assert [literal.shape for literal in plan.literals] == [()]


# ---- long programs -------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [999, 1000, 1001, 2500])
def test_programs_of_several_functions(backend, length):
    program = chain(length, (2,))
    x = np.array([0.3, 0.7])
    for executor in ("interpret", "source"):
        (result,) = backend.compile(program, program.input_avals, {"executor": executor})(x)
        np.testing.assert_array_equal(result, chain_by_hand(length, x))


def test_values_that_live_across_functions(backend, program):
    def long_and_wide(x, y):
        early = [x * float(i) for i in range(5)]
        for i in range(2200):
            y = tp.sin(y) if i & 1 else -y
        for value in early:
            y = y + value
        return y, early[0], x

    made = program(long_and_wide, X, X)
    results = [
        backend.compile(made, made.input_avals, {"executor": executor})(X, X)
        for executor in ("interpret", "source")
    ]
    for left, right in zip(*results, strict=True):
        np.testing.assert_array_equal(left, right)


def test_twenty_thousand_instructions(backend):
    assert sys.getrecursionlimit() <= 1100
    program = chain(20_000)
    (result,) = backend.compile(program, program.input_avals)(np.array(0.5))
    assert result == chain_by_hand(20_000, np.float64(0.5))
    source = backend.compile(program, program.input_avals, {"executor": "source"})
    assert source(np.array(0.5))[0] == result


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", ["interpret", "source"])
@pytest.mark.parametrize("length", [3, 1500])
def test_errors_carry_the_equation(backend, program, executor, length):
    def divide(x, y):
        for _ in range(length):
            x = x + y
        return tp.div(x, y) + x

    x, y = np.array([1, 2]), np.array([1, 0])
    made = program(divide, x, y)
    executable = backend.compile(made, made.input_avals, {"executor": executor})
    with pytest.raises(ZeroDivisionError) as caught:
        executable(x, y)
    notes = "\n".join(caught.value.__notes__)
    assert f"%{length + 2} = div %{length + 1} %1" in notes
    assert "tenferro-numpy" in notes
    executable(x, np.array([1, 1]))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_operands(backend, program, count):
    made = program(tp.add, X, X)
    with pytest.raises(OperandError):
        backend.compile(made, made.input_avals)(*[X] * count)


def test_debug_checks_operands_and_results(backend, program):
    made = program(tp.sin, X)
    with pytest.raises(OperandError) as caught:
        backend.compile(made, made.input_avals, {"debug": True})(X.astype("float32"))
    assert caught.value.input == "x0"
    lowerings = Lowerings()
    lowerings.register(tp.Sin)(lambda op, x: x.astype("float32"))
    own = NumpyBackend(backend.config)
    own.name, own.lowerings = "numpy", LoweringTable("numpy", lowerings)
    with pytest.raises(LoweringError) as broken:
        own.compile(made, made.input_avals, {"debug": True})(X)
    assert broken.value.primitive == "std::sin"


# ---- threads -------------------------------------------------------------------------------------


def test_many_threads(backend, program, monkeypatch):
    """Threads that run one program, while it is compiled, have their own results"""
    monkeypatch.setattr(executables, "RUNS_BEFORE_SOURCE", 50)
    made = program(lambda x, y: tp.sin(x) * y + tp.constant(1.0, "float64", (2, 3)) * x, X, X)
    executable = backend.compile(made, made.input_avals)
    wrong = []

    def work(seed):
        x = X + seed
        for _ in range(100):
            (result,) = executable(x, X)
            if not np.array_equal(result, np.sin(x) * X + x):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- reports -------------------------------------------------------------------------------------


def test_explain_and_profile(backend, program):
    made = program(lambda x: tp.reduce_sum(tp.dot_general(x, x, (1,), (1,)), (0, 1)), X)
    executable = backend.compile(made, made.input_avals)
    text = executable.explain()
    assert "def program(r0):" in text
    assert ".dot(" in text
    assert executable.cost()[0] == 2 * 4 * 3 + 4
    timings = executable.profile(X)
    assert [row.equation.split()[2].split("[")[0] for row in timings] == [
        "dot_general",
        "reduce_sum",
    ]
    assert timings.total > 0
