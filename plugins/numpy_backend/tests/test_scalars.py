"""Lines of rank 0 on Python's numbers: NumPy's values, dtypes and silence, in every executor."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tenferro import primitives as tp
from tenferro.computegraph import compile_program, derive_one, flatten
from tenferro.primitives import arithmetic, rounding, special
from tenferro_numpy import python_scalars
from tenferro_numpy.plan_passes import unboxing

PRIMITIVES = {getattr(made, "key", ""): made for made in (getattr(tp, n) for n in tp.__all__)}
INF, NAN = float("inf"), float("nan")
VALUES = [
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -3.0, 0.3, 700.0, 1e3, -1e3, 1e308,
    -1e308, 5e-324, 1e-310, 123456789.5, INF, -INF, NAN,
]  # fmt: skip
NUMPY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "abs": np.absolute, "sign": np.sign, "maximum": np.maximum, "minimum": np.minimum,
    "pow": np.power, "square": np.square, "sqrt": np.sqrt, "cbrt": np.cbrt,
    "rsqrt": lambda x: np.reciprocal(np.sqrt(x)), "clamp": lambda a, x, b: np.clip(x, a, b),
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "rem": np.fmod,
    "is_finite": np.isfinite, "nextafter": np.nextafter, "copysign": np.copysign,
    "exp": np.exp, "log": np.log, "expm1": np.expm1, "log1p": np.log1p, "exp2": np.exp2,
    "log2": np.log2, "log10": np.log10, "logaddexp": np.logaddexp,
    "logistic": lambda x: np.exp(-np.logaddexp(0.0, -x)),
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "hypot": np.hypot, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "logical_not": np.logical_not, "select": np.where, "erf": None, "erfc": None,
}  # fmt: skip
ON_BOOLS = {"logical_and", "logical_or", "logical_xor", "logical_not"}
LOOSE = {"logistic": 4e-15, "pow": 1e-13}  # of the reference written here; of large exponents
MODES = ["interpret", "source", "debug"]


def numpy_function(name):
    if NUMPY[name] is None:
        from scipy import special as scipy_special

        return getattr(scipy_special, name)
    return NUMPY[name]


def primitive(name):
    return PRIMITIVES[f"std::{name}"]


def runs(backend, program, *arrays):
    """What every executor gives, after as many runs as it takes to change its mind."""
    for mode in MODES:
        options = {"debug": True} if mode == "debug" else {"executor": mode}
        executable = backend.compile(program, program.input_avals, options)
        for _ in range(3):
            yield executable(*arrays)


def assert_same(got, value, rtol):
    value = np.asarray(value)
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape) == (value.dtype, value.shape)
    np.testing.assert_allclose(got, value, rtol=rtol, atol=1e-320)
    if got.dtype.kind == "f" and got == 0 and value == 0:
        assert np.signbit(got) == np.signbit(value)


@pytest.fixture
def whenever_possible(backend, monkeypatch):
    """Lines run on Python's numbers even where it does not pay."""
    monkeypatch.setattr(unboxing, "_UNBOX_COST", -1000)
    backend._plans.clear()
    yield
    backend._plans.clear()


def test_every_form_is_in_the_table():
    names = {key.removeprefix("std::") for key in python_scalars._FORMS}
    assert names == {*NUMPY, "integer_pow", "convert"}
    assert PRIMITIVES.keys() >= python_scalars._FORMS.keys()


@pytest.mark.usefixtures("whenever_possible")
@pytest.mark.parametrize("name", sorted(NUMPY))
def test_values_are_numpys(backend, program, name):
    """Fast form = safe form = ufunc, at zeros, infinities, nan, poles and where Python raises."""
    op, function = primitive(name)(), numpy_function(name)
    count = op.input_count
    kinds = [bool] * count if name in ON_BOOLS else [float] * count
    kinds[:1] = [bool] if name == "select" else kinds[:1]
    values = [[False, True] if kind is bool else VALUES for kind in kinds]
    if name == "clamp":
        values = [[-1.0], VALUES, [2.0, INF]]
    made = program(lambda *xs: tp.bind(op, *xs), *[np.array(kind()) for kind in kinds])
    executables = [
        backend.compile(made, made.input_avals, {"executor": mode}) for mode in MODES[:2]
    ]
    for xs in itertools.product(*values):
        xs = [np.array(x) for x in xs]
        with np.errstate(all="ignore"):
            expected = function(*[np.full(9, x) for x in xs])[0]  # as in an array
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            results = [executable(*xs)[0] for executable in executables]
        for got in results:
            assert_same(got, expected, LOOSE.get(name, 1e-15))
        assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, 4, 5, 17])
def test_integer_powers(backend, program, exponent):
    """xⁿ of one number is that of NumPy, for special values as well"""
    made = program(lambda x: tp.bind(arithmetic.IntegerPow(exponent), x), np.array(1.0))
    for x in VALUES:
        with np.errstate(all="ignore"):
            expected = np.power(np.float64(x), float(exponent))
        for (got,) in runs(backend, made, np.array(x)):
            assert_same(got, expected, 1e-14)


def test_conversions_between_floats_and_bools(backend, program):
    def there_and_back(x):
        return tp.convert(tp.convert(tp.sin(x), "bool"), "float64"), tp.convert(tp.sin(x), "int64")

    made = program(there_and_back, np.array(1.0))
    for x in (0.0, -0.0, 0.5, NAN):
        if x == x:
            for one, two in runs(backend, made, np.array(x)):
                assert_same(one, np.float64(np.sin(x) != 0), 0)
                assert_same(two, np.int64(np.sin(x)), 0)


def mixed(x, n, v):
    """Floats, an integer, a vector and a bool in one program."""
    y = tp.exp(x) / x
    vector = v * tp.broadcast_in_dim(tp.sin(y), (3,), ())
    total = tp.reduce_sum(vector, (0,)) * y
    smaller = tp.lt(total, x)
    counted = tp.convert(n + n, "float64") + tp.cos(total)
    return tp.select(smaller, counted, total), smaller, vector, n * n, y, y


@pytest.mark.parametrize("x", [0.7, 0.0, -0.0, 1e4, INF, NAN])
def test_numbers_and_arrays_in_one_program(backend, program, x):
    n, v = np.array(2**62), np.array([1.0, 2.0, 3.0])
    with np.errstate(all="ignore"):
        y = np.exp(np.float64(x)) / np.float64(x)
        vector = v * np.sin(y)
        total = vector.sum() * y
        counted = np.float64(n + n) + np.cos(total)
        smaller = total < x
        expected = (np.where(smaller, counted, total), smaller, vector, n * n, y, y)
    made = program(mixed, np.array(x), n, v)
    for results in runs(backend, made, np.array(x), n, v):
        for got, value in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-12)
            assert got.dtype == np.asarray(value).dtype
        assert results[4] is not results[5]
        assert not np.shares_memory(results[4], results[5])


def test_the_same_bits_at_every_run(backend, program):
    """Interpreted, compiled, after an overflow, and in debug mode."""

    def function(x):
        y = tp.sin(x) * tp.exp(x) + tp.tanh(x) / x
        return tp.pow(tp.cos(y) + 2.0, tp.log1p(tp.square(y)))

    made = program(function, np.array(1.0))
    executable = backend.compile(made, made.input_avals, {"executor": "source"})
    x = np.array(0.7123)
    first = executable(x)[0].tobytes()
    assert np.isnan(executable(np.array(1e4))[0])
    assert executable(x)[0].tobytes() == first
    for (result,) in runs(backend, made, x):
        assert result.tobytes() == first


def test_integers_wrap(backend, program):
    """n·n, n + n and -n of -2⁶³ modulo 2⁶⁴"""
    made = program(lambda n: (n * n, n + n, -n), np.array(1))
    n = np.array(-(2**63))
    for results in runs(backend, made, n):
        assert [int(r) for r in results] == [0, 0, -(2**63)]


def test_a_callback_is_called_once_when_a_line_overflows(backend, program):
    called = []

    def count(x):
        called.append(float(x))
        return np.asarray(x)

    def function(x):
        (y,) = tp.host_callback(count, [x.aval], x)
        return tp.exp(y) + tp.exp(tp.exp(y))

    made = program(function, np.array(1.0))
    executable = backend.compile(made, made.input_avals, {"executor": "source"})
    assert executable(np.array(1e3))[0] == INF
    assert called == [1e3]


def test_an_error_of_another_line_is_told_once_with_its_equation(backend, program):
    def function(x, n, m):
        for _ in range(8):
            x = tp.sin(x)
        return x, tp.div(n, m)

    arrays = np.array(1.0), np.array(1), np.array(0)
    made = program(function, *arrays)
    executable = backend.compile(made, made.input_avals, {"executor": "source"})
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            executable(*arrays)
        assert "\n".join(caught.value.__notes__).count("equation") == 1
    assert executable(np.array(1.0), np.array(1), np.array(1))[1] == 1


def test_operators_alone_stay_where_their_values_are(backend, program):
    """Between arrays a single product is not worth two conversions; a long chain is."""

    def function(length):
        def between(v):
            x = tp.reduce_sum(v, (0,))
            for _ in range(length):
                x = x * x
            return v * tp.broadcast_in_dim(x, (3,), ())

        return between

    v = np.ones(3)
    for length, numbers in ((1, 0), (20, 20)):
        made = program(function(length), v)
        plan = backend.compile(made, made.input_avals).plan
        assert sum(line.expression.template == "{0} * {1}" for line in plan.lines) == length
        conversions = sum(line.position is None for line in plan.lines)
        assert conversions == (2 if numbers else 0)


@pytest.mark.parametrize("length", [5, 3000])
def test_a_long_chain_of_numbers(backend, length):
    x = tp.variable("x", (), "float64")
    key, steps = x.key, (tp.Sin(), arithmetic.Neg(), rounding.Round(), special.Erf())
    for i in range(length):
        key = derive_one(steps[i % 4 if i < 2 or i > 3 else 0], (key,))
    made = compile_program(flatten([x.key], [key], lambda k: k.definition))
    results = [result.tobytes() for (result,) in runs(backend, made, np.array(0.7))]
    assert len(set(results)) == 1


# ---- random programs -----------------------------------------------------------------------------

UNARY = (tp.neg, tp.abs, tp.sin, tp.exp, tp.log, tp.sqrt, tp.tanh, tp.square, tp.round, tp.sign)
BINARY = (tp.add, tp.sub, tp.mul, tp.div, tp.maximum, tp.minimum, tp.pow, tp.atan2)
COMPARISONS = (tp.lt, tp.ge, tp.eq, tp.ne)
CHOICES = st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=2, max_size=20)


def makers(i, j, floats, bools, integers, vectors):
    """Ways to make one more value, each with the list that it goes to."""
    a, b = floats[i % len(floats)], floats[j % len(floats)]
    p, w = bools[j % len(bools)], vectors[i % len(vectors)]
    return [
        *((floats, lambda f=f: f(a)) for f in UNARY),
        *((floats, lambda f=f: f(a, b)) for f in BINARY),
        *((bools, lambda f=f: f(a, b)) for f in COMPARISONS),
        (floats, lambda: tp.select(p, a, b)),
        (bools, lambda: tp.logical_not(p)),
        (bools, lambda: tp.logical_xor(p, bools[0])),
        (floats, lambda: tp.convert(p, "float64")),
        (floats, lambda: tp.convert(integers[-1], "float64")),
        (integers, lambda: integers[-1] * integers[0]),
        (vectors, lambda: w * tp.broadcast_in_dim(a, (3,), ())),
        (floats, lambda: tp.reduce_max(w, (0,))),
    ]


def random_scalars(choices):
    """Floats, bools, an integer and a vector that are made of each other."""

    def function(x, y, n, v):
        lists = floats, bools, integers, vectors = [x, y], [tp.lt(x, y)], [n], [v]
        for kind, i, j in choices:
            ways = makers(i, j, *lists)
            values, make = ways[kind % len(ways)]
            values.append(make())
        return (*floats[2:], *bools[1:], integers[-1], vectors[-1])

    return function


def bits(x):
    """Return the bits of a result, those of one nan for all: sign and payload of a nan are open."""
    return np.where(np.isnan(x), np.nan, x).astype(x.dtype).tobytes()


#: 0.0 / 0.0 is -nan on x86, where Python's own numbers give nan
SIGNS_OF_NAN = [
    (5, 19, 31), (31, 35, 0), (29, 22, 34), (34, 8, 23), (17, 0, 1), (16, 5, 19), (18, 13, 37),
    (11, 1, 8), (12, 34, 11), (1, 14, 2), (39, 36, 4), (27, 21, 26), (21, 13, 6), (18, 28, 0),
    (17, 0, 1), (33, 32, 0), (14, 34, 37), (11, 12, 21), (5, 19, 31), (8, 26, 5),
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@example(choices=SIGNS_OF_NAN, x=1.0, y=-2.5)
@given(choices=CHOICES, x=st.sampled_from(VALUES), y=st.sampled_from(VALUES))
def test_random_programs_give_what_their_operations_give(backend, checks, choices, x, y):
    arrays = [np.array(x), np.array(y), np.array(2**40 + 1), np.array([1.0, -2.0, y])]
    avals = [backend.aval_of(a) for a in arrays]
    made = checks.compile_function(random_scalars(choices), *avals)
    results = list(runs(backend, made, *arrays))
    for others in results[1:]:
        assert [bits(r) for r in others] == [bits(r) for r in results[0]]
    checks.assert_detached(results[0], arrays)
    for got, aval in zip(results[0], made.output_avals, strict=True):
        assert (got.dtype.name, got.shape) == (aval.dtype.name, aval.shape)


@settings(max_examples=200, deadline=None)
@given(choices=CHOICES, x=st.sampled_from(VALUES), y=st.sampled_from(VALUES))
def test_random_values_are_those_of_the_contract(backend, checks, choices, x, y):
    """Line by line: each operation on the values that the program itself gave before."""
    arrays = [np.array(x), np.array(y), np.array(2**40 + 1), np.array([1.0, -2.0, y])]
    avals = [backend.aval_of(a) for a in arrays]
    made = checks.compile_function(random_scalars(choices), *avals)
    slots = dict(zip(made.inputs, arrays, strict=True))
    everything = _all_outputs(made)
    executable = backend.compile(everything, everything.input_avals, {"executor": "source"})
    slots.update(zip(everything.outputs, executable(*arrays), strict=True))
    for operation, inputs, (output,), *_ in made.instructions:
        given_ = [slots[i] for i in inputs]
        function = backend.lowerings.lookup(operation, [backend.aval_of(a) for a in given_])
        with np.errstate(all="ignore"):
            if operation.key == "std::pow":  # NumPy's scalars take another way
                given_ = [np.full(9, x) for x in given_]
            expected = np.asarray(function(operation, *given_))
        expected = expected[0] if operation.key == "std::pow" else expected
        np.testing.assert_allclose(slots[output], expected, rtol=1e-13, atol=1e-320)


def _all_outputs(program):
    """The program with every value as an output."""
    from tenferro.computegraph._compile import program_from_rows

    rows = [(i.operation, i.inputs, i.outputs, i.role, None) for i in program.instructions]
    outputs = [slot for row in rows for slot in row[2]]
    return program_from_rows(program.input_names, rows, outputs, program.avals)
