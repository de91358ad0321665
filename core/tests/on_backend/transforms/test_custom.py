"""A rule of the user that states the native derivative gives the native results, everywhere."""

from itertools import product

import numpy as np
import pytest
from modes import ALL, CLASSICAL, MODES

import tenferro as tn

X, W = np.array([0.1, 0.5, 1.2]), np.array([1.0, -2.0, 3.0])
BATCH = np.stack([X, 2 * X])


def native(x):
    return np.sin(x) ** 3 * x


def slope(x):
    return 3 * np.sin(x) ** 2 * np.cos(x) * x + np.sin(x) ** 3


by_jvp = tn.custom_jvp(native)
by_jvp.defjvp(lambda primals, tangents: (by_jvp(*primals), slope(primals[0]) * tangents[0]))
by_jvps = tn.custom_jvp(native)
by_jvps.defjvps(lambda dx, y, x: slope(x) * dx)
by_vjp = tn.custom_vjp(native)
by_vjp.defvjp(lambda x: (by_vjp(x), x), lambda x, ct: (slope(x) * ct,))
by_linear = tn.custom_linear(lambda w, x: w * x, lambda w, ct: w * ct)

RULES = {
    "jvp": by_jvp,
    "jvps": by_jvps,
    "vjp": by_vjp,
    "linear": lambda x: by_linear(np.sin(x) ** 3, x),
}
rules = pytest.mark.parametrize("function", RULES.values(), ids=RULES)


@rules
@pytest.mark.parametrize("mode", ALL)
def test_every_mode_gives_the_native_derivative(function, mode):
    assert ALL[mode](function)(0.7) == pytest.approx(ALL[mode](native)(0.7), rel=1e-12)


@rules
@pytest.mark.parametrize("outer, inner", list(product(ALL, CLASSICAL)))
def test_every_mode_of_every_mode_gives_the_native_second_derivative(function, outer, inner):
    need = tn.grad(tn.grad(native))(0.7)
    assert ALL[outer](MODES[inner](function))(0.7) == pytest.approx(need, rel=1e-12)


@rules
@pytest.mark.parametrize("a, b, c", list(product(CLASSICAL, CLASSICAL, CLASSICAL)))
def test_three_modes_give_the_native_third_derivative(function, a, b, c):
    need = tn.grad(tn.grad(tn.grad(native)))(0.7)
    found = MODES[a](MODES[b](MODES[c](function)))(0.7)
    assert found == pytest.approx(need, rel=1e-12)


def loss(function):
    return lambda x, w=W: np.sum(function(x) * w)


WHOLE = {
    "jacfwd": lambda f: tn.jacfwd(f)(X),
    "jacrev": lambda f: tn.jacrev(f)(X),
    "jacobian": lambda f: tn.jacobian(f)(X),
    "hessian": lambda f: tn.hessian(loss(f))(X),
    "hvp": lambda f: tn.hvp(loss(f))(X, W),
    "jit": lambda f: tn.jit(f)(X),
    "vmap": lambda f: tn.vmap(f)(BATCH),
    "vmap of grad": lambda f: tn.vmap(tn.grad(loss(f)))(BATCH),
    "jit of vmap of grad": lambda f: tn.jit(tn.vmap(tn.grad(loss(f))))(BATCH),
    "grad of vmap": lambda f: tn.grad(lambda x: np.sum(tn.vmap(loss(f))(x) ** 2))(BATCH),
    "jvp of vmap": lambda f: tn.jvp(tn.vmap(loss(f)), (BATCH,), (BATCH,))[1],
    "grad of vmap of grad": lambda f: tn.grad(lambda x: np.sum(tn.vmap(tn.grad(loss(f)))(x) ** 2))(
        BATCH
    ),
    "vmap of vmap": lambda f: tn.vmap(tn.vmap(tn.grad(f)))(BATCH),
    "hessian of jit": lambda f: tn.hessian(tn.jit(loss(f)))(X),
    "vmap of hessian": lambda f: tn.vmap(tn.hessian(loss(f)))(BATCH),
    "linearize": lambda f: tn.linearize(f, X)[1](W),
    "twice the pullback": lambda f: [tn.vjp(f, X)[1](w)[0] for w in (W, 2 * W)],
}


@rules
@pytest.mark.parametrize("transform", WHOLE.values(), ids=WHOLE)
def test_every_transform_gives_the_native_result(function, transform):
    np.testing.assert_allclose(transform(function), transform(native), rtol=1e-11, atol=1e-13)


@rules
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_of_the_argument_stays(function, dtype):
    assert tn.grad(loss(function))(X.astype(dtype), W.astype(dtype)).dtype == dtype


def test_a_holomorphic_rule_serves_complex_arguments():
    z = X + 1j * W
    f = lambda z: np.sum(abs(by_vjp_complex(z)) ** 2)  # noqa: E731
    np.testing.assert_allclose(tn.grad(f)(z), tn.grad(lambda z: np.sum(abs(z * z) ** 2))(z))
    np.testing.assert_allclose(tn.jvp(f, (z,), (1j * z,))[1], 0, atol=1e-12)


by_vjp_complex = tn.custom_vjp(lambda z: z * z)
by_vjp_complex.defvjp(lambda z: (z * z, z), lambda z, ct: (2 * np.conj(z) * ct,))


# ---- pytrees, integers, scalars, keywords -------------------------------------------------------


@tn.custom_jvp
def scaled(p, s=2.0):
    return {"z": p["a"] * p["b"] * s, "n": np.sum(p["a"] > 0)}


@scaled.defjvp
def scaled_jvp(primals, tangents):
    (p, s), (dp, ds) = primals, tangents
    dz = (dp["a"] * p["b"] + p["a"] * dp["b"]) * s + p["a"] * p["b"] * ds
    return scaled(p, s), {"z": dz, "n": None}


@tn.custom_vjp
def pulled(p, s=2.0):
    return {"z": p["a"] * p["b"] * s, "n": np.sum(p["a"] > 0)}


def pulled_fwd(p, s):
    return pulled(p, s), (p, s, "a note")


def pulled_bwd(residuals, ct):
    p, s, note = residuals
    assert (note, ct["n"]) == ("a note", None)
    ct_s = None if isinstance(s, float) else np.sum(ct["z"] * p["a"] * p["b"])
    return {"a": ct["z"] * p["b"] * s, "b": ct["z"] * p["a"] * s}, ct_s


pulled.defvjp(pulled_fwd, pulled_bwd)
trees = pytest.mark.parametrize("function", [scaled, pulled], ids=["jvp", "vjp"])


@trees
@pytest.mark.parametrize(
    "derivative, need",
    [
        (lambda f: tn.grad(f, (0, 1))(X, W), (3 * W, 3 * X)),
        (lambda f: tn.jvp(f, (X, W), (W, X))[1], 3 * np.sum(W * W + X * X)),
        (lambda f: tn.hessian(f)(X, W), np.zeros((3, 3))),
        (lambda f: tn.jacrev(tn.grad(f, 1))(X, W), 3 * np.eye(3)),
        (lambda f: tn.jit(tn.grad(f))(X, W), 3 * W),
        (lambda f: tn.vmap(tn.grad(f, 1), (0, None))(BATCH, W), 3 * BATCH),
        (lambda f: tn.grad(lambda w: np.sum(tn.vmap(f, (0, None))(BATCH, w)))(W), 9 * X),
        (lambda f: tn.jacfwd(lambda w: tn.vmap(f, (0, None))(BATCH, w))(W), 3 * BATCH),
    ],
)
def test_pytrees_pass_with_integers_and_numbers_in_them(function, derivative, need):
    found = derivative(lambda a, b: np.sum(function({"a": a, "b": b}, s=3.0)["z"]))
    np.testing.assert_allclose(found, need, atol=1e-14)


@trees
def test_a_number_that_is_differentiated_is_an_argument_like_others(function):
    f = lambda s: np.sum(function({"a": X, "b": W}, s)["z"])  # noqa: E731
    assert [tn.grad(f)(1.5), tn.jvp(f, (1.5,), (2.0,))[1]] == pytest.approx([X @ W, 2 * X @ W])


def test_fixed_arguments_come_first_and_keywords_by_keyword():
    @tn.custom_jvp(nondiff_argnums=(0,))
    def apply(function, x, *, k):
        return function(x) * k

    @apply.defjvp
    def rule(function, primals, tangents, *, k):
        return apply(function, *primals, k=k), 100.0 * k * tangents[0]

    assert tn.grad(lambda x: apply(np.sin, x, k=2.0))(1.0) == 200

    @tn.custom_vjp(nondiff_argnums=1)
    def applied(x, function):
        return function(x)

    applied.defvjp(lambda x, function: (function(x), None), lambda function, _, ct: (7 * ct,))
    assert tn.grad(lambda x: applied(x, np.sin))(1.0) == 7
    assert tn.grad(lambda x: applied(function=np.sin, x=x))(1.0) == 7


@pytest.mark.parametrize(
    "fixed",
    [
        {"nondiff_argnames": "function"},
        {"nondiff_argnames": ("function", "k")},  # what is keyword-only never varies
        {"nondiff_argnums": 1, "nondiff_argnames": ["function"]},
    ],
)
def test_arguments_are_fixed_by_name_as_by_position(fixed):
    """However the call passes them; the rule gets them first."""

    @tn.custom_jvp(**fixed)
    def pushed(x, function, *, k=1.0):
        return function(x) * k

    @pushed.defjvp
    def rule(function, primals, tangents, *, k):
        return pushed(*primals, function, k=k), 100.0 * k * tangents[0]

    @tn.custom_vjp(**fixed)
    def pulled(x, function, *, k=1.0):
        return function(x) * k

    pulled.defvjp(
        lambda x, function, *, k: (function(x) * k, None),
        lambda function, _, ct, *, k: (100.0 * k * ct,),
    )
    for f in (pushed, pulled):
        for modify in (tn.grad, lambda g: tn.jit(tn.grad(g)), tn.jacfwd):
            assert modify(lambda x, f=f: f(x, np.sin, k=2.0))(1.0) == 200
            assert modify(lambda x, f=f: f(function=np.sin, x=x))(1.0) == 100


def test_names_of_fixed_arguments_are_sorted_as_the_parameters_are():
    """The first argument of the rule is the first parameter, whatever the order of the names."""
    f = tn.custom_jvp(lambda n, x, m: x * n * m, nondiff_argnames=("m", "n"))
    f.defjvp(lambda n, m, p, t: (f(n, *p, m), t[0] * (10 * n + m)))
    assert tn.grad(lambda x: f(2, x, 3))(1.0) == 23


@pytest.mark.parametrize("derivative", [tn.grad, tn.jacfwd])
def test_a_rule_may_be_given_for_a_ufunc(derivative):
    """The rule gets the arguments that the call wrote, not the options of the ufunc."""
    f = tn.custom_jvp(np.sin)
    f.defjvps(lambda dx, y, x: 7 * x * dx)
    g = tn.custom_vjp(np.multiply)
    g.defvjp(lambda x, y: (x * y, x), lambda x, ct: (7 * x * ct, None))
    assert derivative(f)(2.0) == derivative(lambda x: g(x, 3.0))(2.0) == 14


def test_a_method_is_given_its_instance():
    class Model:
        slope = 5.0

        @tn.custom_jvp
        def __call__(self, x):
            return x * x

        @__call__.defjvp
        def rule(primals, tangents):
            model, x = primals
            return model(x), model.slope * tangents[1]

    assert tn.grad(Model().__call__)(2.0) == 5


def test_what_the_function_closes_over_is_differentiated_natively():
    def outer(w, x):
        f = tn.custom_jvp(lambda x: w * x)
        f.defjvps(lambda dx, y, x: 100 * dx)
        return f(x)

    assert tn.grad(outer, (0, 1))(2.0, 3.0) == (3, 100)
    mixed = tn.grad(lambda x: tn.grad(outer)(2.0, x))
    assert [mixed(3.0), tn.jit(mixed)(3.0), tn.grad(tn.jit(outer), (0, 1))(2.0, 3.0)] == [
        1,
        1,
        (3, 100),
    ]
    assert tn.vmap(tn.grad(outer), (None, 0))(2.0, X).tolist() == X.tolist()
    summed = lambda w: np.sum(tn.vmap(outer, (None, 0))(w, X))  # noqa: E731
    assert tn.grad(summed)(2.0) == pytest.approx(X.sum())


def test_outside_of_transforms_the_function_is_itself():
    def fails(*args):
        raise AssertionError

    f = tn.custom_jvp(lambda x: x * 2)
    f.defjvp(fails)
    assert f(3.0) == 6.0
    np.testing.assert_array_equal(f(X), X * 2)
    assert isinstance(f(X), np.ndarray)
    assert tn.vmap(f)(X).tolist() == tn.jit(f)(X).tolist() == (X * 2).tolist()


def test_a_number_of_the_user_yields_to_the_dtype_of_an_array():
    small = np.ones(3, "float32")
    by_each = tn.custom_jvp(lambda s, a: s * a)
    by_each.defjvps(lambda ds, y, s, a: ds * a, lambda da, y, s, a: s * da)
    by_pullback = tn.custom_vjp(lambda s, a: s * a)
    by_pullback.defvjp(lambda s, a: (s * a, (s, a)), lambda r, ct: (np.sum(ct * r[1]), ct * r[0]))
    for f in (by_each, by_pullback):
        assert tn.grad(lambda s: np.sum(f(s, small)))(2.0) == 3  # noqa: B023
        assert tn.grad(lambda a, s: np.sum(f(s, a)))(small, 2.0).dtype == "float32"  # noqa: B023
        assert tn.jvp(lambda s: f(s, small), (2.0,), (1.0,))[1].dtype == "float32"  # noqa: B023


def test_positions_are_arguments_that_cannot_vary():
    index = np.array([0, 2, 2])
    pick = tn.custom_vjp(lambda x, i: x[i])
    pick.defvjp(
        lambda x, i: (x[i], (i, x.shape)), lambda r, ct: (tn.zeros(r[1]).at[r[0]].add(ct), None)
    )
    f = lambda x, i: np.sum(pick(x, i) ** 2)  # noqa: E731
    need = np.array([2 * X[0], 0, 4 * X[2]])
    np.testing.assert_allclose(tn.grad(f)(X, index), need)
    np.testing.assert_allclose(tn.jvp(lambda x: pick(x, index), (X,), (W,))[1], W[index])
    both = tn.vmap(tn.grad(f), (None, 0))(X, np.stack([index, index]))
    np.testing.assert_allclose(both, [need, need])
