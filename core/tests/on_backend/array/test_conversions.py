"""Errors about lost derivatives and unknown values name what asked, and the cure for it."""

import contextlib
import functools
import math
import os
from math import lgamma

import numpy as np
import pytest

import tenferro as tn

integrate = pytest.importorskip("scipy.integrate")
interpolate = pytest.importorskip("scipy.interpolate")
ndimage = pytest.importorskip("scipy.ndimage")
optimize = pytest.importorskip("scipy.optimize")
sparse = pytest.importorskip("scipy.sparse")
sparse_linalg = pytest.importorskip("scipy.sparse.linalg")
special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")


def refusal(transform, function):
    with pytest.raises((tn.TracedConversionError, tn.ConcretizationError)) as raised:
        transform(function)(2.0)
    return raised.value


def cure_of(error):
    return " ".join(str(error).partition("hint")[2].split())


def assign_to_numpy(x):
    """NumPy raises its own ValueError because of ours, which the user gets"""
    a = np.zeros(3)
    a[0] = x
    return np.sum(a)


@pytest.mark.parametrize("transform", [tn.grad, tn.jit], ids=["grad", "jit"])
@pytest.mark.parametrize(
    "function, name, cure",
    [
        (lambda x: np.array([x, x]), "np.array", "`np.stack([x, y])` or `tenferro.array("),
        (lambda x: np.asarray([x, x]), "np.asarray", "`np.stack([x, y])`"),
        (lambda x: np.array(
            [x, x * 2],
        ), "np.array", "`np.stack([x, y])`"),
        (lambda x: np.sum([x, x]), "np.sum", "Python's `sum([x, y])`"),
        (lambda x: np.mean([x, x]), "np.mean", "`tenferro.mean`"),
        (lambda x: np.sin([x, x]), "np.sin", "`np.stack([x, y])`"),
        (lambda x: np.dot([x, x], [1, 2]), "np.dot", "`tenferro.dot`"),
        (lambda x: np.linalg.norm([x, 1]), "np.linalg.norm", "`tenferro.linalg.norm`"),
        (lambda x: np.r_[x, 1.0], "np.r_", "`np.hstack((x, y))`"),
        (lambda x: np.c_[x, 1.0], "np.c_", "`np.column_stack((x, y))`"),
        (lambda x: np.full(3, x), "np.full", "`tenferro.full`"),
        (lambda x: np.arange(x), "np.arange", "`tenferro.arange`"),
        (lambda x: np.float64(x), "np.float64", "`x.astype(np.float64)`"),
        (lambda x: np.vectorize(lambda t: t)(x), "np.vectorize", "`tenferro.vectorize(f)(x)`"),
        (lambda x: list(np.ndenumerate(x)), "np.ndenumerate", "np.ndindex"),
        (lambda x: np.random.normal(x), "np.random.normal", "`tenferro.random`"),
        (lambda x: np.ones(2).dot([x, x]), "ndarray.dot", "`np.dot(a, x)`"),
        (lambda x: np.ones(2) @ [x, x], "conversion to a NumPy array", "`np.stack([x, y])`"),
        (lambda x: integrate.trapezoid([x, x]), "scipy.integrate.trapezoid", "tenferro.integrate"),
        (
            lambda x: integrate.quad(lambda t: t * x, 0, 1)[0],
            "scipy.integrate.quad",
            "tenferro.integrate.quad",
        ),
        (lambda x: optimize.root(lambda t: t - x, 1.0).x, "scipy.optimize.root", "custom_root("),
        (lambda x: optimize.least_squares(lambda t: t - x, 1.0).x, "scipy.optimize.least_squares",
         "custom_root("),
        (lambda x: optimize.differential_evolution(lambda t: t[0] * x, [(0, 1)]).x,
         "scipy.optimize.differential_evolution", "custom_root("),
        (lambda x: stats.skew([x, x]), "scipy.stats.skew", "tenferro.stats"),
        (lambda x: sparse_linalg.spsolve(sparse.csc_array([[1.0]]), x),
         "scipy.sparse.linalg.spsolve", "`tenferro.linalg.spsolve(S, b)`"),
        (lambda x: special.gammaln([x]), "scipy.special.gammaln", "(np.stack([x, y]))`"),
        (lambda x: math.sin(x), "math.sin", "`np.sin(x)`"),
        (lambda x: math.acos(x), "math.acos", "`np.arccos(x)`"),
        (lambda x: lgamma(x), "math.lgamma", "`scipy.special.gammaln(x)`"),
        (lambda x: float(x), "float", "leave out `float()`"),
        (lambda x: x.item(), "ndarray.item", "leave out `.item()`"),
        (lambda x: x.tolist(), "ndarray.tolist", "`list(x)`"),
        (lambda x: complex(x), "complex", "`x.astype(complex)`"),
        (lambda x: round(x), "round", "`np.round(x)`"),
        (lambda x: "%f" % x, "float", "`tenferro.debug.print("),  # noqa: UP031
        (lambda x: np.zeros(3).__setitem__(0, x), "ndarray.__setitem__", "`np.zeros_like(x)`"),
        (assign_to_numpy, "float", "`np.zeros_like(x)`"),
        (lambda x: np.save(os.devnull, x), "np.save", "save it there"),
        (lambda x: np.testing.assert_allclose(x, x), "np.testing.assert_allclose", "compare them"),
        (lambda x: interpolate.interp1d([0, 3], [1, 2])(x),
         "scipy.interpolate.interp1d", "`np.interp("),
        (lambda x: ndimage.convolve([x, x], [1, 2]), "scipy.ndimage.convolve", "np.pad(x, width"),
        (lambda x: ndimage.gaussian_filter([x, x], 1.0), "scipy.ndimage.gaussian_filter",
         "`tenferro.signal.convolve("),
    ],
)  # fmt: skip
def test_a_conversion_names_the_function_that_converted_and_the_cure(
    function, name, cure, transform
):
    error = refusal(transform, function)
    assert error.function == name
    assert cure in cure_of(error)


def test_what_has_no_source_text_is_refused_too():
    space = {"np": np}
    exec("def f(x): return np.array([x, x])", space)
    assert "np.stack" in cure_of(refusal(tn.grad, space["f"]))


def while_(x):
    while x > 0:
        x = x - 1
    return x


def assert_(x):
    assert x > 0
    return x


def scale_where_larger(x):
    y = np.ones_like(x, shape=3)
    y[y > x] *= 2
    return y


@pytest.mark.parametrize(
    "function, cure",
    [
        (scale_where_larger, "`x = np.where(mask, 2 * x, x)`"),
        (lambda x: x if x > 0 else -x, "`np.where(condition, a, b)`"),
        (lambda x: x if x > 0 and x < 3 else -x, "`np.logical_and`"),
        (lambda x: x if 0 < x < 3 else -x, "`(a < x) & (x < b)`"),
        (lambda x: x if x in (1, 2) else -x, "`np.isin(x, values)`"),
        (lambda x: not x > 0, "`np.logical_not(x)`"),
        (lambda x: not x, "`np.logical_not(x)`"),
        (lambda x: max(x, 0.0), "`np.maximum(a, b)`"),
        (lambda x: optimize.brentq(lambda t: t - x, 0, 9), "`tenferro.custom_root("),
        (while_, "`tenferro.while_loop(condition, step, start)` instead of `while`"),
        (assert_, "`tenferro.debug.callback`"),
        (lambda x: f"{x:.3f}", '`tenferro.debug.print("{x}", x=x)`'),
        (lambda x: list(range(x.astype(int))), "`range` needs a number that is known"),
        (lambda x: np.ones((4,))[: x.astype(int)], "take them from `x.shape`"),
        (lambda x: np.ones((4,))[x.astype(int) : x.astype(int) + 1], "`x[i + np.arange(k)]`"),
        (lambda x: np.reshape(np.ones(4), (x.astype(int), 2)), "take them from `x.shape`"),
        (lambda x: tn.arange(x), "take them from `x.shape`"),
        (lambda x: np.ones(3)[x.astype(int)], "`tenferro.asarray(X)[i]`"),
        (lambda x: [1, 2, 3][x.astype(int)], "`np.stack`"),
        (lambda x: int(x), "`x.astype(int)`"),
        (lambda x: np.array([x.astype(int)]), "`np.stack([x, y])`"),
    ],
)
def test_a_value_that_is_asked_for_under_jit_names_its_cure(function, cure):
    error = refusal(tn.jit, function)
    assert cure in cure_of(error)
    assert "stop_gradient" not in str(error)


def by_sign(x):
    return x if x > 0 else -x


TRACED = {
    "jit": (lambda: tn.jit(by_sign)(2.0), "without jit, or make the argument static"),
    "vmap": (lambda: tn.vmap(by_sign)(np.ones(2)), "in a loop of Python, without `vmap`"),
    "scan": (
        lambda: tn.scan(lambda c, _: (by_sign(c), c), 2.0, length=3),
        "in a loop of Python, without `scan`",
    ),
    "while_loop": (
        lambda: tn.while_loop(lambda x: x < 5, by_sign, 2.0),
        "in a loop of Python, without `while_loop`",
    ),
    "cond": (lambda: tn.cond(True, by_sign, by_sign, 2.0), "call the function without `cond`"),
    "checkpoint": (
        lambda: tn.grad(tn.checkpoint(by_sign))(2.0), "call the function without `checkpoint`"
    ),
    "jit and vmap": (
        lambda: tn.jit(lambda x: tn.vmap(lambda y: y if y > x else x)(np.ones(2)))(2.0),
        "in a loop of Python, without `jit` and `vmap`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACED)
def test_a_value_that_a_transform_traces_names_that_transform(name):
    """The cure names what has to go: `static_argnums` helps under ``jit`` alone."""
    call, cure = TRACED[name]
    with pytest.raises(tn.ConcretizationError) as found:
        call()
    quoted = name.replace(" and ", "` and `")
    assert f"unknown while a function is traced by `{quoted}`" in str(found.value)
    assert cure in cure_of(found.value)
    assert ("static_argnums" in str(found.value)) == (name == "jit")


def test_a_conversion_names_the_transform_that_traces():
    with pytest.raises(tn.TracedConversionError, match=r"function is traced by `vmap`"):
        tn.vmap(float)(np.ones(2))
    with pytest.raises(tn.TracedConversionError, match=r"a plain number, and its derivative"):
        tn.grad(float)(1.0)


@pytest.mark.parametrize("make", [np.zeros, np.empty])
def test_a_size_that_is_traced_names_its_cure(make):
    """np.zeros(n) of a traced n: the error is NumPy's, with our hint once"""
    inner = tn.jit(lambda n: make(n))
    with pytest.raises(TypeError) as found:
        tn.jit(lambda n: inner(n))(3)
    (note,) = [note for note in found.value.__notes__ if "hint" in note]
    assert "`static_argnums`" in note


@pytest.mark.parametrize(
    "function, name",
    [
        (lambda x: optimize.brentq(lambda t: t - x, 0, 5), "scipy.optimize.brentq"),
        (
            lambda x: integrate.ode(lambda t, y: [-x * y[0]]).set_initial_value([1.0]).integrate(1),
            "scipy.integrate.ode",
        ),
    ],
    ids=["brentq", "ode"],
)
def test_an_error_inside_compiled_code_of_scipy_is_ours(function, name):
    """SciPy's C code raises SystemError, or goes on with our error pending"""
    assert refusal(tn.grad, function).function == name


class Drops:
    """`list` asks for a length, ignores that this fails, and goes on."""

    def __init__(self, x):
        type(self).__length_hint__ = staticmethod(functools.partial(float, x))

    def __iter__(self):
        return self

    def __next__(self):
        raise KeyError("another error")


@pytest.mark.parametrize(
    "module, expected", [("scipy.pretended", tn.TracedConversionError), (__name__, KeyError)]
)
def test_an_error_that_compiled_code_of_a_library_dropped_replaces_what_follows(module, expected):
    compiled = {"__name__": module}
    exec("def call(values): return list(values)", compiled)
    with pytest.raises(expected):
        tn.grad(lambda x: compiled["call"](Drops(x)))(2.0)


def test_an_error_that_follows_from_no_refusal_is_left_as_it_is():
    """The frame lies where that of a refused call lay before"""

    def f(x):
        for value in (x, 0.0):
            with contextlib.suppress(tn.TracedConversionError):
                integrate.quad(lambda t: 1 / value if value is not x else x, 0, 1)  # noqa: B023

    with pytest.raises(ZeroDivisionError):
        tn.grad(f)(2.0)


def test_a_traced_size_inside_a_function_of_numpy_is_our_error():
    """np.ones is Python, whose call of np.empty drops our error"""
    error = refusal(tn.jit, lambda n: np.ones(n.astype(int)))
    assert "`static_argnums`" in str(error)


def test_code_in_c_that_takes_arrays_of_numpy_alone_has_a_cure():
    """SciPy's factorization of a sparse matrix raises its own TypeError"""
    solve = sparse_linalg.splu(sparse.csc_array(np.eye(2))).solve
    with pytest.raises(TypeError, match="not Array") as found:
        tn.grad(lambda b: np.sum(solve(b)))(np.ones(2))
    (note,) = found.value.__notes__
    assert "`tenferro.linalg.spsolve(S, b)`" in note


def test_an_error_that_the_user_raises_from_ours_is_left_as_it_is():
    def f(x):
        try:
            return float(x)
        except tn.TracedConversionError as error:
            raise ValueError("mine") from error

    with pytest.raises(ValueError, match=r"^mine$"):
        tn.grad(f)(2.0)


def test_a_function_of_scipy_that_is_not_covered_has_its_own_name():
    with pytest.raises(tn.UnsupportedFunctionError, match=r"scipy\.special\.struve is not"):
        tn.grad(lambda x: special.struve(0, x))(1.0)
    with pytest.raises(tn.UnsupportedFunctionError, match=r"np\.isnat"):
        tn.grad(lambda x: np.isnat(x))(1.0)


@pytest.mark.parametrize(
    "elements", [lambda x: [x[i] for i in np.ndindex(x.shape)], lambda x: x.flat]
)
def test_elements_are_read_one_by_one_inside_a_transform(elements):
    """∂/∂x_k Σ_k k x_k = k"""
    loss = lambda x: sum(k * v for k, v in enumerate(elements(x)))  # noqa: E731
    x = np.ones((2, 3))
    np.testing.assert_array_equal(tn.jit(tn.grad(loss))(x), np.arange(6.0).reshape(2, 3))
    assert loss(tn.asarray(x)) == 15


def test_an_iterator_of_numpy_takes_known_arrays_alone():
    """nditer replaces our error by one of its own, so it is a TypeError without a hint"""
    assert sum(np.nditer(tn.asarray(np.arange(6.0)))) == 15
    with pytest.raises(TypeError):
        tn.jit(lambda x: sum(np.nditer(x)))(np.arange(6.0))
