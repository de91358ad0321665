"""Long programs: where they are cut, what is compiled once, and that nothing changes by it."""

import sys

import numpy as np
import pytest

from tenferro.computegraph import Fragment
from tenferro.primitives import (
    Aval,
    TensorPrimitive,
    add,
    concatenate,
    constant,
    convert,
    iota,
    mul,
    pad,
    reduce_sum,
    scan,
    sin,
    slice,
    sub,
    tanh,
    variable,
)
from tenferro.tidu import pullback
from tenferro_xla._options import CompileOptions
from tenferro_xla._policy import policy_for, work_if_fused
from tenferro_xla._segments import plan_segments

F64 = Aval((3,), "float64")


def chain(length):
    """A recurrence of four operations, written out."""

    def function(x, a):
        y = x
        for _ in range(length // 4):
            y = add(mul(tanh(y), a), sub(sin(y), x))
        return y

    return function


def doubling(length):
    """A recurrence of cheap elementwise operations: paths double in each step, indices do not."""

    def function(x, a):
        y = x
        for _ in range(length // 4):
            y = add(mul(mul(y, a), a), sub(y, x))
        return y

    return function


def stencil(length):
    """A recurrence that reads its last value and its neighbours, at ever more indices."""

    def function(x, a):
        y, (n,) = x, x.shape
        for _ in range(length // 4):
            left = slice(y, (0,), (n - 1,))
            y = add(mul(y, a), pad(left, 0, (1,), (0,), (0,)))
        return y

    return function


def chained(length, x, a):
    y = x
    for _ in range(length // 4):
        y = np.tanh(y) * a + (np.sin(y) - x)
    return y


def irregular(length, seed=0):
    """A directed graph without repetition, with far references."""

    def function(x, a):
        rng = np.random.default_rng(seed)
        values = [x, a]
        for _ in range(length):
            near = values[-40:]
            left, right = near[rng.integers(len(near))], near[rng.integers(len(near))]
            values.append([add, mul, sub][rng.integers(3)](tanh(left), right))
        return [values[-1], values[len(values) // 2], add(values[-1], values[len(values) // 3])]

    return function


def test_a_short_program_is_one_segment(programs):
    executable = programs.compile(chain(40), F64, F64)
    assert len(executable.plan.segments) == 1


@pytest.mark.parametrize("length", [1000, 5000])
def test_a_long_chain_compiles_one_segment_and_repeats_it(programs, length):
    executable = programs.compile(chain(length), F64, F64, segment_size=200)
    segments = executable.plan.segments
    assert len(segments) >= length // 200
    assert len({segment.structure for segment in segments}) <= 3
    assert len({id(step.run) for step in executable._own[0][0]}) <= 3
    x, a = np.array([0.1, -0.2, 0.3]), np.array([0.4, 0.5, -0.6])
    (found,) = executable(x, a)
    np.testing.assert_allclose(np.asarray(found), chained(length, x, a), rtol=1e-12)


def test_a_period_that_does_not_divide_the_size_still_repeats(programs):
    def function(x, a):
        y = add(x, a)  # an irregular beginning
        for _ in range(300):
            y = tanh(mul(sin(add(y, a)), a))
            y = sub(y, mul(x, y))
            y = mul(y, a)
        return y

    executable = programs.compile(function, F64, F64, segment_size=100)
    assert len(executable.plan.segments) > 15
    assert len({segment.structure for segment in executable.plan.segments}) <= 4


def gradient(function):
    """The value and the cotangents of both inputs."""

    def both(x, a):
        y = function(x, a)
        one = constant(1.0, "float64", y.shape)
        return [y, *pullback([y.key], [x.key, a.key], [one], space=TensorPrimitive.space)]

    return both


@pytest.mark.parametrize("length, options", [(300, {}), (1000, {"segment_size": 100})])
def test_the_gradient_of_a_long_chain(programs, length, options):
    """∇ of n operations, 3 n in all, against a difference along one direction"""
    executable = programs.compile(gradient(chain(length)), F64, F64, **options)
    assert len(executable.program) > 3 * length
    assert (len(executable.plan.segments) > 1) == bool(options)
    x, a = np.array([0.1, -0.2, 0.3]), np.array([0.4, 0.5, 0.6])
    value, ct_x, ct_a = map(np.asarray, executable(x, a))
    np.testing.assert_allclose(value, chained(length, x, a), rtol=1e-12)
    step = 1e-6
    along = chained(length, x + step, a + step) - chained(length, x - step, a - step)
    np.testing.assert_allclose(ct_x + ct_a, along / (2 * step), rtol=1e-5)


NO_FUSION = {"xla_disable_hlo_passes": "fusion"}


@pytest.mark.parametrize(
    "steps, length, size, dtype, limit, segment, options",
    [
        (chain, 3000, 3, "float64", 4000, 1000, {}),
        (chain, 3000, 100_000, "float64", 4000, 1000, {}),
        (chain, 40, 3, "float64", 256, 128, {}),
        (doubling, 3000, 100_000, "float64", 4000, 1000, {}),
        (stencil, 100, 2000, "float64", 4000, 1000, NO_FUSION),
        (stencil, 3000, 2000, "float64", 4000, 1000, NO_FUSION),
        (stencil, 3000, 100_000, "float64", 256, 128, {}),
        (stencil, 3000, 2000, "complex128", 256, 128, {}),
        (stencil, 8, 2000, "float64", 256, 128, {}),
    ],
)  # fmt: skip
def test_policy_follows_length_sharing_and_size_of_arrays(
    programs, steps, length, size, dtype, limit, segment, options
):
    inputs = [variable(name, (size,), dtype) for name in "xa"]
    function = steps(length)
    program = programs.program(inputs, [function(*inputs)])
    policy = policy_for(program, CompileOptions(), "cpu")
    assert (policy.limit, policy.size, policy.compiler_options) == (limit, segment, options)


def prefixes(length):
    """Every fourth value of a recurrence: each is a loop that makes all values before it again."""

    def function(x, a):
        values = [x]
        for _ in range(length):
            values.append(mul(values[-1], a))
        return values[4::4]

    return function


@pytest.mark.parametrize(
    "function, size, limit, segment, options",
    [
        (prefixes(600), 2000, 4000, 1000, {}),
        (prefixes(1000), 2000, 4000, 1000, NO_FUSION),  # too many copies
        (gradient(chain(60)), 2000, 256, 128, {}),
        (gradient(chain(300)), 2000, 4000, 1000, NO_FUSION),  # too many paths
        (gradient(chain(300)), 100_000, 4000, 1000, {}),  # where segments take even longer
        (gradient(chain(400)), 100_000, 256, 128, {}),
    ],
)
def test_policy_keeps_compile_time_to_seconds(programs, function, size, limit, segment, options):
    inputs = [variable(name, (size,), "float64") for name in "xa"]
    policy = policy_for(programs.program(inputs, function(*inputs)), CompileOptions(), "cpu")
    assert (policy.limit, policy.size, policy.compiler_options) == (limit, segment, options)


def work_of(programs, *results):
    """Copies and calls, an instruction on average."""
    program = programs.program([variable(name, (5,), "f64") for name in "xa"], results)
    copies, calls = work_if_fused(program)
    return copies / len(program), calls / len(program)


def test_values_are_copied_into_loops_and_called_where_indices_differ(programs):
    """Elementwise steps are called once in each loop; at two indices, once for each."""
    x, a = (variable(name, (5,), "f64") for name in "xa")
    assert work_of(programs, doubling(400)(x, a)) == (1, 1)
    y = add(x, a)
    assert work_of(programs, mul(y, a), sub(y, a)) == pytest.approx((4 / 3, 4 / 3))
    halves = mul(slice(y, (0,), (4,)), slice(y, (1,), (5,)))
    assert work_of(programs, halves) == pytest.approx((1, 5 / 4))
    equal = mul(slice(y, (0,), (4,)), sin(slice(y, (0,), (4,))))
    assert work_of(programs, equal) == pytest.approx((6 / 4, 6 / 4))


def joined_parts(length):
    """Each part of the result reads the steps of a recurrence at an index of its own."""

    def function(x, a):
        y, z = x, a
        for _ in range(length):
            y, z = sub(mul(y, z), y), add(mul(z, y), z)
        return concatenate([y, z], 0)

    return function


def test_calls_multiply_where_parts_of_a_concatenation_share_values(programs):
    """Both results of a step are functions then, which call those of the step before."""
    x, a = (variable(name, (5,), "f64") for name in "xa")
    found = [work_of(programs, joined_parts(n)(x, a)) for n in (5, 10, 20)]
    assert [copies for copies, _ in found] == [1, 1, 1]
    assert found[1][1] > 10 * found[0][1]
    assert found[2][1] > 100 * found[1][1]


def test_the_body_of_a_loop_counts_as_a_program_does(programs):
    """A body that shares much is compiled without fusion, in a program that does not."""
    x, a = (variable(name, (2000,), "f64") for name in "xa")
    for length, options in ((2, {}), (20, NO_FUSION)):
        parts = joined_parts(length)(x, a)
        body = Fragment.of([a.key, x.key], [slice(parts, (0,), (2000,)).key])
        program = programs.program([a, x], scan(body, (a,), (x,), (), 3))
        assert policy_for(program, CompileOptions(), "cpu").compiler_options == options


@pytest.mark.parametrize("length, said", [(8, False), (100, True)])
def test_explain_says_that_fusion_was_left_out(programs, length, said):
    executable = programs.compile(stencil(length), Aval((50,), "float64"), Aval((50,), "float64"))
    assert ("without XLA's fusion" in executable.explain()) == said


def test_the_users_options_win(programs):
    inputs = [variable(name, (3,), "f64") for name in "xa"]
    program = programs.program(inputs, [chain(4000)(*inputs)])
    options = CompileOptions(77, {"xla_disable_hlo_passes": ""})
    policy = policy_for(program, options, "cpu")
    assert (policy.limit, policy.size) == (77, 77)
    assert policy.compiler_options == {"xla_disable_hlo_passes": ""}


@pytest.mark.parametrize("size", [1, 7, 64, 1000, 0])
def test_cutting_changes_no_result(programs, size):
    x, a = np.array([0.3, -1.2, 2.0]), np.array([0.4, 0.5, -0.6])
    whole = programs.run(irregular(150), x, a, segment_size=0)
    parts = programs.run(irregular(150), x, a, segment_size=size)
    for got, want in zip(parts, whole, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("size", [2, 0])
def test_repeated_outputs_inputs_and_constants_come_out(programs, size):
    def function(x, y):
        one = constant(1.5, "float64", (3,))
        z = sin(add(x, one))
        w = mul(z, iota((3,), 0, "float64"))
        return [w, w, x, one, z, x, mul(w, one), one]

    x = np.array([0.1, 0.2, 0.3])
    w = np.sin(x + 1.5) * np.arange(3)
    one = np.full(3, 1.5)
    results = programs.compile(function, F64, F64, segment_size=size)(x, np.ones(3))
    for got, want in zip(results, [w, w, x, one, np.sin(x + 1.5), x, w * 1.5, one], strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)
    places = {array.unsafe_buffer_pointer() for array in results}
    assert len(places) == len(results)


def test_segments_that_differ_in_wiring_or_outputs_are_not_mistaken(programs):
    """The same two operations three times: as they are, crossed, and with both values kept."""

    def function(x, y):
        a = sub(sin(x), y)
        b = sub(y, sin(a))
        kept = sin(b)
        return mul(kept, sub(kept, y))

    executable = programs.compile(function, F64, F64, segment_size=2)
    structures = [segment.structure for segment in executable.plan.segments]
    assert [len(segment.positions) for segment in executable.plan.segments] == [2, 2, 2, 1]
    assert len(set(structures)) == 4
    x, y = np.array([0.1, 0.2, 0.3]), np.array([1.5, -0.5, 2.0])
    kept = np.sin(y - np.sin(np.sin(x) - y))
    np.testing.assert_allclose(np.asarray(executable(x, y)[0]), kept * (kept - y), rtol=1e-14)


def test_segments_of_other_shapes_and_dtypes_are_not_mistaken(programs):
    def function(x):
        total = reduce_sum(sin(x), (0,))
        return [sin(total), sin(convert(x, "float32"))]

    x = np.array([0.1, 0.2, 0.3])
    value, narrow = programs.run(function, x, segment_size=1)
    np.testing.assert_allclose(value, np.sin(np.sin(x).sum()), rtol=1e-14)
    np.testing.assert_allclose(narrow, np.sin(x.astype("float32")), rtol=1e-6)


@pytest.mark.parametrize("size", [1, 0])
def test_programs_without_work(programs, size):
    assert programs.compile(lambda: [])() == ()
    np.testing.assert_array_equal(
        programs.run(lambda: constant(2, "int32", (2,)), segment_size=size), [2, 2]
    )
    found = programs.run(lambda x: [x, x], np.ones(2), segment_size=size)
    np.testing.assert_array_equal(found, np.ones((2, 2)))


def test_values_between_segments_are_dropped_after_their_last_use(programs):
    executable = programs.compile(chain(40), F64, F64, segment_size=4)
    plan = executable.plan
    freed = [slot for segment in plan.segments for slot in segment.frees]
    kept = [slot for segment in plan.segments for _, slot in segment.outputs]
    assert sorted(freed + list(plan.results)) == sorted(kept)
    assert len(set(freed)) == len(freed)


def test_planning_is_linear(programs):
    """Four times the instructions are cut by about four times the calls of functions."""

    def calls(length):
        x, a = (variable(name, (3,), "f64") for name in "xa")
        program = programs.program([x, a], [chain(length)(x, a)])
        seen = []
        sys.setprofile(lambda frame, kind, argument: seen.append(kind))
        try:
            plan = plan_segments(program, frozenset(), 250)
        finally:
            sys.setprofile(None)
        assert len({segment.structure for segment in plan.segments}) <= 3
        return len(seen)

    assert calls(20_000) < 4.5 * calls(5_000)


def test_outputs_of_many_segments(programs):
    def function(x):
        results = []
        for k in range(12):
            x = sin(add(x, constant(float(k), "float64", (3,))))
            results.append(reduce_sum(x, (0,)))
        return results

    want, x = [], np.array([0.1, 0.2, 0.3])
    value = x
    for k in range(12):
        value = np.sin(value + k)
        want.append(value.sum())
    np.testing.assert_allclose(programs.run(function, x, segment_size=3), want, rtol=1e-14)


def test_profile_has_a_row_per_segment(programs):
    executable = programs.compile(chain(40), F64, F64, segment_size=10)
    timings = executable.profile(np.ones(3), np.ones(3))
    assert len(timings) == len(executable.plan.segments) > 1
    assert timings[0].equation.startswith("segment 1 of ")
    assert timings.total > 0


def test_explain_gives_costs_and_readable_hlo(programs):
    text = programs.compile(lambda x, y: sin(mul(x, y)), F64, F64).explain()
    assert text.startswith("xla: 2 equations in 1 segment(s), 1 compiled, on cpu:0")
    assert "flops" in text
    assert "f64[3]" in text
    assert "sine(" in text
    assert "metadata" not in text
