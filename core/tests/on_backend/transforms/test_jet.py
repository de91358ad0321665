"""Derivatives along paths: against mpmath, against nested first derivatives, and their laws."""

import mpmath
import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
B = RNG.normal(size=(3, 3))
V = RNG.normal(size=5)
W = RNG.normal(size=5)

# name: function, its meaning in mpmath, a point
NUMBERS = {
    "exp": (np.exp, mpmath.exp, 0.3),
    "log": (np.log, mpmath.log, 1.7),
    "log1p": (np.log1p, mpmath.log1p, 0.4),
    "expm1": (np.expm1, mpmath.expm1, 0.4),
    "exp2": (np.exp2, lambda x: mpmath.mpf(2) ** x, 0.4),
    "log10": (np.log10, mpmath.log10, 2.4),
    "sin": (np.sin, mpmath.sin, 0.9),
    "cos": (np.cos, mpmath.cos, 0.9),
    "tan": (np.tan, mpmath.tan, 0.6),
    "arcsin": (np.arcsin, mpmath.asin, 0.3),
    "arccos": (np.arccos, mpmath.acos, 0.3),
    "arctan": (np.arctan, mpmath.atan, 0.8),
    "sinh": (np.sinh, mpmath.sinh, 0.8),
    "cosh": (np.cosh, mpmath.cosh, 0.8),
    "tanh": (np.tanh, mpmath.tanh, 0.8),
    "arcsinh": (np.arcsinh, mpmath.asinh, 0.8),
    "arccosh": (np.arccosh, mpmath.acosh, 1.9),
    "arctanh": (np.arctanh, mpmath.atanh, 0.3),
    "sqrt": (np.sqrt, mpmath.sqrt, 1.3),
    "cbrt": (np.cbrt, mpmath.cbrt, 1.3),
    "square": (np.square, lambda x: x * x, 1.3),
    "reciprocal": (np.reciprocal, lambda x: 1 / x, 1.3),
    "power of a number": (lambda x: x**2.5, lambda x: x ** mpmath.mpf("2.5"), 1.3),
    "integer power": (lambda x: x**5, lambda x: x**5, 1.3),
    "negative power": (lambda x: x**-3, lambda x: x**-3, 1.3),
    "power of itself": (lambda x: x**x, lambda x: x**x, 1.3),
    "number to a power": (lambda x: 2.0**x, lambda x: mpmath.mpf(2) ** x, 0.7),
    "quotient": (lambda x: np.sin(x) / (1 + x * x), lambda x: mpmath.sin(x) / (1 + x * x), 0.7),
    "quotient of a number": (lambda x: 3 / (2 + x), lambda x: 3 / (2 + x), 0.7),
    "absolute": (np.abs, abs, -1.2),
    "arctan2": (
        lambda x: np.arctan2(x, 1 + x**2),
        lambda x: mpmath.atan2(x, 1 + x**2),
        0.7,
    ),
    "hypot": (lambda x: np.hypot(x, 2.0), lambda x: mpmath.sqrt(x * x + 4), 0.7),
    "logaddexp": (
        lambda x: np.logaddexp(x, 2 * x),
        lambda x: mpmath.log(mpmath.exp(x) + mpmath.exp(2 * x)),
        0.7,
    ),
    "erf": (lambda x: tn.special.erf(x), mpmath.erf, 0.4),
    "lgamma": (lambda x: tn.special.gammaln(x), mpmath.loggamma, 1.8),
    "digamma": (lambda x: tn.special.digamma(x), mpmath.digamma, 1.8),
    "logistic": (lambda x: tn.special.expit(x), lambda x: 1 / (1 + mpmath.exp(-x)), 0.4),
    "bessel": (lambda x: tn.special.i0(x), lambda x: mpmath.besseli(0, x), 0.8),
    "exp of sin": (
        lambda x: np.exp(np.sin(x)),
        lambda x: mpmath.exp(mpmath.sin(x)),
        0.7,
    ),
    "steps": (lambda x: np.floor(x) * x + np.sign(x), lambda x: 2 * x + 1, 2.3),
    "stopped": (lambda x: tn.stop_gradient(x) * x**2, lambda x: mpmath.mpf("1.5") * x**2, 1.5),
    "chosen": (lambda x: np.where(x > 1, x**3, x), lambda x: x**3, 1.5),
    "power of zero": (lambda x: x**3 + x**2, lambda x: x**3 + x**2, 0.0),
    "larger": (lambda x: np.maximum(x**2, x), lambda x: x**2, 1.5),
}


def cubic(x):
    """A path through x with all of its derivatives."""
    return x + 0.0, x * 0.5 - 0.2, np.cos(x), x - 0.7


ARRAYS = {
    "product": lambda x: x @ x.T @ x,
    "einsum": lambda x: tn.einsum("ij,kj,ki->i", x, x, x),
    "solve": lambda x: np.linalg.solve(x, x.T @ B),
    "inverse": np.linalg.inv,
    "determinant": np.linalg.det,
    "logarithm of a determinant": lambda x: np.linalg.slogdet(x)[1],
    "cholesky": lambda x: np.linalg.cholesky(x @ x.T),
    "eigenvalues": lambda x: np.linalg.eigvalsh(x + x.T),
    "eigenvectors": lambda x: abs(np.linalg.eigh(x + x.T)[1]),
    "singular values": lambda x: np.linalg.svd(x, compute_uv=False),
    "qr": lambda x: abs(np.linalg.qr(x)[1]),
    "exponential": lambda x: tn.linalg.expm(x / 4),
    "sums": lambda x: x.sum(0) * x.mean() + np.prod(x, axis=1),
    "largest": lambda x: x.max(axis=1) * x.min(),
    "sorted": lambda x: np.sort(x, axis=None)[::2],
    "taken": lambda x: x[np.array([0, 2, 2]), 1:] * x[1, :2],
    "added at": lambda x: tn.zeros((4, 3)).at[np.array([0, 0, 3])].add(x**2),
    "moved": lambda x: tn.concatenate([x.T[::-1], np.pad(x, 1)[1:3, :3]]),
    "sums so far": lambda x: np.cumsum(x, axis=0) * np.cumprod(x, axis=1),
    "fourier": lambda x: abs(np.fft.fft(x)) ** 2,
    "softmax": lambda x: tn.special.softmax(x, axis=1) + tn.special.logsumexp(x),
    "norm": lambda x: x / np.linalg.norm(x),
    "spread": lambda x: np.var(x, axis=0) + np.std(x),
}


def halves(x):
    return tn.cond(x.sum() > 0, lambda x: np.sin(x) * x, lambda x: x**2, x)


def steps(x):
    return tn.scan(lambda c, row: (np.tanh(c * row) + c, c * c), x[0], x)


def until(x):
    return tn.while_loop(lambda c: c[1] < 3, lambda c: (np.sin(c[0]) * c[0], c[1] + 1), (x, 0))[0]


@tn.custom_jvp
def doubled(x):
    return np.sin(2 * x)


@doubled.defjvp
def _doubled(primals, tangents):
    return doubled(primals[0]), 2 * np.cos(2 * primals[0]) * tangents[0]


@tn.custom_vjp
def tripled(x):
    return np.sin(3 * x)


tripled.defvjp(lambda x: (tripled(x), x), lambda x, ct: (3 * np.cos(3 * x) * ct,))


def closed_over(x):
    """A function with a rule of its own that closes over what varies."""
    scale = np.sin(x)

    @tn.custom_jvp
    def scaled(y):
        return y**2 * scale

    scaled.defjvp(
        lambda primals, tangents: (scaled(*primals), 2 * primals[0] * tangents[0] * scale)
    )
    return scaled(x + 1.0)


def root(x):
    """y³ + y = x"""

    def newton(f, y):
        for _ in range(60):
            y = y - f(y) / (3 * y**2 + 1)
        return y

    def tangent_solve(g, b):
        return b / g(tn.ones_like(b))

    return tn.custom_root(lambda y: y**3 + y - x, 0.5 * x, newton, tangent_solve)


def over_growing_systems(x):
    """x² / (x + 2), by a linear solver of the user whose matrix varies."""
    return tn.custom_linear_solve(
        lambda y: y * (x + 2), x * x, lambda matvec, b: b / matvec(tn.ones_like(b)), symmetric=True
    )


#: z -> z k, where a rule calls functions with rules of their own on tangents.
scaled_by = tn.custom_linear(lambda k, z: k * z, lambda k, ct: k * ct)


@tn.custom_jvp
def halved(p, fixed, q):
    return q / (2 * fixed)


@halved.defjvp
def _halved(primals, tangents):
    """d(q / 2p) with the value at a fixed p: halves of dq - 2 z dp, linear in these alone."""
    (p, fixed, _), (dp, _, dq) = primals, tangents
    return halved(*primals), half_of((p, fixed), dq - 2 * dp * halved(*primals))


half_of = tn.custom_linear(lambda at, q: halved(*at, q), lambda at, ct: halved(*at, ct))

PROGRAMS = {
    "custom linear": lambda x: scaled_by(np.sin(x), x * x) * x,
    "linear map whose rule is another": lambda x: half_of((x + 4, tn.stop_gradient(x + 4)), x**3),
    "custom linear solve": over_growing_systems,
    "polar": lambda x: tn.linalg.polar(x)[0] @ x,
    "own pullback": lambda x: tripled(x) * x,
    "own rule over a closure": closed_over,
    "root": root,
    "scan without carry": lambda x: tn.map(lambda row: np.exp(row) @ row, x),
    "branches": halves,
    "scan": steps,
    "while": until,
    "for": lambda x: tn.fori_loop(0, 3, lambda i, c: np.sin(c) * x, x),
    "checkpoint": tn.checkpoint(lambda x: np.exp(np.sin(x)) * x),
    "own rule": lambda x: doubled(x) * x,
    "jit": tn.jit(lambda x: np.exp(np.sin(x)) * x),
    "gradient": tn.grad(lambda x: np.sum(np.exp(np.sin(x)))),
    "several results": lambda x: {"a": (x**3, np.sin(x)), "b": x.sum()},
    "result that is an argument": lambda x: (x, 2.0 * np.ones(3)),
}


def along(path):
    return lambda t: path[0] + t * path[1] + t**2 / 2 * path[2] + t**3 / 6 * path[3]


def nested(function, path):
    """The derivatives of f(x(t)) at 0, each by one more first derivative."""

    def derivative(f):
        return lambda t: tn.jvp(f, (t,), (1.0,))[1]

    f = lambda t: function(along(path)(t))  # noqa: E731
    found = []
    for _ in range(4):
        found.append(f(0.0))
        f = derivative(f)
    return found[0], found[1:]


def same(found, want, tolerance=1e-9):
    leaves, others = tn_leaves(found), tn_leaves(want)
    assert len(leaves) == len(others)
    for a, b in zip(leaves, others, strict=True):
        assert np.shape(a) == np.shape(b)
        size = max(1.0, float(np.abs(b).max(initial=0)))
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * size)


def tn_leaves(tree):
    import optree

    return optree.tree_leaves(tree)


class TestAgainst:
    @pytest.mark.parametrize("name", NUMBERS)
    def test_mpmath(self, name):
        """Six derivatives of each function are those of mpmath"""
        function, meaning, point = NUMBERS[name]
        order = 6
        value, found = tn.jet(function, (point,), ((1.0, *[0.0] * (order - 1)),))
        with mpmath.workdps(50):
            want = mpmath.taylor(meaning, mpmath.mpf(point), order)
            want = [float(c * mpmath.factorial(n)) for n, c in enumerate(want)]
        np.testing.assert_allclose([value, *found], want, rtol=1e-11, atol=1e-11)

    @pytest.mark.parametrize("name", [*ARRAYS, *PROGRAMS])
    def test_nested_derivatives(self, name):
        """jet = nested jvp along a path"""
        function, path = {**ARRAYS, **PROGRAMS}[name], cubic(A)
        same(tn.jet(function, (path[0],), (path[1:],)), nested(function, path))

    def test_powers_of_a_path(self):
        """x(t) = 1 + t + t² + …, so that f(x) = 1 / x has 1, -1, 0, …"""
        derivatives = [float(mpmath.factorial(n)) for n in range(1, 8)]
        value, found = tn.jet(lambda x: 1 / x, (1.0,), (derivatives,))
        np.testing.assert_allclose([value, *found], [1, -1, 0, 0, 0, 0, 0, 0], atol=1e-9)


class TestLaws:
    def test_the_first_order_is_a_jvp(self):
        function = lambda x: np.exp(np.sin(x)) @ A  # noqa: E731
        x, v = V[:3], W[:3]
        value, (first,) = tn.jet(function, (x,), ((v,),))
        same((value, first), tn.jvp(function, (x,), (v,)))

    def test_of_a_composition_is_the_composition(self):
        inner, outer = (lambda x: np.sin(x) * x), (lambda y: np.exp(y) / (2 + y))
        path = cubic(V)
        whole = tn.jet(lambda x: outer(inner(x)), (path[0],), (path[1:],))
        y, ys = tn.jet(inner, (path[0],), (path[1:],))
        same(whole, tn.jet(outer, (y,), (ys,)))

    def test_of_sums_and_products(self):
        """Leibniz: (f g)‴ = f‴ g + 3 f″ g′ + 3 f′ g″ + f g‴"""
        f, g = np.sin, np.exp
        path = cubic(V)
        a, (a1, a2, a3) = tn.jet(f, (path[0],), (path[1:],))
        b, (b1, b2, b3) = tn.jet(g, (path[0],), (path[1:],))
        _, (_, _, third) = tn.jet(lambda x: f(x) * g(x) + f(x), (path[0],), (path[1:],))
        same(third, a3 * b + 3 * a2 * b1 + 3 * a1 * b2 + a * b3 + a3)

    def test_none_is_zero(self):
        zero = np.zeros(5)
        same(
            tn.jet(np.sin, (V,), ((W, None, zero),)),
            tn.jet(np.sin, (V,), ((W, zero, None),)),
        )
        value, found = tn.jet(lambda x, y: x * y, (V, W), ((V, None), (None, None)))
        same([value, *found], [V * W, V * W, np.zeros(5)])

    @pytest.mark.parametrize("name", ["solve", "cholesky", "scan", "branches", "own rule"])
    def test_none_is_zero_in_rules_of_any_kind(self, name):
        function = {**ARRAYS, **PROGRAMS}[name]
        zero = np.zeros_like(A)
        for path in ((B, None, None), (None, B, None)):
            filled = tuple([zero if x is None else x for x in path])
            same(tn.jet(function, (A,), (path,)), tn.jet(function, (A,), (filled,)))

    @pytest.mark.parametrize(
        "function, orders, counts",
        [
            (lambda x: np.exp(np.sin(x)), (2, 4, 8), (16, 45, 125)),
            (lambda x: np.tanh(x * np.sin(x)), (2, 4, 8), (30, 76, 208)),
            (lambda x: x / (1 + x * x), (2, 4, 8), (21, 33, 57)),
        ],
    )
    def test_the_program_grows_like_a_polynomial(self, function, orders, counts):
        """Nested derivatives take 499 equations for the eighth of the first."""

        def last(order):
            return lambda x: tn.jet(function, (x,), ((1.0,) + (None,) * (order - 1),))[1][-1]

        x = tn.Aval((), "float64")
        assert tuple([len(tn.trace(last(n), x).graph.nodes) for n in orders]) == counts

    def test_forty_orders(self):
        """The derivatives of the exponential are itself."""
        _value, found = tn.jet(np.exp, (0.5,), ((1.0, *[None] * 39),))
        np.testing.assert_allclose(found, np.exp(0.5), rtol=1e-12)


class TestCrossed:
    function = staticmethod(lambda x: np.exp(np.sin(x)) / (2 + x))

    def third(self, x, v):
        return tn.jet(self.function, (x,), ((v, None, None),))[1][2]

    def test_jit(self):
        """jit(jet) = jet"""
        same(tn.jit(self.third)(V, W), self.third(V, W))

    def test_vmap(self):
        """vmap(jet) = jet of each"""
        batched = tn.vmap(self.third)(np.stack([V, W]), np.stack([W, V]))
        same(batched, np.stack([self.third(V, W), self.third(W, V)]))

    def test_of_a_batch(self):
        function = tn.vmap(lambda x: np.exp(x) @ B[0])
        path = cubic(A)
        same(tn.jet(function, (path[0],), (path[1:],)), nested(function, path))

    def test_gradients_of_it(self):
        found = tn.grad(lambda x: self.third(x, W).sum())(V)
        _value, fourth = tn.jet(self.function, (V,), ((W, None, None, None),))
        same(found * W, fourth[3])

    def test_of_a_gradient_and_of_itself(self):
        path = cubic(V)
        of = tn.grad(lambda x: np.sum(self.function(x)))
        same(tn.jet(of, (path[0],), (path[1:],)), nested(of, path))
        again = tn.jet(lambda x: self.third(x, W), (V,), ((W,),))[1][0]
        same(again, tn.jet(self.function, (V,), ((W, None, None, None),))[1][3])

    def test_in_a_loop(self):
        found = tn.scan(lambda c, x: (c, self.third(x, 1.0)), 0.0, V)[1]
        same(found, self.third(V, np.ones(5)))

    def test_complex(self):
        """(z eᶻ)⁽ⁿ⁾ = (z + n) eᶻ for complex z"""
        z = V + 1j * W
        _value, found = tn.jet(lambda z: np.exp(z) * z, (z,), ((np.ones(5) + 0j, None, None),))
        same(found, [np.exp(z) * (z + n) for n in (1, 2, 3)])

    def test_float32(self):
        """All derivatives stay in float32"""
        x = V.astype("float32")
        value, found = tn.jet(np.exp, (x,), ((np.ones(5, "float32"), None, None),))
        assert {value.dtype.name, *[part.dtype.name for part in found]} == {"float32"}
        same(found, [np.exp(x)] * 3, 1e-5)

    def test_arrays_in_and_out(self):
        value, found = tn.jet(np.exp, (tn.asarray(V),), ((tn.asarray(W), None),))
        assert isinstance(value, tn.Array)
        assert all(isinstance(part, tn.Array) for part in found)
        plain = tn.jet(np.exp, (V,), ((W, None),))
        assert isinstance(plain[0], np.ndarray)
        same((np.asarray(value), [np.asarray(part) for part in found]), plain)

    def test_trees_and_several_arguments(self):
        function = lambda p, y: p["a"] * y + np.sin(p["b"])  # noqa: E731
        p, dp = {"a": V, "b": W}, {"a": W, "b": V}
        value, found = tn.jet(function, (p, V), ((dp, None), (W, V)))
        t = lambda t: function(  # noqa: E731
            {"a": V + t * W, "b": W + t * V}, V + t * W + t**2 / 2 * V
        )
        first = lambda s: tn.jvp(t, (s,), (1.0,))[1]  # noqa: E731
        same([value, *found], [t(0.0), first(0.0), tn.jvp(first, (0.0,), (1.0,))[1]])

    def test_closures(self):
        """A gradient flows through what the function under jet closes over"""
        found = tn.grad(lambda w: tn.jet(lambda x: np.sin(w * x), (V,), ((W, None),))[1][1].sum())
        same(found(0.7), tn.grad(lambda w: (-np.sin(w * V) * w**2 * W**2).sum())(0.7))


class TestRefused:
    @pytest.mark.parametrize(
        "primals, series",
        [
            ((V,), ((W,), (W,))),
            ((V, V), ((W, W), (W,))),
            ((V,), ((),)),
            ((), ()),
            ((V,), ((W[:3],),)),
            ((V,), (({"a": W},),)),
            ((V,), ((W * 1j,),)),
            ((V.astype("float32"),), ((W,),)),
        ],
    )
    def test_series_that_do_not_fit(self, primals, series):
        with pytest.raises(tn.TangentMismatchError):
            tn.jet(lambda *x: x[0] if x else 0.0, primals, series)

    def test_integers(self):
        """An argument of integers is a typed error"""
        with pytest.raises(tn.DifferentiationInputError):
            tn.jet(lambda x: x * 2, (np.arange(3),), ((np.ones(3),),))

    def test_one_value_instead_of_a_tuple(self):
        with pytest.raises(TypeError, match="tuple"):
            tn.jet(np.sin, V, ((W,),))
        with pytest.raises(TypeError, match="series"):
            tn.jet(np.sin, (V,), (W,))

    def test_what_is_no_function(self):
        with pytest.raises(TypeError, match="jet takes a function"):
            tn.jet(3.0, (V,), ((W,),))
