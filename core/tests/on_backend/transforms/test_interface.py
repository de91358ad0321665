"""What goes into a transform and what comes out: arguments, structures, dtypes, operands."""

from collections import namedtuple
from functools import partial

import numpy as np
import pytest
from against_numpy import same

import tenferro as tn
from tenferro.transforms.recording import tree as pytrees

Pair = namedtuple("Pair", "u v")
X = np.array([1.0, 2.0, 3.0])


def weighted(x, y, z=2.0):
    return np.sum(x * y**2) * z


# ---- which arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argnums, want",
    [
        (0, 9.0),
        (1, 12.0),
        (-1, 12.0),
        ((0,), (9.0,)),
        ((1, 0), (12.0, 9.0)),
        ((0, -1), (9.0, 12.0)),
        ([1], (12.0,)),
        ((), ()),
    ],
)
def test_argnums_names_the_arguments_as_they_are_given(argnums, want):
    f = lambda x, y: x * y**2  # noqa: E731
    assert tn.grad(f, argnums)(2.0, 3.0) == want
    assert tn.value_and_grad(f, argnums)(2.0, 3.0) == (18.0, want)


def test_keywords_and_defaults_pass_through():
    assert tn.grad(weighted)(2.0, 3.0) == 18
    assert tn.grad(weighted)(2.0, 3.0, z=1.0) == 9
    assert tn.grad(weighted, argnums=2)(2.0, 3.0, 1.0) == 18
    assert tn.grad(weighted)(2.0, y=3.0, z=tn.asarray(1.0)).item() == 9


def test_anything_callable_is_a_function():
    class Model:
        scale = 3.0

        def loss(self, x):
            return self.scale * x * x

        __call__ = loss

    for function in (Model().loss, Model(), partial(weighted, 3.0), lambda *xs: 3 * xs[0] ** 2):
        assert tn.grad(function)(2.0) == pytest.approx(24 if isinstance(function, partial) else 12)
    assert tn.grad(np.sin)(0.0) == tn.jvp(tn.sin, (0.0,), (1.0,))[1] == 1


def test_names_and_docstrings_are_kept():
    for transform in (tn.grad, tn.value_and_grad, tn.hvp, tn.jit):
        assert transform(weighted).__name__ == "weighted"
        assert transform(weighted).__wrapped__ is weighted


@pytest.mark.parametrize(
    "arg",
    [
        {"a": X, "b": 2.0},
        (X, 2.0),
        [X, 2.0],
        Pair(X, 2.0),
        {"a": (X, [2.0]), "b": None},
        Pair({"a": X}, (None, 2.0)),
    ],
    ids=str,
)
def test_the_gradient_has_the_structure_of_the_argument(arg):
    leaves = lambda tree: pytrees.flatten(tree)[0]  # noqa: E731
    f = lambda tree: np.sum(leaves(tree)[0] ** 2) * leaves(tree)[1]  # noqa: E731
    gradient = tn.grad(f)(arg)
    assert type(gradient) is type(arg)
    assert pytrees.flatten(gradient)[1] == pytrees.flatten(arg)[1]
    np.testing.assert_allclose(leaves(gradient)[0], 4 * X)
    assert leaves(gradient)[1] == 14


def test_values_tangents_and_pullbacks_have_structures_too():
    f = lambda p: {"s": p.u * p.v, "n": None, "t": (p.u,)}  # noqa: E731
    value, tangent = tn.jvp(f, (Pair(2.0, 3.0),), (Pair(1.0, 0.0),))
    assert (value, tangent) == ({"s": 6, "n": None, "t": (2,)}, {"s": 3, "n": None, "t": (1,)})
    value, pull = tn.vjp(f, Pair(2.0, 3.0))
    assert pull({"s": 1.0, "n": None, "t": (10.0,)}) == (Pair(13, 2),)
    value, push = tn.linearize(f, Pair(2.0, 3.0))
    assert push(Pair(0.0, 1.0)) == {"s": 2, "n": None, "t": (0,)}
    assert tn.jit(f)(Pair(2.0, 3.0)) == {"s": 6, "n": None, "t": (2,)}


def test_a_tangent_may_be_left_out():
    assert tn.jvp(lambda x, n: x * n, (3.0, 2), (1.0, None)) == (6, 2)
    assert tn.jvp(lambda x, y: x * y, (3.0, 2.0), (None, None)) == (6, 0)


@pytest.mark.parametrize("aux", [("text", 3, None), {"double": 2.0}, X, ()], ids=str)
def test_aux_comes_back_as_it_is(aux):
    f = lambda x: (x * x, aux)  # noqa: E731
    assert tn.grad(f, has_aux=True)(3.0) == (6, aux) or aux is X
    assert tn.value_and_grad(f, has_aux=True)(3.0)[0][1] is aux
    assert tn.jvp(f, (3.0,), (1.0,), has_aux=True)[2] is aux
    assert tn.vjp(f, 3.0, has_aux=True)[2] is aux


def test_arrays_in_aux_leave_as_the_value_does():
    f = lambda x: (np.sum(x * x), {"x": x, "y": x * 2, "n": len(x)})  # noqa: E731
    for aux in (
        tn.grad(f, has_aux=True)(X)[1],
        tn.value_and_grad(f, has_aux=True)(X)[0][1],
        tn.jvp(f, (X,), (X,), has_aux=True)[2],
        tn.vjp(f, X, has_aux=True)[2],
    ):
        assert [type(aux[k]) for k in "xyn"] == [np.ndarray, np.ndarray, int]
        np.testing.assert_array_equal([aux["x"], aux["y"]], [X, 2 * X])
    assert type(tn.grad(f, has_aux=True)(tn.asarray(X))[1]["y"]) is tn.Array


def test_aux_is_differentiated_by_an_outer_transform():
    def outer(x):
        slope, aux = tn.grad(lambda y: (y**3, y * x), has_aux=True)(x)
        return slope + aux

    assert tn.grad(outer)(2.0) == 6 * 2 + 2 * 2


# ---- operands and dtypes -------------------------------------------------------------------------


def results(x):
    """What each transform makes of a quadratic function at x."""
    f = lambda x: np.sum(x * x)  # noqa: E731
    value, gradient = tn.value_and_grad(f)(x)
    primal, tangent = tn.jvp(f, (x,), (x,))
    out, pull = tn.vjp(f, x)
    return [value, gradient, primal, tangent, out, pull(value)[0], tn.hvp(f)(x, x), tn.jit(f)(x)]


@pytest.mark.parametrize(
    "x, scalar, array",
    [
        (X, np.float64, np.ndarray),
        (X.astype("float32"), np.float32, np.ndarray),
        (2.0, np.float64, np.float64),
        (np.float32(2.0), np.float32, np.float32),
        (np.array(2.0), np.float64, np.float64),
        (tn.asarray(X), tn.Array, tn.Array),
        (tn.asarray(X.astype("float32")), tn.Array, tn.Array),
    ],
    ids=["f64", "f32", "float", "np.float32", "rank 0", "Array", "Array f32"],
)
def test_results_leave_as_the_arguments_came(x, scalar, array):
    kinds = [scalar, array, scalar, scalar, scalar, array, array, scalar]
    assert [type(found) for found in results(x)] == kinds


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_result_keeps_the_dtype(dtype):
    x = X.astype(dtype)
    wants = [np.sum(x * x), 2 * x, np.sum(x * x), 2 * np.sum(x * x)]
    wants += [np.sum(x * x), 2 * x * np.sum(x * x), 2 * x, np.sum(x * x)]
    for found, want in zip(results(x), wants, strict=True):
        same(np.asarray(found), np.asarray(want))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_gradients_keep_the_dtype(dtype):
    z = np.asarray([1 + 2j, 3 - 1j], dtype)
    same(tn.grad(lambda z: np.sum((z * np.conj(z)).real))(z), 2 * z)


def test_python_numbers_are_weak_under_every_transform():
    """A float32 model stays one, also where numbers become arguments."""
    w = X.astype("float32")

    def step(w, rate):
        return np.sum(w * w * (0.5 * rate + 1) ** 2 / 2 - -rate)

    nested = lambda w, rate: tn.grad(lambda r: step(w, r))(rate)  # noqa: E731
    assert step(w, 0.1).dtype == np.float32
    assert tn.jit(step)(w, 0.1).dtype == np.float32
    assert tn.grad(step)(w, 0.1).dtype == np.float32
    assert [g.dtype for g in tn.grad(step, (0, 1))(w, 0.1)] == [np.float32, np.float64]
    assert tn.jit(tn.grad(step))(w, 0.1).dtype == np.float32
    assert tn.grad(lambda w, rate: tn.jit(step)(w, rate))(w, 0.1).dtype == np.float32
    assert tn.grad(nested)(w, 0.1).dtype == np.float32
    assert tn.jit(lambda w, n: w * (n * 2))(w, 3).dtype == np.float32
    assert tn.jit(lambda w, n: np.clip(w, n, 2 * n))(w, 1.0).dtype == np.float32


def test_numbers_of_numpy_are_not_weak():
    assert tn.jit(lambda w, rate: w * rate)(X.astype("float32"), np.float64(2)).dtype == np.float64


def test_a_number_of_python_is_a_tangent_in_any_dtype():
    single = np.float32(3)
    assert tn.jvp(lambda x: x * x, (3.0,), (1,)) == (9, 6)
    assert tn.jvp(lambda x: x * x, (single,), (1,))[1].dtype == np.float32
    assert tn.jvp(lambda x: x * x, (single,), (2.0,))[1].dtype == np.float32
    assert tn.linearize(lambda x: x * x, single)[1](True).dtype == np.float32
    assert tn.vjp(lambda x: x * x, single)[1](1)[0].dtype == np.float32
    assert tn.jvp(lambda z: z * z, (np.complex64(3),), (1,))[1].dtype == np.complex64
    assert tn.jit(lambda v: tn.jvp(lambda x: x * x, (single,), (v,))[1])(2.0).dtype == np.float32
    y, dy = tn.jvp(lambda x: x * x, (3.0,), (np.float32(2),))  # the primal yields
    assert (float(y), float(dy)) == (9, 12)


# ---- buffers of the user -------------------------------------------------------------------------


def test_writing_into_arguments_afterwards_changes_nothing():
    x, y, losses = X.copy(), X.copy(), []

    def loss(x, y):
        losses.append(np.sum(x * y))
        return losses[-1], y * 2

    _, aux = tn.grad(loss, has_aux=True)(x, y)
    pull, push = tn.vjp(lambda x: x * x, x)[1], tn.linearize(lambda x: x * y * x, x)[1]
    x[:] = y[:] = 100
    assert losses[0].item() == 14
    np.testing.assert_array_equal(aux, 2 * X)
    np.testing.assert_array_equal(pull(np.ones(3))[0], 2 * X)
    np.testing.assert_array_equal(push(np.ones(3)), 2 * X * X)


def test_writing_into_tangents_afterwards_changes_nothing():
    kept, v = [], np.ones(3)

    def outer(x):
        kept.append(tn.jvp(lambda y: y * x, (X,), (v,))[1])
        return np.sum(x)

    tn.grad(outer)(X)
    v[:] = 100
    np.testing.assert_array_equal(np.asarray(kept[0]), X)


def test_results_are_the_users_own():
    x, c = X.copy(), X.copy()
    found = [
        tn.jit(lambda x: x)(x),
        *tn.jit(lambda x: (x, x, x + 0, c, c))(x),
        *tn.jvp(lambda x: x, (x,), (x,)),
        tn.vjp(lambda x: x, x)[0],
        tn.vjp(lambda x: x, x)[1](x)[0],
        tn.grad(lambda x: np.sum(x * c))(x),
    ]
    for result in found:
        assert result.flags.writeable
        result[:] = 100
    assert (x.tolist(), c.tolist()) == (X.tolist(), X.tolist())
    assert not any(np.shares_memory(a, b) for i, a in enumerate(found) for b in found[:i])


# ---- backends ------------------------------------------------------------------------------------


def test_a_backend_may_be_named_everywhere():
    name = tn.backend.select_backend().name
    f = lambda x: x * x  # noqa: E731
    assert tn.grad(f, backend=name)(3.0) == tn.grad(f, backend=tn.host().backend(name))(3.0) == 6
    assert tn.jit(f, backend=name)(3.0) == tn.jvp(f, (3.0,), (1.0,), backend=name)[0] == 9
    assert tn.value_and_grad(f, backend=name)(X[0]) == (1, 2)
    assert type(tn.grad(lambda x: np.sum(x * x), backend=name)(X)) is np.ndarray
    with tn.use(name):
        assert tn.grad(f)(3.0) == float(tn.asarray(3.0) * 2)


@pytest.mark.parametrize(
    "ask", [lambda f, b: tn.grad(f, backend=b), lambda f, b: tn.jit(f, backend=b)]
)
def test_a_backend_that_is_not_there_is_an_error_that_names_those_that_are(ask):
    with pytest.raises(tn.UnknownBackendError, match="installed"):
        ask(lambda x: x * x, "abacus")(3.0)
    with pytest.raises(tn.UnknownBackendError), tn.use("abacus"):
        pass


def test_jit_without_a_function_is_a_decorator():
    @tn.jit(static_argnums=1)
    def power(x, n):
        return x**n if n > 1 else x

    assert (power(3.0, 2), power(3.0, 1)) == (9.0, 3.0)
    assert power.__name__ == "power"
    with pytest.raises(TypeError, match="jit takes a function"):
        tn.jit(static_argnums=1)(5)


def test_linearize_gives_what_came_with_the_value():
    """(f(x), df, aux)"""
    y, df, aux = tn.linearize(lambda x: (x * x, {"cube": x**3}), 2.0, has_aux=True)
    assert (y, df(1.0), aux["cube"]) == (4.0, 4.0, 8.0)

    def inner(x):
        y, df, aux = tn.linearize(lambda x: (x * x, x**3), x, has_aux=True)
        return y + df(1.0) + aux

    assert tn.grad(inner)(2.0) == tn.jit(tn.grad(inner))(2.0) == 2 * 2 + 2 + 3 * 4


@pytest.mark.parametrize("axes", [False, True, (0, False), {"a": True}])
def test_a_bool_is_no_axis(axes):
    function = (lambda x, y: x + y) if type(axes) is tuple else lambda x: x
    args = (np.ones(2),) * (2 if type(axes) is tuple else 1)
    given = (axes,) if type(axes) is dict else axes
    with pytest.raises(tn.BatchAxisError):
        tn.vmap(function, in_axes=given)(*(({"a": args[0]},) if type(axes) is dict else args))
    with pytest.raises(tn.BatchAxisError):
        tn.vmap(lambda x: x, out_axes=False)(np.ones(2))


def test_a_direction_of_one_number_is_part_of_the_program():
    """jit(x ↦ Df(x)·1) of NumPy arguments gives NumPy; nothing is captured, on any backend"""
    ones = tn.ones_like(np.arange(3.0))
    assert np.asarray(ones).sum() == 3.0  # the literal is known by now
    along = tn.jit(lambda x: tn.jvp(np.sin, (x,), (tn.ones_like(x),))[1])
    found = along(np.arange(3.0))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, np.cos(np.arange(3.0)))
    assert "captured   none" in along.explain(np.arange(3.0))
