"""Public functions give NumPy for NumPy and Arrays for Arrays; solvers of SciPy can call them."""

import numpy as np
import pytest

import tenferro as tn

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
X = np.array([0.5, 0.3])
OF_NUMPY = {
    "sin": lambda x: tn.sin(x),
    "sum": lambda x: tn.sum(x),
    "of a list": lambda x: tn.stack([x, x]),
    "of a number": lambda x: tn.exp(float(x[0])),
    "keyword": lambda x: tn.sum(x, axis=0, keepdims=True),
    "linalg": lambda x: tn.linalg.norm(x),
    "special": lambda x: tn.special.gammaln(x),
    "fft": lambda x: tn.fft.fft(x),
    "where": lambda x: tn.where(x > 0.4, x, 0.0),
    "reshape": lambda x: tn.reshape(x, (2, 1)),
    "float32": lambda x: tn.cos(x.astype("float32")),
    "empty": lambda x: tn.cumsum(x[:0]),
}


@pytest.mark.parametrize("name", OF_NUMPY)
def test_functions_of_numpy_give_numpy(name):
    """f(x) is of NumPy and f(asarray(x)) an Array, of one dtype and equal values"""
    function = OF_NUMPY[name]
    got = function(X)
    assert isinstance(got, (np.ndarray, np.generic))
    if name in ("of a number", "float32"):
        return
    array = function(tn.asarray(X))
    assert isinstance(array, tn.Array)
    assert array.dtype == got.dtype
    np.testing.assert_array_equal(np.asarray(array), got)


def test_several_results_keep_their_structure():
    found = tn.linalg.slogdet(np.eye(2) * 2)
    assert type(found).__name__ == "SlogdetResult"
    assert all(isinstance(x, np.generic) for x in found)
    assert [type(x) for x in tn.split(X, 2)] == [np.ndarray, np.ndarray]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tn.zeros(3),
        lambda: tn.ones_like(X),
        lambda: tn.arange(3),
        lambda: tn.linspace(0, 1, 3),
        lambda: tn.eye(2),
        lambda: tn.asarray(X),
        lambda: tn.array([1.0, 2.0]),
        lambda: tn.copy(X),
        lambda: tn.from_dlpack(X),
    ],
)
def test_functions_that_create_give_arrays(make):
    assert isinstance(make(), tn.Array)


def test_results_share_no_memory_with_arguments_or_constants():
    for x in (np.ones(4), np.ones(2000)):
        y = tn.reshape(x, (2, -1))
        y[0] = 5
        assert x.sum() == x.size
        assert tn.sum(tn.reshape(np.ones(x.shape), (2, -1))) == x.size

    def borrowed(c, x):
        y = tn.reshape(c, (2, -1))
        y[0] = 7
        return tn.sum(y * x)

    c = np.ones(2000)
    assert tn.grad(borrowed, 1)(c, 2.0) == 8000
    assert c.sum() == 2000


@pytest.mark.parametrize("transform", [tn.grad, tn.jit, tn.vmap, lambda f: f])
def test_the_kind_of_a_result_does_not_depend_on_open_transforms(transform):
    """A function of constants is a constant, and derivatives are those without it"""
    kinds = []

    def f(x):
        constant = tn.exp(np.ones(2))
        kinds.append((type(constant), type(tn.sum(constant * x)), type(tn.zeros(2))))
        return tn.sum(constant * x)

    x = 2.0 if transform is not tn.vmap else np.full(3, 2.0)
    got = transform(f)(x)
    np.testing.assert_allclose(got, (1 if transform is tn.grad else 2) * 2 * np.e)
    kind = np.float64 if not hasattr(transform(f), "__wrapped__") else tn.Array
    assert kinds[0] == (np.ndarray, kind, tn.Array)


def test_what_a_function_of_the_user_makes_of_arrays_stays_an_array():
    got = tn.grad(lambda x: tn.sum(tn.apply_along_axis(lambda row: x * row, 0, np.ones(3))))(2.0)
    assert got == 3


def test_custom_rules_give_numpy():
    f = tn.custom_jvp(lambda x: tn.sin(x))
    f.defjvp(lambda p, t: (f(*p), tn.cos(p[0]) * t[0]))
    g = tn.custom_vjp(lambda x: tn.sin(x))
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (tn.cos(x) * ct,))
    assert type(f(X)) is type(g(X)) is np.ndarray
    np.testing.assert_allclose(tn.grad(lambda x: tn.sum(f(x) + g(x)))(X), 2 * np.cos(X))


def test_a_dtype_says_what_numpys_says():
    assert tn.float32.type is np.float32
    assert (tn.int64.char, tn.bool.char, tn.complex64.str) == ("l", "?", "<c8")
    assert not hasattr(tn.float32, "no_such_attribute")


# ---- SciPy's solvers -----------------------------------------------------------------------------

A = tn.asarray(np.array([1.0, 2.0]))
OBJECTIVES = {
    "of NumPy": lambda x: tn.sum((x - 1) ** 2) + tn.sum(x**4),
    "an Array": lambda x: tn.sum((x - A) ** 2) + tn.sum(x**4),
    "jitted": tn.jit(lambda x: tn.sum((x - A) ** 2) + tn.sum(x**4)),
}
GRADIENT = "CG BFGS Newton-CG L-BFGS-B TNC SLSQP dogleg trust-ncg trust-exact trust-krylov".split()
HESSIAN = "Newton-CG dogleg trust-ncg trust-exact trust-krylov".split()


# At the minimum trust-constr may take so short a step that the gradient stays; BLAS decides.
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "COBYLA", "trust-constr", *GRADIENT])
def test_every_method_of_minimize_takes_the_function_and_its_derivatives(method, name):
    """∇f = 0 at the result"""
    f = OBJECTIVES[name]
    given = {"jac": tn.grad(f)} if method in GRADIENT else {}
    if method in HESSIAN:
        given["hess"] = tn.hessian(f)
    found = optimize.minimize(f, X, method=method, **given)
    np.testing.assert_allclose(tn.grad(f)(found.x), 0, atol=2e-2)


@pytest.mark.parametrize("wrap", [lambda f: f, tn.jit])
def test_value_and_gradient_come_together(wrap):
    both = wrap(tn.value_and_grad(OBJECTIVES["an Array"]))
    found = optimize.minimize(both, X, jac=True)
    np.testing.assert_allclose(both(found.x)[1], 0, atol=1e-4)


SYSTEM = {
    "of NumPy": lambda x: tn.stack([x[0] + x[1] - 3, x[0] * x[1] - 2]),
    "an Array": lambda x: A * x - 1,
}


@pytest.mark.parametrize("name", SYSTEM)
@pytest.mark.parametrize("method", ["hybr", "lm", "krylov", "df-sane", "broyden1", "anderson"])
def test_root_takes_functions_and_jacobians(method, name):
    """f = 0 at the result"""
    f = SYSTEM[name]
    given = {"jac": tn.jacobian(f)} if method in ("hybr", "lm") else {}
    found = optimize.root(f, np.array([0.7, 2.2]), method=method, **given)
    np.testing.assert_allclose(np.asarray(f(found.x)), 0, atol=1e-4)


@pytest.mark.parametrize("name", SYSTEM)
@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_takes_functions_and_jacobians(method, name):
    """f = 0 at the result"""
    f = SYSTEM[name]
    for jac in ("2-point", tn.jacobian(f), tn.jit(tn.jacobian(f))):
        found = optimize.least_squares(f, np.array([0.7, 2.2]), jac=jac, method=method)
        np.testing.assert_allclose(np.asarray(f(found.x)), 0, atol=1e-6)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"])
def test_solve_ivp_takes_right_hand_sides(method):
    """y′ = −a y with y(0) = 1 has y(1) = exp(−a)"""
    for right in (lambda t, y: tn.negative(y), lambda t, y: -A * y):
        given = {"jac": lambda t, y, f=right: tn.jacobian(lambda y: f(t, y))(y)}
        stiff = method in ("Radau", "BDF", "LSODA")
        found = integrate.solve_ivp(right, (0, 1), np.ones(2), method, **(given if stiff else {}))
        rate = -np.asarray(right(0, np.ones(2)))
        np.testing.assert_allclose(found.y[:, -1], np.exp(-rate), rtol=5e-2)


METHODS = (
    "hybr lm broyden1 broyden2 anderson linearmixing diagbroyden excitingmixing krylov df-sane"
)


def contracting(np_or_tn, x):
    return np_or_tn.stack([x[0] - 0.3 * np_or_tn.cos(x[1]), x[1] - 0.2 * np_or_tn.sin(x[0]) - 0.1])


def end_of_root(function, method):
    """Success and solution; of SciPy's line search also that its numbers overflow."""
    try:
        found = optimize.root(function, X, method=method)
    except OverflowError:
        return False, X * np.inf
    assert type(found.x) is np.ndarray
    return found.success, found.x


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", METHODS.split())
@pytest.mark.parametrize("kind", ["function of tenferro", "an Array"])
def test_root_ends_where_it_ends_with_numpy(method, kind):
    """root(f) with f computed here = root(f) with f computed by NumPy, success and failure alike"""
    success, want = end_of_root(lambda x: contracting(np, x), method)
    function = lambda x: contracting(tn, tn.asarray(x) if kind == "an Array" else x)  # noqa: E731
    found = end_of_root(function, method)
    assert found[0] == success
    np.testing.assert_allclose(found[1], want, rtol=1e-9 if success else np.inf)


def gradient(x):
    return tn.grad(OBJECTIVES["an Array"])(tn.asarray(x))


@pytest.mark.parametrize("method", GRADIENT)
def test_a_gradient_that_is_an_array_is_taken(method):
    """jac and hess may return Arrays: SciPy gets memory of NumPy that it may write into"""
    f = OBJECTIVES["an Array"]
    given = {"hess": lambda x: tn.hessian(f)(tn.asarray(x))} if method in HESSIAN else {}
    found = optimize.minimize(f, X, method=method, jac=gradient, **given)
    np.testing.assert_allclose(gradient(found.x), 0, atol=2e-2)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_a_jacobian_that_is_an_array_is_taken(method):
    residual = SYSTEM["an Array"]
    jacobian = lambda x: tn.jacobian(residual)(tn.asarray(x))  # noqa: E731
    found = optimize.least_squares(residual, X, jac=jacobian, method=method)
    np.testing.assert_allclose(residual(found.x), 0, atol=1e-6)


def test_arrays_of_a_transform_do_not_become_memory():
    """SciPy inside of grad would lose the derivative: an error says so"""
    f = lambda a: optimize.least_squares(lambda x: a * x - 1, X).x.sum()  # noqa: E731
    with pytest.raises(tn.TracedConversionError):
        tn.grad(f)(2.0)
    assert isinstance(np.atleast_1d(tn.asarray(X)), tn.Array)
