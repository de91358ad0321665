"""Long programs in parts: what repeats is compiled once; values live no longer than they must.

What does not repeat itself is one function.
"""

import weakref

import numpy as np
import pytest

from tenferro import primitives as tp
from tenferro.backend import Lowerings, LoweringTable
from tenferro.computegraph import KeyView, compile_program, materialize_merge
from tenferro_numpy import executable as executables
from tenferro_numpy.backend import NumpyBackend
from tenferro_numpy.execution import codegen, codegen_chunks
from tenferro_numpy.execution.codegen import generate


def program_of(function, *shapes):
    xs = [tp.variable(f"x{i}", shape, "float64") for i, shape in enumerate(shapes)]
    results = function(*xs)
    keys = [result.key for result in results]
    return compile_program(materialize_merge(KeyView(), keys, inputs=[x.key for x in xs]))


def turns(count, residuals=False):
    """An unrolled loop, and what reads its values in the opposite order."""

    def function(x, a):
        kept = []
        for _ in range(count):
            kept.append(x)
            x = tp.sin(x) * a + tp.cos(x * 0.5) - tp.tanh(a)
        if residuals:
            for value in reversed(kept):
                x = x * tp.cos(value) - tp.exp(-value)
        return x, x * 2.0

    return function


def by_hand(count, x, a):
    for _ in range(count):
        x = np.sin(x) * a + np.cos(x * 0.5) - np.tanh(a)
    return x, x * 2.0


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("residuals", [False, True])
def test_more_turns_are_no_more_text(backend, shape, residuals):
    plans = []
    for count in (300, 1200):
        program = program_of(turns(count, residuals), shape, shape)
        plans.append(backend.compile(program, program.input_avals).plan)
    few, many = (generate(plan, fast=plan.raises) for plan in plans)
    assert many.new_lines < few.new_lines + 100 < len(plans[0].lines)
    assert few.text.count("def make") < 12


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("count", [90, 100, 101, 350])
def test_parts_give_what_the_interpreter_gives(backend, shape, count):
    program = program_of(turns(count, residuals=True), shape, shape)
    xs = np.full(shape, 0.3), np.full(shape, 0.7)
    results = [
        [r.tobytes() for r in backend.compile(program, program.input_avals, {"executor": e})(*xs)]
        for e in ("interpret", "source")
    ]
    assert results[0] == results[1]
    program = program_of(turns(count), shape, shape)
    got = backend.compile(program, program.input_avals, {"executor": "source"})(*xs)
    np.testing.assert_allclose(got, by_hand(count, *xs), rtol=1e-9)


def different(count, turns=1):
    """A program whose lines come in an order of their own, and this several times."""

    def function(x, a):
        steps = [tp.sin, tp.neg, lambda v: v * a, lambda v: a + v, tp.exp]
        for i in [*range(count)] * turns:
            x = steps[hash((i, 1.5)) % 5](x)
        return (x,)

    return function


@pytest.mark.parametrize(
    "turns, longest, is_one_function",
    [(1, 5000, True), (2, 5000, True), (4, 5000, False), (1, 550, False)],
)
def test_lines_that_do_not_repeat_are_one_function(
    backend, monkeypatch, turns, longest, is_one_function
):
    """Four times 600 lines have fewer lines to compile in parts; two times leave too many."""
    monkeypatch.setattr(codegen, "_MAX_LINES_IN_ONE_FUNCTION", longest)
    program = program_of(different(600, turns), (20,), (20,))
    plan = backend.compile(program, program.input_avals).plan
    text = generate(plan).text
    assert len(plan.lines) > codegen._MIN_LINES_TO_DIVIDE
    assert text.startswith("def make(") is is_one_function


def test_parts_cover_every_line_once(backend):
    program = program_of(turns(700, residuals=True), (2,), (2,))
    lines = backend.compile(program, program.input_avals).plan.lines
    parts = codegen_chunks.cut(lines)
    assert [begin for begin, _ in parts] == [0, *[end for _, end in parts[:-1]]]
    assert parts[-1][1] == len(lines)
    assert max(end - begin for begin, end in parts) <= codegen_chunks._MAX_LINES_OF_PART


@pytest.mark.parametrize("executor", ["interpret", "source"])
def test_values_are_freed_at_their_last_use_in_parts(backend, monkeypatch, executor):
    """How many values of the program are alive when each has just been made."""
    monkeypatch.setattr(codegen_chunks, "_MIN_LINES_OF_PART", 20)
    monkeypatch.setattr(codegen_chunks, "_MAX_LINES_OF_PART", 30)
    made_so_far, alive = [], []

    def probe(op, x, *others):
        result = x + 1
        made_so_far.append(weakref.ref(result))
        alive.append(sum(there() is not None for there in made_so_far))
        return result

    lowerings = Lowerings()
    lowerings.register(tp.Sin)(probe)
    own = NumpyBackend(backend.config)
    own.name, own.lowerings = "numpy", LoweringTable("numpy", lowerings)

    def function(x):
        early = [tp.sin(x)]
        for _ in range(40):
            early.append(tp.sin(early[-1]))
        y = early.pop()
        for _ in range(600):
            y = tp.sin(y)
        return (y,)

    program = program_of(function, (2,))
    own.compile(program, program.input_avals, {"executor": executor})(np.ones(2))
    assert max(alive) == 2


def test_a_program_that_repeats_itself_is_compiled_by_its_second_run(backend):
    for count, state in ((1000, "compiled"), (0, "interpreted so far")):

        def function(x, a, count=count):
            for i in range(3000):
                step = i % 5 if count else hash((i, 1.5)) % 5
                operation = (tp.sin, tp.neg, lambda v: v * a, lambda v: a + v, tp.exp)[step]
                x = operation(x)
            return (x,)

        program = program_of(function, (2,), (2,))
        executable = backend.compile(program, program.input_avals)
        executable.prepare()
        for _ in range(executables._RUNS_OF_PREPARED + 1):
            executable(np.full(2, 0.1), np.full(2, 0.2))
        assert state in executable.explain().split("\n")[0]
    assert executables._LONGEST_PREPARED < 3000


@pytest.mark.parametrize("where", [0, 1, 450, 899, 900])
def test_an_error_in_equal_parts_names_its_own_line(backend, where):
    """Parts share their code, so the line of the text alone does not say which equation it was."""

    def function(x, y, zero):
        for i in range(901):
            x = tp.div(x + y, zero if i == where else y)
        return (x,)

    xs = [tp.variable(name, (2,), "int64") for name in "xyz"]
    (result,) = function(*xs)
    graph = materialize_merge(KeyView(), [result.key], inputs=[x.key for x in xs])
    program = compile_program(graph)
    executable = backend.compile(program, program.input_avals, {"executor": "source"})
    one = np.ones(2, "int64")
    with pytest.raises(ZeroDivisionError) as caught:
        executable(one, one, 0 * one)
    equation = next(note for note in caught.value.__notes__ if "equation" in note)
    assert f"%{3 + 2 * where + 1} = div" in equation
