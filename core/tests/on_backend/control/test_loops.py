"""A loop or branch that stays in the graph is the same function as Python's own.

T(kept) = T(written)      for transforms T of order 0 to 3, eager and under `jit`
"""

import numpy as np
import pytest
from control.programs import PAIRS

import tenferro as tn

W, X, V = 0.7, 0.4, np.array([0.4, -0.3, 0.2])


def both(f):
    """Return f as a function of one vector, to look at all second derivatives at once."""
    return lambda p: f(p[0], p[1])


def forward(f):
    """Return the derivative of a function of one number, by forward mode."""
    return lambda w: tn.jvp(f, (w,), (1.0,))[1]


TRANSFORMS = {
    "value": (lambda f: f, (W, V)),
    "jit": (tn.jit, (W, V)),
    "jvp": (lambda f: lambda *x: tn.jvp(f, x, (1.0, 0.5 * V)), (W, V)),
    "grad": (lambda f: tn.grad(f, (0, 1)), (W, V)),
    "jit of grad": (lambda f: tn.jit(tn.grad(f, (0, 1))), (W, V)),
    "linearize": (lambda f: lambda *x: tn.linearize(f, *x)[1](1.0, V), (W, V)),
    "vjp": (lambda f: lambda *x: tn.vjp(f, *x)[1](1.0), (W, V)),
    "hessian": (lambda f: tn.hessian(both(f)), (np.array([W, X]),)),
    "jit of jacfwd of grad": (
        lambda f: tn.jit(tn.jacfwd(tn.grad(both(f)))),
        (np.array([W, X]),),
    ),
    "grad of jvp": (
        lambda f: tn.grad(lambda *x: tn.jvp(f, x, (1.0, V))[1], (0, 1)),
        (W, V),
    ),
    "jvp of jvp": (
        lambda f: forward(forward(lambda w: f(w, V))),
        (W,),
    ),
    "third": (lambda f: tn.grad(tn.grad(tn.grad(lambda x: f(W, x)))), (X,)),
    "vmap": (lambda f: tn.vmap(f, (None, 0)), (W, np.stack([V, -V]))),
    "vmap of grad": (
        lambda f: tn.vmap(tn.grad(f, 1), (0, 0)),
        (np.array([W, X]), np.stack([V, 2 * V])),
    ),
    "grad of vmap": (
        lambda f: tn.grad(lambda w: np.sum(tn.vmap(f, (None, 0))(w, np.stack([V, 2 * V])))),
        (W,),
    ),
}  # fmt: skip
#: transforms that record examples: Python's own control flow looks at no value of an example
BATCHED = ("vmap", "vmap of grad", "grad of vmap")
LOOKS = ("while_loop", "cond")


#: those that show most, which run over every backend in each change
FEW = ("jit of jacfwd of grad",)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("transform", FEW)
def test_the_derivatives_of_a_loop_are_those_of_its_program(name, transform):
    compare(name, transform)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("transform", [x for x in TRANSFORMS if x not in FEW])
def test_a_loop_is_the_program_that_it_stands_for(name, transform):
    compare(name, transform)


def compare(name, transform):
    make, arguments = TRANSFORMS[transform]
    kept, written = PAIRS[name]
    got = make(kept)(*arguments)
    if name in LOOKS and transform in BATCHED:
        need = example_by_example(written, transform)
    elif name in LOOKS and transform in ("jit", "jit of grad", "jit of jacfwd of grad"):
        need = unjitted(transform)(written)(*arguments)
    else:
        need = make(written)(*arguments)
    tn_leaves, need_leaves = flat(got), flat(need)
    assert len(tn_leaves) == len(need_leaves)
    for x, y in zip(tn_leaves, need_leaves, strict=True):
        np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-9, atol=1e-11)


def unjitted(transform):
    return {
        "jit": lambda f: f,
        "jit of grad": TRANSFORMS["grad"][0],
        "jit of jacfwd of grad": lambda f: tn.jacfwd(tn.grad(both(f))),
    }[transform]


def example_by_example(f, transform):
    if transform == "vmap":
        return np.stack([f(W, x) for x in (V, -V)])
    if transform == "vmap of grad":
        return np.stack([tn.grad(f, 1)(w, x) for w, x in ((W, V), (X, 2 * V))])
    return tn.grad(lambda w: f(w, V) + f(w, 2 * V))(W)


def flat(found):
    if isinstance(found, (tuple, list)):
        return [leaf for part in found for leaf in flat(part)]
    return [found]


CLOSURES = {
    "cond": lambda ok, p, g: tn.cond(ok, lambda: 1.0 - p * g, lambda: 1.0 + 0 * p),
    "switch": lambda ok, p, g: tn.switch(
        np.where(ok, 1, 0), [lambda: 1.0 + 0 * p, lambda: 1.0 - p * g]
    ),
}


@pytest.mark.parametrize("choose", CLOSURES.values(), ids=CLOSURES)
def test_what_a_branch_makes_of_its_closure_stays_in_it(choose):
    """∂/∂p Σ (1 - p g over finite g) = -Σ g: no 0 · ∞ from the branch that is not taken"""
    rows = np.array([2.0, np.inf, 3.0])

    def looped(p):
        step = lambda c, g: (c + choose(np.isfinite(g), p, g), None)  # noqa: E731
        return tn.scan(step, 0.0, rows)[0]

    def batched(p):
        return np.sum(tn.vmap(lambda g: choose(np.isfinite(g), p, g))(rows))

    for f in (looped, batched):
        assert float(tn.grad(f)(0.5)) == -5.0
        assert float(tn.jit(tn.grad(f))(0.5)) == -5.0
        assert float(tn.jvp(f, (0.5,), (1.0,))[1]) == -5.0
    graph = tn.jit(lambda p, g: choose(g > 0, p, g)).lower(1.0, 2.0)
    assert "mul" not in [node.operation.name for node in graph.nodes]


MIXED_BRANCHES = {
    "arrays": lambda c: (np.sum(np.stack([c, 2 * c])), c > 4),
    "integers": lambda c: (np.floor(c).astype(int) * 1.0, np.floor(c).astype(int) > 4),
}


@pytest.mark.parametrize("branch", MIXED_BRANCHES.values(), ids=MIXED_BRANCHES)
def test_a_branch_of_numbers_may_compute_with_others(branch):
    """A branch in a loop takes and returns numbers, and computes with arrays or integers"""

    def step(c, _):
        return tn.cond(c > 2.5, branch, lambda c: (c + 1.0, c > 9), c)

    def written(c):
        ys = []
        for _ in range(5):
            c, y = branch(c) if c > 2.5 else (c + 1.0, c > 9)
            ys.append(y)
        return c, np.array(ys)

    for got, need in zip(tn.scan(step, 0.5, None, 5), written(np.float64(0.5)), strict=True):
        np.testing.assert_array_equal(got, need)


def test_factors_of_a_step_keep_their_order():
    """y·p/q·p/r with p·p beyond the largest number: the step is y, and so is its derivative"""

    def step(y, p):
        return y * p / (p * 1e100) * p / (p * 1e-100), None

    rows = np.full((6, 4), 1e200)
    slope = tn.jit(tn.grad(lambda x: np.sum(tn.scan(step, x, rows)[0])))(np.ones(4))
    np.testing.assert_allclose(slope, np.ones(4), rtol=1e-14)


#: Steps of loops whose local derivatives overflow when they are multiplied with each other first.
LARGE = {
    "two rows": lambda y, p: y * p * p,
    "rows and quotients": lambda y, p: y * p * p / p,
    "a sum": lambda y, p: y * p * p + y,
    "a large constant": lambda y, p: y * p * 1e200,
}


@pytest.mark.parametrize("steps", [6, 20])
@pytest.mark.parametrize("derivative", ["grad", "jvp", "jvp of grad", "grad of jvp"])
@pytest.mark.parametrize("step", LARGE.values(), ids=LARGE)
def test_a_derivative_of_zero_stays_zero_where_factors_overflow(step, derivative, steps):
    """0·p·p = 0 with p = 1e200, where 0·(p·p) = 0·∞ is nan"""
    rows = np.full((steps, 4), 1e200)
    value = lambda x: np.sum(np.zeros(4) * tn.scan(lambda y, p: (step(y, p), None), x, rows)[0])  # noqa: E731
    x, v = np.zeros(4), np.zeros(4)
    found = {
        "grad": tn.grad(value),
        "jvp": lambda x: tn.jvp(value, (x,), (v,))[1],
        "jvp of grad": lambda x: tn.jvp(tn.grad(value), (x,), (v,))[1],
        "grad of jvp": tn.grad(lambda x: tn.jvp(value, (x,), (v,))[1]),
    }[derivative]
    np.testing.assert_array_equal(tn.jit(found)(x), 0.0 * found(x))
    np.testing.assert_array_equal(found(x), np.zeros_like(found(x)))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("large", [1e50, 1e200])
def test_a_slope_is_the_product_of_factors_in_steps_that_overflow_too(large, dtype):
    """p² of one step is infinite, and ct·p·p is not; the other steps multiply by p² = 1/4"""
    rows = np.full((20, 3), 0.5, dtype)
    rows[3:6, 1] = large**-0.5, large, large**-0.5
    step = lambda y, p: (y * p * p, None)  # noqa: E731
    total = lambda x: np.sum(np.real(tn.scan(step, x, rows)[0]))  # noqa: E731
    slope = tn.jit(tn.grad(total))
    for x in np.ones(3, dtype), np.full(3, 2.0, dtype):  # the first call and a later one
        np.testing.assert_allclose(slope(x), 0.25 ** np.array([20, 17, 20]), rtol=1e-13)
