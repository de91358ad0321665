"""tenferro's vocabulary over other numbers. References: Warshall's algorithm, fractions, mpmath."""

from fractions import Fraction

import pytest

import tenferro as tn
from tenferro.backend import (
    AlgebraBackend,
    BackendInfo,
    PluginManifest,
    Probe,
    hookimpl,
    lowerings_of,
)
from tenferro.primitives import Aval

np = pytest.importorskip("numpy")
from tropical.algebras import Fractions, Interval, Intervals, LongDouble, MaxPlus, Truth  # noqa: E402

EDGES = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=float)


def reachable(edges):
    """Warshall's algorithm."""
    found = edges.astype(bool)
    for k in range(len(found)):
        found = found | np.outer(found[:, k], found[k])
    return found


def test_powers_over_truth_values_say_what_can_be_reached():
    @tn.jit(backend=AlgebraBackend(Truth()))
    def paths(a):
        return a + a @ a + a @ a @ a + a @ a @ a @ a

    np.testing.assert_array_equal(paths(EDGES), reachable(EDGES))


@pytest.mark.parametrize(
    "spec", ["ij,jk->ik", "bij,bjk->bik", "ij->j", "ij,j->", "ij->ji", "i,j->ij", "ij,ij->i"]
)
@pytest.mark.parametrize("size", [3, 1])
def test_einsum_over_max_plus_is_the_best_of_sums(spec, size):
    """max over summed labels of the sum of the factors, one place after the other"""
    rng = np.random.default_rng(5)
    inputs, _, output = spec.partition("->")
    labels = sorted({*inputs} - {","})
    factors = [rng.integers(-9, 9, [size] * len(term)).astype(float) for term in inputs.split(",")]
    wanted = np.full([size] * len(output), -np.inf)
    for place in np.ndindex(*[size] * len(labels)):
        at = dict(zip(labels, place, strict=True))
        terms = zip(inputs.split(","), factors, strict=True)
        total = sum(factor[tuple(at[i] for i in term)] for term, factor in terms)
        end = tuple(at[i] for i in output)
        wanted[end] = max(wanted[end], total)
    found = tn.jit(lambda *xs: np.einsum(spec, *xs), backend=AlgebraBackend(MaxPlus()))(*factors)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "algebra", [MaxPlus(), Truth(), Fractions(), Intervals()], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("value", [0, 1, 5])
def test_positions_are_integers_and_not_elements(algebra, value):
    """The position 0 is not the zero of the algebra, which is -inf over max-plus."""
    aval = Aval((2,), "int64")
    for found in (
        algebra.constant(value=value, dtype=aval.dtype, shape=(2,)),
        algebra.asoperand(np.array([value, value]), aval),
    ):
        assert found.tolist() == [value, value]
        assert algebra.aval_of(found) is aval


def test_derivatives_over_fractions_are_exact():
    """d/dx of 1/(1 + (x/3)²) is −(2x/9)/(1 + x²/9)²; at 1 that is −9/50."""

    def f(x):
        y = x / 3
        return tn.sum(1 / (1 + y * y))

    (found,) = tn.grad(f, backend=AlgebraBackend(Fractions()))(np.array([1.0]))
    assert found == Fraction(-9, 50)
    assert type(found) is Fraction


def test_long_doubles_keep_more_digits_than_float64():
    """d/dx (x eˣ) = (1 + x) eˣ at 1: 2e, by mpmath"""
    mpmath = pytest.importorskip("mpmath")
    if np.finfo(np.longdouble).nmant <= np.finfo(float).nmant:
        pytest.skip("a long double is a float64 here")
    backend = AlgebraBackend(LongDouble())
    (found,) = tn.grad(lambda x: tn.sum(x * np.exp(x)), backend=backend)(np.array([1.0]))
    with mpmath.workdps(40):
        error = abs(mpmath.mpf(np.format_float_positional(found, unique=True)) / (2 * mpmath.e) - 1)
        assert error < 4 * float(np.finfo(np.longdouble).eps)


# --- intervals -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def _intervals():
    import tropical.intervals_plugin as plugin

    if "intervals" not in {record.name for record in tn.host().records()}:
        tn.host().register(plugin)
        yield
        tn.host().unregister("intervals")
    else:
        yield


def function(x):
    return tn.sum(x * x * x - x * x)


TRANSFORMED = {
    "grad": (tn.grad(function), lambda x: 3 * x**2 - 2 * x),
    "grad of grad": (
        tn.grad(lambda x: tn.sum(tn.grad(function)(x) * x)),
        lambda x: 9 * x**2 - 4 * x,
    ),
    "vmap": (tn.vmap(lambda x: x * x), lambda x: x * x),
    "jvp": (lambda x: tn.jvp(lambda y: y * y, (x,), (x,))[1], lambda x: 2 * x * x),
}
PROGRAMS = {
    **TRANSFORMED,
    "value": (function, lambda x: np.sum(x**3 - x**2)),
    "matmul": (lambda x: x @ x, lambda x: x @ x),
}


@pytest.mark.usefixtures("_intervals")
@pytest.mark.parametrize(
    "name, jitted",
    [*[(name, True) for name in PROGRAMS], *[(name, False) for name in TRANSFORMED]],
)
def test_the_exact_result_lies_in_the_interval(name, jitted):
    """For corners and points within, in exact arithmetic; a second call is like the first."""
    program, exact = PROGRAMS[name]
    run = tn.jit(program) if jitted else program
    low, high = np.array([0.1, -1.5, 2.0]), np.array([0.3, 0.5, 2.0])
    for _ in range(2):
        found = run(Interval(low, high))
        assert isinstance(found, Interval)
        for part in range(5):
            ends = zip(low, high, strict=True)
            inside = [Fraction(a) + (Fraction(b) - Fraction(a)) * part / 4 for a, b in ends]
            value = np.asarray(exact(np.array(inside, dtype=object)))
            assert all(np.ravel(found.low <= value))
            assert all(np.ravel(value <= found.high))


@pytest.mark.usefixtures("_intervals")
def test_no_pass_cancels_what_only_numbers_cancel():
    """x − x over [1, 2] is [−1, 1], not 0."""
    found = tn.jit(lambda x: x - x)(Interval([1.0], [2.0]))
    assert found.low[0] <= -1
    assert found.high[0] >= 1


@pytest.mark.usefixtures("_intervals")
def test_what_intervals_lack_is_missing_by_name():
    with pytest.raises(tn.MissingLoweringError, match="std::sin"):
        tn.jit(np.sin)(Interval([1.0], [2.0]))


def test_indexing_and_loops_run_over_max_plus():
    """x[1, 0], and its derivative: the one of the algebra there, its zero elsewhere"""
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    backend = AlgebraBackend(MaxPlus())
    value, slope = tn.value_and_grad(lambda x: x[1, 0], backend=backend)(x)
    assert value == 3.0
    np.testing.assert_array_equal(slope, [[-np.inf, -np.inf], [0.0, -np.inf]])

    def best(rows):
        return tn.scan(lambda carry, row: (carry + row, None), rows[0], rows[1:])[0].sum()

    value, slope = tn.value_and_grad(best, backend=backend)(x)
    assert value == 4.0
    np.testing.assert_array_equal(slope, np.zeros((2, 2)))


class Unclaimed:
    """An operand whose class no backend names yet."""

    shape = (2,)

    def __init__(self, content):
        self.content = content


class Boxes(MaxPlus):
    def each(self, move, *operands):
        return Unclaimed(move(*[x.content for x in operands]))

    def add(self, x, y):
        return Unclaimed(np.maximum(x.content, y.content))

    def asoperand(self, value, aval):
        return value if isinstance(value, Unclaimed) else Unclaimed(np.array(value))

    def to_numpy(self, operand):
        return operand.content

    def aval_of(self, operand):
        return Aval(operand.content.shape, "float64")

    def owns(self, value):
        return isinstance(value, Unclaimed)


class BoxesPlugin:
    TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="boxes", kind="backend")

    @hookimpl
    def tenferro_backend_info(self):
        name = f"{Unclaimed.__module__}.{Unclaimed.__qualname__}"
        return BackendInfo(name="boxes", operand_types=(name,), passes="none")

    @hookimpl
    def tenferro_backend_probe(self):
        return Probe(available=True)

    @hookimpl
    def tenferro_backend_create(self):
        return AlgebraBackend(Boxes(), name="boxes")

    @hookimpl
    def tenferro_lowerings(self, backend):
        return lowerings_of(Boxes()) if backend == "boxes" else []


def test_a_class_that_was_refused_is_taken_once_a_backend_names_it():
    x = Unclaimed(np.array([1.0, 2.0]))
    with pytest.raises(tn.UnknownOperandError) as caught:
        tn.jit(lambda x: x + x)(x)
    assert "operand_types" in str(caught.value)
    tn.host().register(BoxesPlugin())
    try:
        assert tn.jit(lambda x: x + x)(x).content.tolist() == [1.0, 2.0]
    finally:
        tn.host().unregister("boxes")


class Reals(LongDouble):
    """Real numbers, whose programs NumPy's backend runs as well."""

    zero, one, dtype = 0.0, 1.0, float
    element = staticmethod(float)


MOVES = {
    "slice with steps": lambda x: x[::2, 1:],
    "derivative of a slice": lambda x: tn.grad(lambda y: tn.sum(y[1:, ::2] * y[1:, ::2]))(x),
    "concatenate": lambda x: tn.concatenate([x, x + x], axis=1),
    "scan": lambda x: tn.scan(lambda c, row: (c * row, c + row), x[0], x[1:]),
    "derivative of scan": tn.grad(
        lambda x: tn.sum(tn.scan(lambda c, row: (c * row, None), x[0], x)[0])
    ),
    "batched product": lambda x: tn.einsum("bi,bij->bj", x, tn.stack([x, x, x])),
    "loop": lambda x: tn.fori_loop(0, 3, lambda i, c: c + x[0], x[1]),
}


@pytest.mark.parametrize("program", MOVES.values(), ids=MOVES)
def test_moves_of_elements_are_those_of_numpy(program):
    x = np.arange(9.0).reshape(3, 3) + 1
    found = tn.jit(program, backend=AlgebraBackend(Reals()))(x)
    wanted = tn.jit(program, backend="numpy")(x)
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    for left, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(left, right)
