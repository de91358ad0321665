"""G-M1 … G-M16: what such engines usually get wrong, each with its number."""

import pickle
import sys

import numpy as np
import pytest

import tenferro as tn
import tenferro.primitives as p
from tenferro.computegraph import (
    DuplicateInputError,
    Graph,
    GraphBuilder,
    KeyView,
    UnresolvedValueError,
    compile_program,
    derive,
    materialize_merge,
    resolve,
)
from tenferro.tidu import DifferentiationError, linear_transpose, linearize
from tenferro_conformance.running.derivatives import jvp, vjp
from tenferro_conformance.running.doors import close

pytestmark = pytest.mark.tenferro_golden
inf, nan = float("inf"), float("nan")
outer_modes = pytest.mark.parametrize("outer", ["push", "pull"])
inner_modes = pytest.mark.parametrize("inner", ["push", "pull"])


def like(x, value):
    """Return a constant of the shape and dtype of x."""
    return p.constant(value, x.dtype, x.shape)


class Dup(p.Linear):
    """(y, z) = (x, x): two outputs; known to no backend, and decomposed everywhere."""

    key = "conformance::dup"
    output_count = 2

    def abstract_eval(self, x):
        return x, x

    def decompose(self, x):
        return x, x

    def transpose_x(self, ct, x):
        flowing = [part for part in ct if part is not None]
        return flowing[0] + flowing[1] if len(flowing) == 2 else flowing[0]


def derivative(door, mode, f, seed=1.0):
    """Return the function x ↦ f′(x)·seed, by one of the two modes."""
    return lambda x: getattr(door, mode)(f, [x], [seed])[0]


# --- G-M1 … G-M5 --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f, want",
    [(lambda x: (-x,) * 2, -11.0), (lambda x: p.bind_all(Dup(), x), 11.0)],
    ids=["[y, y]", "dup"],
)
def test_g_m1_repeated_outputs(tenferro_door, f, want):
    """Seeds (1, 10) of repeated outputs add up: −11; both slots of dup: 11."""
    close(
        tenferro_door.numbers(*tenferro_door.pull(f, [tenferro_door.x(2.0)], [1.0, 10.0])),
        [np.asarray(want)],
    )


@pytest.mark.parametrize(
    "at, want", [(3.0, 90.0), ([3.0, 2.0], [90.0, 60.0])], ids=["scalar", "vector"]
)
def test_g_m2_reverse_over_reverse(tenferro_door, at, want):
    """x³ with inner seed 1 and outer seed 5: 90."""
    ones = np.ones_like(np.asarray(at))
    inner = derivative(tenferro_door, "pull", lambda x: x * x * x, ones)
    outer = derivative(tenferro_door, "pull", inner, 5 * ones)
    close(tenferro_door.numbers(outer(tenferro_door.x(at))), [np.asarray(want)])


def test_g_m2_has_three_inputs():
    """The program of reverse over reverse reads x and two independent seeds."""
    x = p.variable("x", (), "float64")
    first = linear_transpose(linearize(KeyView(), [(x * x * x).key], [x.key]))
    gradient = first.linear.output_keys[0]
    second = linear_transpose(linearize(KeyView(), [gradient], [x.key]))
    graph = materialize_merge(KeyView(), list(second.linear.output_keys))
    assert len(graph.inputs) == 3


def test_g_m3_two_pullbacks_in_one_program(tenferro_door):
    """x² with seed 2 and x³ with seed 5 at 3, in one program: 12 and 135."""
    x = tenferro_door.x(3.0)
    square = tenferro_door.pull(lambda x: x * x, [x], [2.0])
    cube = tenferro_door.pull(lambda x: x * x * x, [x], [5.0])
    close(tenferro_door.numbers(*square, *cube), [np.asarray(12.0), np.asarray(135.0)])


def test_g_m4_one_input_named_twice():
    """The same value twice in wrt is refused, and the error names the entry."""
    x = p.variable("x", (), "float64")
    with pytest.raises(DifferentiationError) as caught:
        linearize(KeyView(), [(x * x).key], [x.key, x.key])
    assert caught.value.fields["positions"] == (0, 1)


def test_g_m5_unresolved_value():
    """A value that no graph defines is an error naming it, never a silent zero."""
    x = p.variable("x", (), "float64")
    elsewhere, stranger = Graph.of([x.key], [(x + x).key]), p.exp(p.variable("y", (), "float64"))
    with pytest.raises(UnresolvedValueError) as caught:
        linearize(resolve([elsewhere]), [(stranger * stranger).key], [x.key])
    assert caught.value.fields["value"] is not None


# --- G-M6, G-M7: depth and sharing --------------------------------------------------------------


def _chain(depth):
    """x negated `depth` times, without the simplification −−x = x."""
    x = p.variable("x", (), "float64")
    key = x.key
    for _ in range(depth):
        (key,) = derive(p.Neg(), [key])
    return x, p.Handle(key)


@pytest.fixture
def depth(tenferro_session):
    """100 000 where programs are interpreted, 1 000 where they are compiled whole."""
    return 1_000 if tenferro_session.backend.info.whole_program else 100_000


def test_g_m6_depth(tenferro_session, depth):
    """A chain is built, printed, compared, linearized, transposed, run, pickled and freed under the
    default recursion limit.
    """
    x, y = _chain(depth)
    assert y.key is _chain(depth)[1].key
    assert len(repr(y.key)) < 1_000
    linear = linearize(KeyView(), [y.key], [x.key])
    assert linear_transpose(linear).tangent_outputs[0] is not None
    graph = materialize_merge(KeyView(), [y.key])
    assert str(graph).count("\n") >= depth
    assert str(pickle.loads(pickle.dumps(graph))) == str(graph)
    assert len(compile_program(graph)) == depth
    (ct,) = vjp([y], [x], [p.constant(1.0, "float64")])
    close(tenferro_session.evaluate({x: 2.0}, [y, ct]), [np.asarray(2.0), np.asarray(1.0)])
    assert sys.getrecursionlimit() <= 10_000


def test_g_m6_depth_of_the_public_api(tenferro_backend, depth):
    """The gradient of a chain y ← 4 − y."""

    def chain(y):
        for _ in range(depth):
            y = 4.0 - y
        return y

    value, gradient = tn.value_and_grad(chain)(np.asarray(1.5))
    close([value, gradient], [np.asarray(1.5), np.asarray(1.0)])


def _doubled(x, times=60):
    for _ in range(times):
        x = x + x
    return x


def test_g_m7_sixty_doublings(tenferro_door):
    """x ← x + x, sixty times: 2⁶⁰ and its derivative 2⁶⁰, exactly."""
    x = tenferro_door.x(1.0)
    found = tenferro_door.numbers(
        _doubled(x),
        *tenferro_door.push(_doubled, [x], [1.0]),
        *tenferro_door.pull(_doubled, [x], [1.0]),
    )
    assert [float(value) for value in found] == [2.0**60] * 3


def test_g_m7_is_one_object_with_short_text():
    """Built twice, the same object; the text is linear in n."""
    x = p.variable("x", (), "float64")
    assert _doubled(x).key is _doubled(x).key
    texts = [len(str(materialize_merge(KeyView(), [_doubled(x, n).key]))) for n in (30, 60)]
    assert texts[1] < 2.5 * texts[0]


# --- G-M8, G-M9: inputs -------------------------------------------------------------------------


def test_g_m8_declared_order(tenferro_session):
    """Declared inputs (x, y), program y − x at (2, 5): 3."""
    x, y = p.variable("x", (), "float64"), p.variable("y", (), "float64")
    close(tenferro_session.evaluate({x: 2.0, y: 5.0}, [y - x]), [np.asarray(3.0)])


def test_g_m8_declared_twice():
    """One input key declared twice is refused."""
    x = p.variable("x", (), "float64")
    with pytest.raises(DuplicateInputError):
        materialize_merge(KeyView(), [(x + x).key], inputs=[x.key, x.key])
    builder = GraphBuilder()
    builder.input("x", x.aval)
    with pytest.raises(DuplicateInputError):
        builder.input("x", x.aval)


def test_g_m9_unreachable(tenferro_backend):
    """A wrt that the output does not depend on: None from the engine, zeros of its aval from the
    public API.
    """
    x, y = p.variable("x", (2,), "float32"), p.variable("y", (), "float64")
    assert vjp([y * y], [x], [y]) == [None]
    assert jvp([y * y], [x], [x]) == [None]
    gradient = tn.grad(lambda x, y: y * y)(np.zeros(2, "float32"), np.asarray(3.0))
    assert (gradient.shape, str(gradient.dtype)) == ((2,), "float32")
    np.testing.assert_array_equal(gradient, 0)


# --- G-M10 … G-M14: masks, dtypes, shapes -------------------------------------------------------


@pytest.mark.parametrize(
    "f, want",
    [
        (lambda x: p.select(p.gt(x, like(x, 0)), x, like(x, 0)), [1.0, 0.0]),
        (lambda x: p.maximum(x, like(x, 0)), [1.0, 0.0]),
        (p.abs, [1.0, -1.0]),
        (p.sign, [0.0, 0.0]),
        (lambda x: p.clamp(like(x, -1), x, like(x, 1)), [0.0, 0.0]),
    ],
    ids=["select", "max", "abs", "sign", "clamp"],
)
@outer_modes
def test_g_m10_masks_at_infinity(tenferro_door, f, want, outer):
    """Derivatives at (+inf, −inf), in both modes."""
    found = derivative(tenferro_door, outer, f, np.ones(2))(tenferro_door.x([inf, -inf]))
    close(
        [np.zeros(2) if x is None else x for x in tenferro_door.numbers(found)], [np.asarray(want)]
    )


@outer_modes
def test_g_m10_safe_where(tenferro_door, outer):
    """where(x > 0, log(where(x > 0, x, 1)), 0) at [0, 2]: [0, .5] in both modes."""

    def f(x):
        positive, one, zero = p.gt(x, like(x, 0)), like(x, 1), like(x, 0)
        return p.select(positive, p.log(p.select(positive, x, one)), zero)

    found = derivative(tenferro_door, outer, f, np.ones(2))(tenferro_door.x([0.0, 2.0]))
    close(tenferro_door.numbers(found), [np.array([0.0, 0.5])])


@outer_modes
def test_g_m10_nan_stays_where_it_is(tenferro_door, outer):
    """A NaN in one element, and in the branch not taken, spoils no other."""
    f = lambda x: p.select(p.gt(x, like(x, 0)), x * x, like(x, 0))  # noqa: E731
    found = derivative(tenferro_door, outer, f, np.ones(3))(tenferro_door.x([nan, -1.0, 2.0]))
    close([np.asarray(tenferro_door.numbers(found)[0])[1:]], [np.array([0.0, 4.0])])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: p.convert(p.convert(x, "int32"), "float64"),
        lambda x: p.convert(p.gt(x, like(x, 0)), "float64"),
        lambda x: p.convert(p.argmax(x, 0), "float64"),
        p.stop_gradient,
    ],
    ids=["f64→i32→f64", "compare", "argmax", "stop_gradient"],
)
def test_g_m11_structural_zero(f):
    """Nothing flows through integers, bools and positions."""
    x = p.variable("x", (3,), "float64")
    assert jvp([f(x)], [x], [x]) == [None]
    assert vjp([f(x)], [x], [f(x)]) == [None]


def test_g_m11_index_arguments(tenferro_door):
    """Index arguments are inactive, the array that they index is not."""
    starts = tenferro_door.x(np.asarray(1))
    f = lambda x: p.dynamic_slice(x, [starts], (2,))  # noqa: E731
    found = tenferro_door.pull(f, [tenferro_door.x([1.0, 2.0, 3.0])], [np.array([5.0, 7.0])])
    close(tenferro_door.numbers(*found), [np.array([0.0, 5.0, 7.0])])


def test_g_m11_gradient_of_an_integer(tenferro_backend):
    """The gradient with respect to an integer is a typed error."""
    with pytest.raises(tn.DifferentiationInputError):
        tn.grad(lambda n: n * 2.0)(np.asarray(3))


def test_g_m12_empty(tenferro_door):
    """Sum of (0, 3) over axis 0: zeros(3), gradient (0, 3); product of none: 1; contraction with k
    = 0: zeros.
    """
    x = tenferro_door.x(np.zeros((0, 3)))
    y, z = tenferro_door.x(np.zeros((2, 0))), x
    total = lambda x: p.reduce_sum(x, (0,))  # noqa: E731
    found = tenferro_door.numbers(
        total(x),
        p.reduce_prod(x, (0,)),
        p.dot_general(y, z, (1,), (0,)),
        *tenferro_door.pull(total, [x], [np.ones(3)]),
    )
    close(found, [np.zeros(3), np.ones(3), np.zeros((2, 3)), np.zeros((0, 3))])


def test_g_m12_maximum_of_nothing():
    """There is no maximum of nothing."""
    with pytest.raises(tn.InvalidParameterError):
        p.reduce_max(p.variable("x", (0, 3), "float64"), (0,))


@outer_modes
@inner_modes
def test_g_m13_rank_zero(tenferro_door, outer, inner):
    """Rank 0 is kept through two transforms; a reduction over () is the identity."""
    f = lambda x: p.reduce_sum(x * x, ())  # noqa: E731
    second = derivative(tenferro_door, outer, derivative(tenferro_door, inner, f))(
        tenferro_door.x(3.0)
    )
    found = tenferro_door.numbers(second)[0]
    assert np.shape(found) == ()
    close([found], [np.asarray(2.0)])


def test_g_m14_constants():
    """1, 1.0 and True are distinct, 0.0 and −0.0 too; two NaNs of equal bits are one."""
    distinct = [p.Constant(1, p.int64), p.Constant(1.0, p.float64), p.Constant(True, p.bool_)]
    assert len({id(c) for c in distinct}) == 3
    assert p.Constant(0.0, p.float64) is not p.Constant(-0.0, p.float64)
    assert p.Constant(nan, p.float64) is p.Constant(float("nan"), p.float64)


# --- G-M15, G-M16: nesting ----------------------------------------------------------------------


@outer_modes
@inner_modes
def test_g_m15_perturbation_confusion(tenferro_backend, outer, inner):
    """d/dx [x · d/dy (x + y) at y = x] at 1: 1 in all four nestings; 2 is the classical bug."""
    first = {
        "push": lambda f, x: tn.jvp(f, (x,), (1.0,))[1],
        "pull": lambda f, x: tn.vjp(f, x)[1](1.0)[0],
    }
    f = lambda x: x * first[inner](lambda y: x + y, x)  # noqa: E731
    close([first[outer](f, np.asarray(1.0))], [np.asarray(1.0)])


@outer_modes
@inner_modes
def test_g_m16_closure(tenferro_backend, outer, inner):
    """h(x) = d/dy (x·y²) at y = 3, dh/dx at 2: 6."""
    first = {
        "push": lambda f, x: tn.jvp(f, (x,), (1.0,))[1],
        "pull": lambda f, x: tn.vjp(f, x)[1](1.0)[0],
    }
    h = lambda x: first[inner](lambda y: x * y * y, 3.0)  # noqa: E731
    close([first[outer](h, np.asarray(2.0))], [np.asarray(6.0)])


def test_g_m15_through_grad(tenferro_backend):
    """The same with grad inside grad."""
    close([tn.grad(lambda x: x * tn.grad(lambda y: x + y)(x))(np.asarray(1.0))], [np.asarray(1.0)])
