"""tn.host_callback: a function of NumPy arrays in every transform, its recipes and its refusals.

T(host_callback(f)) = T(f)      for transforms T; derivatives by rules of the user
"""

import math

import numpy as np
import pytest

import tenferro as tn

X = np.array([0.5, -1.25, 2.0])
XS = np.array([[0.5, -1.25, 2.0], [1.0, 0.0, -0.5]])


def cubed_and_sum(x):
    return {"cubed": x**3, "sum": (x.sum(),)}


def called(x):
    return tn.host_callback(cubed_and_sum, x)


def carried(f):
    return lambda x: tn.scan(lambda c, _: (f(c)["cubed"], f(c)["sum"]), x, None, 2)


def branched(f):
    return lambda x: tn.cond(tn.sum(x) > 0, lambda x: f(x)["cubed"], lambda x: x, x)


TRANSFORMS = {
    "alone": (lambda f: f, X),
    "jit": (tn.jit, X),
    "jit of jit": (lambda f: tn.jit(lambda x: tn.jit(f)(x)), X),
    "vmap": (tn.vmap, XS),
    "vmap of vmap": (lambda f: tn.vmap(tn.vmap(f)), XS[:, None]),
    "jit of vmap": (lambda f: tn.jit(tn.vmap(f)), XS),
    "over columns": (lambda f: tn.vmap(f, in_axes=1, out_axes=-1), XS),
    "scan": (carried, X),
    "vmap of scan": (lambda f: tn.vmap(carried(f)), XS),
    "branch": (lambda f: tn.jit(branched(f)), X),
    "checkpoint": (tn.checkpoint, X),
}


def assert_same(found, need):
    """Equal pytrees of arrays, to a few rounding errors: a backend may sum in another order."""
    if isinstance(need, dict):
        assert found.keys() == need.keys()
        found, need = [*found.values()], [*need.values()]
    if isinstance(need, (tuple, list)):
        assert len(found) == len(need)
        for a, b in zip(found, need, strict=True):
            assert_same(a, b)
        return
    np.testing.assert_allclose(np.asarray(found), np.asarray(need), rtol=1e-14)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_of_the_call_is_that_of_the_function(name):
    transform, x = TRANSFORMS[name]
    assert_same(transform(called)(x), transform(cubed_and_sum)(x))


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64", "complex64"])
@pytest.mark.parametrize("transform", [lambda f: f, tn.jit], ids=["eager", "jit"])
def test_dtypes_and_shapes_are_kept(dtype, transform):
    shapes = (), (0,), (2, 0), (2, 3)
    xs = [np.arange(math.prod(s)).reshape(s).astype(dtype) for s in shapes]
    copies = transform(lambda *xs: [tn.host_callback(np.copy, x, results=x) for x in xs])(*xs)
    for found, x in zip(map(np.asarray, copies), xs, strict=True):
        assert (found.dtype, found.shape) == (x.dtype, x.shape)
        np.testing.assert_array_equal(found, x)


def test_other_arguments_are_passed_as_they_are():
    kinds = []

    def f(x, n, more):
        kinds.append((type(x), type(n), type(more["how"]), type(more["y"])))
        return x * n

    call = lambda x: tn.host_callback(f, x, 2, {"how": "up", "y": X}, results=x)  # noqa: E731
    assert float(tn.jit(call)(1.5)) == 3.0
    assert kinds == [(np.float64, int, str, np.ndarray)]


def test_equal_calls_are_one_equation():
    graph = tn.trace(lambda x: called(x)["cubed"] + called(x)["cubed"], X)
    assert len(graph) == 2
    assert "host_callback[function=cubed_and_sum, results=(f64[3], f64[])] %0" in str(graph)


def test_unused_calls_are_dropped():
    calls = []
    f = tn.jit(lambda x: (tn.host_callback(calls.append, x, results=x), x + 1)[1])
    np.testing.assert_array_equal(f(X), X + 1)
    assert calls == []


@pytest.mark.parametrize("vectorized, shapes", [(False, [(3,), (3,)]), (True, [(2, 3)])])
@pytest.mark.parametrize("transform", [tn.vmap, lambda f: tn.jit(tn.vmap(f))], ids=["vmap", "jit"])
def test_vectorized_functions_are_called_once(vectorized, shapes, transform):
    seen = []

    def f(x, y):
        seen.append((x.shape, y.shape))
        return x * y

    call = lambda x: tn.host_callback(f, x, X, results=x, vectorized=vectorized)  # noqa: E731
    np.testing.assert_array_equal(transform(call)(XS), XS * X)
    assert seen == [(shape, shape) for shape in shapes]


def test_results_are_found_by_one_call_on_ones():
    given = []

    def f(x):
        given.append(x.copy())
        x *= 7  # what is written into an argument is seen nowhere else
        return x.sum()

    tn.trace(lambda x: tn.host_callback(f, x), X)
    np.testing.assert_array_equal(given, [np.ones(3)])
    np.testing.assert_array_equal(np.asarray(tn.ones(3)), np.ones(3))


def test_an_error_of_the_call_on_ones_says_what_to_state():
    with pytest.raises(ValueError, match="Singular") as found:
        tn.host_callback(np.linalg.inv, np.eye(2))
    assert "results=tn.Aval(shape, dtype)" in "".join(found.value.__notes__)


# ---- derivatives ---------------------------------------------------------------------------------

ERFC = np.vectorize(math.erfc, otypes=[float])


def slope(x):
    return -2 / np.sqrt(np.pi) * np.exp(-x * x)


def erfc(x):
    return tn.host_callback(ERFC, x, results=x)


@tn.custom_jvp
def forward(x):
    return erfc(x)


@forward.defjvp
def _(primals, tangents):
    (x,), (dx,) = primals, tangents
    return forward(x), slope(x) * dx


@tn.custom_vjp
def reverse(x):
    return erfc(x)


reverse.defvjp(lambda x: (reverse(x), x), lambda x, ct: (slope(x) * ct,))


@tn.custom_vjp
def reverse_on_the_host(x):
    return erfc(x)


def slope_times(x, ct):
    return slope(x) * ct


reverse_on_the_host.defvjp(
    lambda x: (erfc(x), x),
    lambda x, ct: (tn.host_callback(slope_times, x, ct, results=x),),
)

scaled = tn.custom_linear(
    lambda x, dx: tn.host_callback(slope_times, x, dx, results=x),
    transpose=lambda x, ct: tn.host_callback(slope_times, x, ct, results=x),
)


@tn.custom_jvp
def both_on_the_host(x):
    return erfc(x)


@both_on_the_host.defjvp
def _(primals, tangents):
    return both_on_the_host(*primals), scaled(*primals, *tangents)


FIRST, SECOND = slope(X), -2 * X * slope(X)  # of erfc, by its definition
DERIVATIVES = {
    "grad": (lambda f: tn.grad(lambda x: f(x).sum()), X, FIRST),
    "jit of grad": (lambda f: tn.jit(tn.grad(lambda x: f(x).sum())), X, FIRST),
    "jacobian": (lambda f: tn.jacrev(f), X, np.diag(FIRST)),
    "vmap of grad": (lambda f: tn.vmap(tn.grad(f)), X, FIRST),
    "grad of vmap": (lambda f: tn.grad(lambda x: tn.vmap(f)(x).sum()), X, FIRST),
    "grad of scan": (
        lambda f: tn.grad(lambda x: tn.scan(lambda c, r: (c + f(r), None), 0.0, x)[0]),
        X,
        FIRST,
    ),
}
FURTHER = {
    "hessian": (lambda f: tn.hessian(lambda x: f(x).sum()), X, np.diag(SECOND)),
    "vmap of grad of grad": (lambda f: tn.vmap(tn.grad(tn.grad(f))), X, SECOND),
    "grad of vmap of grad": (
        lambda f: tn.grad(lambda x: tn.vmap(tn.grad(f))(x).sum()),
        X,
        SECOND,
    ),
}
ROWS = [
    *[(f, name, DERIVATIVES) for name in DERIVATIVES for f in (forward, reverse, both_on_the_host)],
    *[(reverse_on_the_host, name, DERIVATIVES) for name in DERIVATIVES if "scan" not in name],
    *[(f, name, FURTHER) for name in FURTHER for f in (forward, reverse)],
]  # fmt: skip


@pytest.mark.parametrize(
    "function, name, table", ROWS, ids=[f"{f.__name__}-{name}" for f, name, _ in ROWS]
)
def test_a_rule_around_the_call_is_its_derivative(function, name, table):
    """erfc′ = -2 π^-½ exp(-x²),   erfc″ = -2 x erfc′"""
    transform, x, need = table[name]
    np.testing.assert_allclose(np.asarray(transform(function)(x)), need, rtol=1e-12, atol=1e-15)


def test_a_linear_function_brings_its_transpose():
    """f(x) = M x,   fᵀ(ct) = Mᵀ ct"""
    m = np.arange(6.0).reshape(2, 3)
    f = tn.custom_linear(
        lambda m, x: tn.host_callback(lambda x: m @ x, x, results=tn.Aval((2,), "f64")),
        transpose=lambda m, ct: tn.host_callback(lambda ct: m.T @ ct, ct, results=X),
    )
    np.testing.assert_allclose(tn.jacobian(lambda x: f(m, x))(X), m)
    np.testing.assert_allclose(tn.jvp(lambda x: f(m, x), (X,), (XS[1],))[1], m @ XS[1])


DIFFERENTIATED = {
    "grad": lambda f: tn.grad(lambda x: f(x).sum())(X),
    "jvp": lambda f: tn.jvp(f, (X,), (X,)),
    "jit of grad": lambda f: tn.jit(tn.grad(lambda x: f(x).sum()))(X),
    "hessian": lambda f: tn.hessian(lambda x: f(x).sum())(X),
    "grad of vmap": lambda f: tn.grad(lambda x: tn.vmap(f)(x).sum())(XS),
    "grad of scan": lambda f: tn.grad(lambda x: tn.sum(carried(called)(x)[0]))(X),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_without_a_rule_the_error_names_the_recipes(name):
    with pytest.raises(tn.MissingRuleError) as found:
        DIFFERENTIATED[name](erfc)
    text = str(found.value)
    assert all(recipe in text for recipe in ("custom_jvp", "custom_vjp", "custom_linear"))
    assert "cubed_and_sum" in text or "vectorize" in text
    assert found.value.primitive == "std::host_callback"


def test_no_derivative_is_asked_for_where_none_flows():
    """Integers have no tangents, and stop_gradient stops them."""
    order = lambda x: x[tn.host_callback(np.argsort, x)] * np.arange(3.0)  # noqa: E731
    np.testing.assert_array_equal(tn.grad(lambda x: order(x).sum())(X), [1.0, 0.0, 2.0])
    stopped = lambda x: (x * erfc(tn.stop_gradient(x))).sum()  # noqa: E731
    np.testing.assert_allclose(tn.grad(stopped)(X), ERFC(X))


# ---- refusals ------------------------------------------------------------------------------------

REFUSED = {
    "complex for real": (lambda x: x * 1j, "f8", tn.DTypeMismatchError),
    "float for integer": (lambda x: x + 0.5, "i8", tn.DTypeMismatchError),
    "integer out of range": (lambda x: np.full(3, 300), "u1", tn.DTypeMismatchError),
    "negative for unsigned": (lambda x: np.full(3, -1), "u1", tn.DTypeMismatchError),
    "number for bool": (lambda x: np.ones(3), "?", tn.DTypeMismatchError),
    "shape": (lambda x: x[:2], "f8", tn.ShapeMismatchError),
    "structure": (lambda x: (x, x), "f8", tn.ShapeMismatchError),
    "nothing": (lambda x: None, "f8", tn.ShapeMismatchError),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("transform", [lambda f: f, tn.jit], ids=["eager", "jit"])
def test_results_that_are_not_as_stated_are_refused(name, transform):
    function, dtype, error = REFUSED[name]
    call = lambda x: tn.host_callback(function, x, results=(tn.Aval((3,), dtype),))  # noqa: E731
    if name not in ("structure", "nothing"):
        given, function = function, lambda x: (given(x),)
    with pytest.raises(error):
        np.asarray(transform(call)(X)[0])


def test_a_stated_dtype_may_hold_the_results():
    """A float64 rounds to a stated float32; an integer that fits is one of another width."""
    for dtype, need in (("f4", np.float32(1) / np.float32(3)), ("c16", 1 / 3)):
        found = tn.host_callback(lambda: 1 / 3, results=tn.Aval((), dtype))
        assert found.dtype == dtype
        assert complex(found) == complex(need)
    assert tn.host_callback(lambda: [1, 255], results=[tn.Aval((), "u1")] * 2)[1].dtype == "uint8"


@pytest.mark.parametrize("results", [(), {}, [None]], ids=str)
def test_a_function_without_results_is_no_function(results):
    with pytest.raises(ValueError, match=r"debug\.callback"):
        tn.host_callback(lambda x: results, X)


def test_a_file_cannot_hold_it(tmp_path):
    with pytest.raises(tn.SerializationError, match="callbacks"):
        tn.save_graph(tmp_path / "f.tng", called, X)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64", "bool"])
@pytest.mark.parametrize("transform", [tn.vmap, lambda f: tn.jit(tn.vmap(f))], ids=["vmap", "jit"])
def test_a_batch_of_no_examples_has_the_stated_shape_and_dtype(transform, dtype):
    """and the function is not called"""

    def never(x):
        raise AssertionError(x)

    stated = (tn.Aval((3,), dtype), tn.Aval((), dtype))
    found = transform(lambda x: tn.host_callback(never, x, results=stated))(np.ones((0, 3), dtype))
    assert [(np.shape(y), np.asarray(y).dtype) for y in found] == [((0, 3), dtype), ((0,), dtype)]
