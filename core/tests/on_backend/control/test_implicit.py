"""Solutions by a solver of the user have the derivatives of the solution, not of its steps.

Each solver is compared with a dense solution in closed form, whose derivatives are native.

T(solution by a solver) = T(solution in closed form)      for transforms T of order 0 to 3
"""

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.recording import run_or_record

W, V = 0.7, np.array([0.4, -0.3, 0.2])
BASE = np.array([[4.0, 1.0, 0.0], [-1.0, 5.0, 0.5], [0.3, 0.0, 3.0]])
HERMITIAN = np.array([[4.0, 1j, 0.2], [-1j, 5.0, 0.5], [0.2, 0.5, 3.0]])


def jacobi(matvec, b):
    """Solve by x ← x + (b - A x)/5, which no reverse mode goes through."""

    def step(state):
        x, k = state
        return x + (b - matvec(x)) / 5.0, k + 1

    return tn.while_loop(lambda state: state[1] < 150, step, (b, 0))[0]


def matrix(w, base=BASE):
    return base + 0.1 * np.sin(w) * np.eye(3)


def solved(w, v):
    a = matrix(w)
    x = tn.custom_linear_solve(lambda x: a @ x, np.cos(w) * v, jacobi, jacobi)
    return np.sum(np.sin(x) * w)


def solved_direct(w, v):
    return np.sum(np.sin(np.linalg.solve(matrix(w), np.cos(w) * v)) * w)


def symmetric(w, v):
    a = matrix(w, (BASE + BASE.T) / 2)
    return np.sum(tn.custom_linear_solve(lambda x: a @ x, v * w, jacobi, symmetric=True) ** 2)


def symmetric_direct(w, v):
    return np.sum(np.linalg.solve(matrix(w, (BASE + BASE.T) / 2), v * w) ** 2)


def hermitian(w, v):
    a = matrix(w, HERMITIAN)
    x = tn.custom_linear_solve(lambda x: a @ x, v * (1 + w * 1j), jacobi, symmetric=True)
    return np.sum(np.real(x) * np.imag(x) + np.real(x))


def hermitian_direct(w, v):
    x = np.linalg.solve(matrix(w, HERMITIAN), v * (1 + w * 1j))
    return np.sum(np.real(x) * np.imag(x) + np.real(x))


def complex_general(w, v):
    a = matrix(w, BASE * (1 + 0.1j))
    x = tn.custom_linear_solve(lambda x: a @ x, v * (1 + w * 1j), jacobi, jacobi)
    return np.sum(np.abs(x) ** 2)


def complex_general_direct(w, v):
    x = np.linalg.solve(matrix(w, BASE * (1 + 0.1j)), v * (1 + w * 1j))
    return np.sum(np.abs(x) ** 2)


def tree(w, v):
    def matvec(p):
        return {"a": 3 * p["a"] + w * p["b"], "b": p["b"] * (4 + w) - p["a"]}

    def both(matvec, b):
        start = {"a": 0.0 * b["a"], "b": 0.0 * b["b"]}

        def step(_, p):
            r = matvec(p)
            return {k: p[k] + (b[k] - r[k]) / 4 for k in p}

        return tn.fori_loop(0, 120, step, start)

    p = tn.custom_linear_solve(matvec, {"a": v, "b": v * w}, both, both)
    return np.sum(p["a"] * p["b"])


def tree_direct(w, v):
    determinant = 3 * (4 + w) + w
    a = ((4 + w) * v - w * v * w) / determinant
    b = (v + 3 * v * w) / determinant
    return np.sum(a * b)


def newton(f, x):
    def unfinished(state):
        return np.sum(np.square(f(state))) > 1e-26

    return tn.while_loop(unfinished, lambda x: x - f(x) / tn.grad(lambda x: np.sum(f(x)))(x), x)


def elementwise(g, y):
    return y / g(np.ones(3))


def root(w, v):
    f = lambda x: x**3 + w * x - v  # noqa: E731
    return np.sum(np.sin(tn.custom_root(f, np.ones(3), newton, elementwise)) * w)


def root_direct(w, v):
    """Cardano's formula for x³ + w x = v with w > 0"""
    d = np.sqrt(v * v / 4 + w**3 / 27)
    return np.sum(np.sin(np.cbrt(v / 2 + d) + np.cbrt(v / 2 - d)) * w)


def root_by_linear_solve(w, v):
    solve = lambda g, y: tn.custom_linear_solve(g, y, jacobi, jacobi)  # noqa: E731
    f = lambda x: 3 * x + w * x - v  # noqa: E731
    return np.sum(tn.custom_root(f, np.ones(3), newton, solve) ** 3)


def root_by_linear_solve_direct(w, v):
    return np.sum((v / (3 + w)) ** 3)


def in_a_loop(w, v):
    def step(c, r):
        x = tn.custom_linear_solve(lambda x: (3 + w * w) * x + c * x, r * v, jacobi, symmetric=True)
        return c * 0.5 + np.sum(x), x

    c, xs = tn.scan(step, w * 0.1, np.array([1.0, 0.5, 2.0]))
    return c + np.sum(xs * xs)


def in_a_loop_direct(w, v):
    c, total = w * 0.1, 0.0
    for r in (1.0, 0.5, 2.0):
        x = r * v / (3 + w * w + c)
        c, total = c * 0.5 + np.sum(x), total + np.sum(x * x)
    return c + total


def root_in_a_loop(w, v):
    def step(c, r):
        f = lambda x: x**3 + (1 + c * c) * x - r * w  # noqa: E731
        one = lambda f, x: tn.fori_loop(0, 20, lambda _, x: x - f(x) / tn.grad(f)(x), x)  # noqa: E731
        return tn.custom_root(f, 1.0, one, lambda g, y: y / g(1.0)), None

    return tn.scan(step, np.sum(v), np.array([1.0, 0.5, 2.0]))[0]


def root_in_a_loop_direct(w, v):
    c = np.sum(v)
    for r in (1.0, 0.5, 2.0):
        p, q = 1 + c * c, r * w
        d = np.sqrt(q * q / 4 + p**3 / 27)
        c = np.cbrt(q / 2 + d) + np.cbrt(q / 2 - d)
    return c


def padded(w, v):
    """A map that adds zeros, which is linear all the same"""

    def matvec(x):
        behind = np.concatenate([np.zeros(1), x[:-1]])
        return 4 * x - w * behind + np.diff(np.pad(x, 1), 2)

    return np.sum(tn.custom_linear_solve(matvec, v, jacobi, jacobi) ** 2)


def padded_direct(w, v):
    below, near = np.eye(3, k=-1), np.eye(3, k=-1) + np.eye(3, k=1)
    return np.sum(np.linalg.solve(2 * np.eye(3) - w * below + near, v) ** 2)


PROGRAMS = {
    "padded": (padded, padded_direct),
    "linear": (solved, solved_direct),
    "symmetric": (symmetric, symmetric_direct),
    "hermitian": (hermitian, hermitian_direct),
    "complex": (complex_general, complex_general_direct),
    "tree": (tree, tree_direct),
    "root": (root, root_direct),
    "root, linear solve": (root_by_linear_solve, root_by_linear_solve_direct),
    "in a loop": (in_a_loop, in_a_loop_direct),
    "root in a loop": (root_in_a_loop, root_in_a_loop_direct),
}


def both(f):
    """Return f as a function of one vector (w, x), with v = x · V."""
    return lambda p: f(p[0], p[1] * V)


POINT = np.array([W, 0.9])
TRANSFORMS = {
    "value": (lambda f: f, (W, V)),
    "jit": (tn.jit, (W, V)),
    "jvp": (lambda f: lambda *x: tn.jvp(f, x, (1.0, 0.5 * V))[1], (W, V)),
    "grad": (lambda f: tn.grad(f, (0, 1)), (W, V)),
    "jit of grad": (lambda f: tn.jit(tn.grad(f, (0, 1))), (W, V)),
    "grad of jit": (lambda f: tn.grad(tn.jit(f), (0, 1)), (W, V)),
    "hessian": (lambda f: tn.hessian(both(f)), (POINT,)),
    "jacfwd of jacfwd": (lambda f: tn.jacfwd(tn.jacfwd(both(f))), (POINT,)),
    "jit of jacfwd of grad": (lambda f: tn.jit(tn.jacfwd(tn.grad(both(f)))), (POINT,)),
    "grad of grad of grad": (
        lambda f: tn.grad(tn.grad(tn.grad(lambda w: f(w, V)))),
        (W,),
    ),
    "vmap": (lambda f: tn.vmap(f, (None, 0)), (W, np.stack([V, -V]))),
    "vmap of both": (lambda f: tn.vmap(f), (np.array([W, 0.2]), np.stack([V, -V]))),
    "vmap of grad": (
        lambda f: tn.vmap(tn.grad(f, (0, 1))),
        (np.array([W, 0.2]), np.stack([V, -V])),
    ),
    "grad of vmap": (
        lambda f: tn.grad(lambda w: np.sum(tn.vmap(f, (None, 0))(w, np.stack([V, 2 * V])))),
        (W,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_derivatives_are_those_of_the_solution(name, transform):
    make, arguments = TRANSFORMS[transform]
    by_solver, direct = PROGRAMS[name]
    got, need = flat(make(by_solver)(*arguments)), flat(make(direct)(*arguments))
    for x, y in zip(got, need, strict=True):
        np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-8, atol=1e-9)


def test_a_solver_may_look_at_values():
    """Outside `jit`, where the values of the system are known"""
    calls = []

    def relaxed(matvec, b):
        x = 0.0 * b
        while np.max(np.abs(b - matvec(x))) > 1e-12:
            calls.append(1)
            x = x + (b - matvec(x)) / 5.0
        return x

    solution = lambda b: np.sum(tn.custom_linear_solve(lambda x: BASE @ x, b, relaxed, relaxed))  # noqa: E731
    np.testing.assert_allclose(solution(V), np.sum(np.linalg.solve(BASE, V)))
    assert calls
    np.testing.assert_allclose(tn.grad(solution)(V), np.linalg.solve(BASE.T, np.ones(3)))


def one_step(f, x):
    """Newton's iteration, stopped by values: what it looks at is known outside `jit`"""
    while abs(float(f(x))) > 1e-13:
        x = x - f(x) / tn.grad(f)(x)
    return x


def by_values(g, y):
    slope = g(1.0)
    return y / slope if slope > 0 else y * 1e9


def test_the_solver_of_the_linear_system_may_look_at_values():
    """d√w/dw and its derivative; the slope of x² - w at the root is known"""
    solution = lambda w: tn.custom_root(lambda x: x * x - w, 1.0, one_step, by_values)  # noqa: E731
    np.testing.assert_allclose(solution(2.0), np.sqrt(2.0))
    np.testing.assert_allclose(tn.grad(solution)(2.0), 0.5 / np.sqrt(2.0))
    np.testing.assert_allclose(tn.grad(tn.grad(solution))(2.0), -0.25 * 2.0**-1.5)


def test_what_the_solver_of_the_linear_system_closes_over_is_followed():
    """x² = w: dx = dw / (2 s), if the solver is told the slope 2 s, and its derivative in s"""

    def solution(w, s):
        f = lambda x: x * x - w  # noqa: E731
        return tn.custom_root(f, 1.0, lambda f, x: np.sqrt(2.0), lambda g, y: y / (2.0 * s))

    mixed = tn.grad(tn.grad(solution, 0), 1)
    for transform in (lambda f: f, tn.jit):
        np.testing.assert_allclose(transform(mixed)(2.0, 3.0), -0.5 / 9.0)


def cubic(w):
    """The root of x³ + w x = 1, at each w"""
    newton = lambda f, x: tn.fori_loop(0, 30, lambda _, x: x - f(x) / tn.grad(f)(x), x)  # noqa: E731
    return tn.custom_root(lambda x: x**3 + w * x - 1.0, 1.0, newton, lambda g, y: y / g(1.0))


def shifted(w):
    """Σ x of (BASE + w) x = V, whose adjoint system has a solver of its own"""
    return np.sum(tn.custom_linear_solve(lambda x: BASE @ x + w * x, V, jacobi, jacobi))


def shifted_symmetric(w):
    both = lambda x: (BASE + BASE.T) @ x / 2 + w * x  # noqa: E731
    return np.sum(tn.custom_linear_solve(both, w * V, jacobi, symmetric=True))


def shifted_in_a_loop(w):
    """The solver closes over w and over the state of the loop"""

    def step(c, _):
        a = BASE + (w + 0.1 * c) * np.eye(3)
        solve, back = (lambda _, b: np.linalg.solve(a, b)), (lambda _, b: np.linalg.solve(a.T, b))
        return np.sum(tn.custom_linear_solve(lambda x: a @ x, V, solve, back)), None

    return tn.scan(step, w, None, 2)[0]


KEPT = {
    "grad": (tn.grad(cubic), 0.7),
    "grad of grad": (tn.grad(tn.grad(cubic)), 0.7),
    "grad of vmap": (tn.grad(lambda w: np.sum(tn.vmap(cubic)(w))), V + 1.0),
    "vmap of grad": (tn.vmap(tn.grad(cubic)), V + 1.0),
    "grad of checkpoint": (tn.grad(tn.checkpoint(cubic)), 0.7),
    "grad of a linear solution": (tn.grad(shifted), 0.7),
    "jvp of a linear solution": (lambda w: tn.jvp(shifted, (w,), (1.0,)), 0.7),
    "grad of grad of a linear solution": (tn.grad(tn.grad(shifted)), 0.7),
    "grad of vmap of a linear solution": (tn.grad(lambda w: np.sum(tn.vmap(shifted)(w))), V + 1.0),
    "vmap of grad of a linear solution": (tn.vmap(tn.grad(shifted_symmetric)), V + 1.0),
    "grad of checkpoint of a linear solution": (tn.grad(tn.checkpoint(shifted_symmetric)), 0.7),
    "grad of a loop of linear solutions": (tn.grad(shifted_in_a_loop), 0.7),
    "grad of a root by linear solutions": (tn.grad(lambda w: root_by_linear_solve(w, V)), 0.7),
}


@pytest.mark.parametrize("transform", KEPT)
def test_the_derivative_of_a_solution_is_recorded_and_kept(transform):
    """A later call, with other functions of the same graphs, finds the program of the first"""
    f, w = KEPT[transform]
    f(w)
    before = run_or_record.TRANSFORMS.stats
    f(w + 0.5)
    after = run_or_record.TRANSFORMS.stats
    assert after.hits > before.hits
    assert after.misses == before.misses


def test_a_kept_program_does_not_hide_that_a_later_map_is_not_linear():
    """A x = 2 x + c is linear for c = 0 only; c is a value, and no part of the graph"""

    def slope(c):
        solve = lambda matvec, b: b / matvec(np.ones(3))  # noqa: E731
        x = lambda b: tn.custom_linear_solve(lambda x: 2.0 * x + c, b, solve, solve)  # noqa: E731
        return tn.grad(lambda b: np.sum(x(b)))(V)

    for _ in range(2):
        np.testing.assert_allclose(slope(np.zeros(3)), np.full(3, 0.5))
    with pytest.raises(tn.NotLinearError):
        slope(np.ones(3))


def test_a_root_of_complex_numbers():
    """z² = w is holomorphic: d Re √w = Re(dw / (2 √w)), with Hermitian gradients"""
    halved = lambda f, z: tn.fori_loop(0, 30, lambda _, z: z - f(z) / (2.0 * z), z)  # noqa: E731

    def solution(w):
        f = lambda z: z * z - w  # noqa: E731
        return np.real(tn.custom_root(f, 1.0 + 1.0j, halved, lambda g, y: y / g(1.0 + 0.0j)))

    w = 0.3 + 1.2j
    np.testing.assert_allclose(solution(w), np.sqrt(w).real)
    np.testing.assert_allclose(tn.grad(solution)(w), np.conj(0.5 / np.sqrt(w)))


def test_what_a_solver_closes_over_is_a_constant():
    """d/ds of x with A x = b, solved from s on, is 0; so is that by the first guess of a root"""

    def from_here(s, w):
        solve = lambda matvec, b: s * 0 + b / matvec(1.0)  # noqa: E731
        x = tn.custom_linear_solve(lambda x: w * x, 1.0, solve, symmetric=True)
        guessed = tn.custom_root(lambda x: x - w, s, lambda f, x: x - f(x), lambda g, y: y / g(1.0))
        return x + guessed

    np.testing.assert_allclose(tn.grad(from_here, (0, 1))(0.3, 2.0), (0.0, 1 - 0.25))
    assert float(tn.jvp(from_here, (0.3, 2.0), (1.0, 0.0))[1]) == 0.0


@pytest.mark.parametrize("transform", [tn.grad, lambda f: tn.jit(tn.grad(f))], ids=["grad", "jit"])
def test_a_solver_may_have_no_derivative(transform):
    """x = b / w by a function on the host, whose own derivative is not known"""

    def solution(w, b):
        on_host = lambda _, b: tn.host_callback(lambda b: b / 4.0, b)  # noqa: E731
        return tn.custom_linear_solve(lambda x: w * x, b, on_host, symmetric=True)

    np.testing.assert_allclose(transform(lambda b: solution(4.0, b) ** 2)(2.0), 2 * 2.0 / 4.0**2)
    np.testing.assert_allclose(transform(lambda w: solution(w, 2.0) ** 2)(4.0), -2 * 4.0 / 4.0**3)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_the_dtype_is_that_of_the_right_side(dtype):
    b = V.astype(dtype)
    a = (BASE + np.eye(3)).astype(dtype)
    x = tn.custom_linear_solve(lambda x: a @ x, b, jacobi, jacobi)
    assert x.dtype.name == dtype
    gradient = tn.grad(
        lambda b: np.sum(np.real(tn.custom_linear_solve(lambda x: a @ x, b, jacobi, jacobi)))
    )
    assert gradient(b).dtype.name == dtype


def test_a_solver_may_return_more_than_the_root():
    """The number of steps is a constant for derivatives"""

    def counted(f, x):
        body = lambda s: (s[0] - f(s[0]) / tn.grad(f)(s[0]), {"steps": s[1]["steps"] + 1})  # noqa: E731
        return tn.while_loop(lambda s: abs(f(s[0])) > 1e-12, body, (x, {"steps": 0}))

    def root(w):
        return tn.custom_root(
            lambda x: x * x - w, 1.0, counted, lambda g, y: y / g(1.0), has_aux=True
        )

    x, aux = root(2.0)
    np.testing.assert_allclose(x, np.sqrt(2))
    assert 3 < aux["steps"] < 9
    for transform in (lambda f: f, tn.jit):
        slope, aux = transform(tn.grad(root, has_aux=True))(2.0)
        np.testing.assert_allclose(slope, 0.5 / np.sqrt(2))
        assert 3 < int(aux["steps"]) < 9
    tangent = tn.jvp(root, (2.0,), (1.0,))[1][0]
    np.testing.assert_allclose(tangent, 0.5 / np.sqrt(2))
    np.testing.assert_allclose(tn.vmap(root)(np.array([1.0, 4.0]))[0], [1.0, 2.0])


def test_faults_are_named():
    solve = lambda matvec, b: b / 2  # noqa: E731
    square = lambda b: np.sum(tn.custom_linear_solve(lambda x: 2 * x, b, solve))  # noqa: E731
    with pytest.raises(tn.MissingRuleError, match="transpose_solve"):
        tn.grad(square)(V)
    np.testing.assert_allclose(tn.jvp(square, (V,), (V,))[1], np.sum(V) / 2)
    with pytest.raises(tn.BodyError, match="the function does not fit b"):
        tn.custom_linear_solve(lambda x: x[:2], V, solve)
    with pytest.raises(tn.BodyError, match="the solver has another structure"):
        tn.custom_linear_solve(lambda x: x, V, lambda matvec, b: (b, b))
    with pytest.raises(tn.BodyError, match="the solver does not fit x0"):
        tn.custom_root(lambda x: x, V, lambda f, x: x[0], elementwise)
    bent = lambda b: np.sum(tn.custom_linear_solve(lambda x: x * x, b, solve, lambda m, b: m(b)))  # noqa: E731
    with pytest.raises(tn.NotLinearError):
        tn.grad(bent)(V)
    square = lambda g, y: y * y / g(np.ones(3))  # noqa: E731
    curved = lambda v: np.sum(tn.custom_root(lambda x: x - v, V, lambda f, x: x - f(x), square))  # noqa: E731
    with pytest.raises(tn.NotLinearError, match="custom_root: tangent_solve is not linear in y"):
        tn.grad(curved)(V)
    for call in (
        lambda: tn.custom_root(3.0, V, solve, solve),
        lambda: tn.custom_linear_solve(lambda x: x, V, None),
    ):
        with pytest.raises(TypeError, match="custom_"):
            call()


def flat(found):
    if isinstance(found, (tuple, list)):
        return [leaf for part in found for leaf in flat(part)]
    return [found]
