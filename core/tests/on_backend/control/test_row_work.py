"""Work of a body that reads rows and no carry: for all rows at once, with the same results."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import select_backend

STEPS = 64
RNG = np.random.default_rng(5)
START = RNG.normal(size=3)
ROWS = RNG.uniform(0.2, 1.0, (STEPS, 3))
W = RNG.normal(size=(3, 3)) * 0.3
IS_WHOLE = select_backend(None, [START]).info.whole_program


class Body(NamedTuple):
    """A body, how many rows its loop reads, and how many equations stay in it."""

    step: Callable[[Any, Any], Any]
    rows: int
    equations: int


def by_own_rule(r):
    @tn.custom_vjp
    def twice(x):
        return 2.0 * x

    twice.defvjp(lambda x: (2.0 * x, None), lambda _, ct: (3.0 * ct,))
    return twice(r)


BODIES = {
    "a product with a matrix": Body(lambda c, r: (np.tanh(r @ W + c), c), 1, 2),
    "elementwise": Body(lambda c, r: (c * np.exp(-r) + np.sin(r), np.sum(c)), 2, 3),
    "a row is read as well": Body(lambda c, r: (c * np.exp(r) - r, c), 2, 2),
    "the result alone": Body(lambda c, r: (c * 0.9, np.exp(r)), 1, 1),
    "a reduction": Body(lambda c, r: (c / np.sum(r * r), r[0] + r[1]), 2, 2),
    "an element by its place": Body(
        lambda c, r: (c + tn.asarray(W)[:, np.argmax(r)], np.max(r)), 2, 1
    ),
    "a truth": Body(lambda c, r: (np.where(r > 0.5, c * 0.5, c + 1.0), c), 1, 3),
    "nothing but a view": Body(lambda c, r: (c * r[::-1], c), 1, 2),
    "nothing": Body(lambda c, r: (c * r, c), 1, 1),
    "a derivative inside": Body(
        lambda c, r: (c * tn.grad(lambda r: np.sum(np.sin(r) * r))(r), c), 1, 1
    ),
    "a sorted row": Body(lambda c, r: (c + np.sort(r), np.cumsum(r)), 2, 1),
}
#: bodies with an operation on rows that stays
STAYING = {
    "lu": lambda c, r: (c + np.linalg.inv(np.diag(r) + 1.0)[0], c),
    "scan": lambda c, r: (c + tn.fori_loop(0, 3, lambda _, x: np.sin(x), r), c),
    "exp": lambda c, r: (c + by_own_rule(np.exp(r)), c),
}


def written(step, c, rows, reverse=False):
    """Return what `scan` returns, by Python's loop."""
    ys: list[Any] = [None] * len(rows)
    for k in reversed(range(len(rows))) if reverse else range(len(rows)):
        c, ys[k] = step(c, rows[k])
    return c, np.stack(ys)


def total(loop, step, reverse=False):
    def f(c, rows, w=1.0):
        last, ys = loop(lambda c, r: step(c, r * w), c, rows, reverse=reverse)
        return np.sum(last * np.arange(1.0, 4.0)) + np.sum(np.cos(ys))

    return f


def close(found, need):
    np.testing.assert_allclose(found, need, rtol=1e-9, atol=1e-11)


def loop_of(function, *arguments):
    """Return the one loop of what a function records, as its passes leave it."""
    graph = tn.jit(function).lower(*arguments)
    (loop,) = [node.operation for node in graph.nodes if node.operation.name == "scan"]
    return loop


#: nothing moves where the backend compiles whole programs
SEVERAL = ["a product with a matrix"] if IS_WHOLE else [*BODIES, *STAYING]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", SEVERAL)
def test_values_and_derivatives_are_those_of_the_steps(name, reverse):
    """scan = f ∘ … ∘ f, and so are ∂/∂carry, ∂/∂rows, ∂/∂const, J·v and H·v"""
    step = BODIES[name].step if name in BODIES else STAYING[name]
    kept, plain = total(tn.scan, step, reverse), total(written, step, reverse)
    jitted = tn.jit(kept)
    close(jitted(START, ROWS), plain(START, ROWS))
    close(kept(START, ROWS), plain(START, ROWS))
    place = (0, 1, 2)
    for f, g in zip(
        tn.jit(tn.grad(kept, place))(START, ROWS, 0.9),
        tn.grad(plain, place)(START, ROWS, 0.9),
        strict=True,
    ):
        close(f, g)

    def sweep(function):
        return tn.jvp(lambda r: tn.grad(function, 1)(START, r), (ROWS,), (np.cos(ROWS),))

    for f, g in zip(tn.jit(lambda: sweep(kept))(), sweep(plain), strict=True):
        close(f, g)


@pytest.mark.skipif(IS_WHOLE, reason="a compiler of whole programs pays nothing per operation")
@pytest.mark.parametrize("name", BODIES)
def test_what_needs_no_carry_leaves_the_body(name):
    """The loop reads the results row by row"""
    body = BODIES[name]
    loop = loop_of(lambda c, rows: tn.scan(body.step, c, rows), START, ROWS)
    assert (len(loop.body.input_avals) - loop.rows, len(loop.body)) == (body.rows, body.equations)


@pytest.mark.parametrize("name", STAYING)
def test_what_may_fail_or_run_code_of_the_user_stays(name):
    """A factorization fails at its step; a rule of the user sees what the function closes over"""
    loop = loop_of(lambda c, rows: tn.scan(STAYING[name], c, rows), START, ROWS)
    assert name in [operation.name for operation, _ in loop.body.equations]


def exponential(c, r):
    return c * np.exp(r), None


def held_back(**options):
    return lambda c, rows: tn.scan(exponential, c, rows, **options)[0]


def is_in_body(function, *arguments):
    todo = [loop_of(function, *arguments)]
    while todo:
        for _, body in todo.pop().bodies:
            operations = [operation for operation, _ in body.equations]
            if "exp" in [operation.name for operation in operations]:
                return True
            todo += [operation for operation in operations if hasattr(operation, "bodies")]
    return False


@pytest.mark.parametrize(
    "function, rows",
    [
        (held_back(checkpoint="none"), ROWS),
        (held_back(checkpoint="all"), ROWS),
        (held_back(), ROWS[:-1]),
        (held_back(), np.ones((STEPS, 2000))),
        (held_back(), np.ones((10**4, 1000))),
    ],
    ids=["carries alone", "all", "few steps", "large rows", "many rows"],
)
def test_where_memory_counts_all_stays_in_the_loop(function, rows):
    """Who says what to store decides; large rows are faster one by one"""
    assert is_in_body(function, tn.Aval(rows.shape[1:], "f64"), tn.Aval(rows.shape, "f64"))


def test_a_loop_without_a_carry_keeps_its_memory():
    """`map` runs one example at a time, because that was asked for"""
    assert is_in_body(lambda rows: tn.map(np.exp, rows), ROWS)


def test_backends_that_compile_whole_programs_keep_the_body():
    """exp is in the body where, and only where, the backend compiles whole programs"""
    assert is_in_body(held_back(), START, ROWS) is IS_WHOLE


def test_effects_stay_with_their_step(capfd):
    """A body that prints runs step by step"""

    def step(c, r):
        y = np.exp(r)
        tn.debug.print("{y}", y=y[0])
        return c * y, None

    tn.jit(lambda c, rows: tn.scan(step, c, rows)[0])(START, ROWS)
    printed = [float(line) for line in capfd.readouterr().out.split()]
    close(printed, np.exp(ROWS[:, 0]))


CROSSINGS = {
    "vmap over rows": lambda f: tn.vmap(lambda r: f(START, r))(np.stack([ROWS, ROWS * 0.5])),
    "vmap over carries": lambda f: tn.vmap(lambda c: f(c, ROWS))(np.stack([START, START * 0.5])),
    "jit of a gradient of vmap": lambda f: tn.jit(
        tn.grad(lambda r: np.sum(tn.vmap(lambda c: f(c, r))(np.stack([START, -START]))))
    )(ROWS),
    "a derivative through a captured row": lambda f: tn.grad(
        lambda a: f(START * a, ROWS * a) * f(START, ROWS * a)
    )(0.7),
    "jacfwd": lambda f: tn.jacfwd(lambda r: f(START, r))(ROWS),
    "a checkpoint": lambda f: tn.grad(lambda r: tn.checkpoint(f)(START, r))(ROWS),
    "complex": lambda f: tn.grad(lambda r: np.real(f(START + 0j, r * (1.0 + 0.5j))))(ROWS),
    "float32": lambda f: np.asarray(f(START, ROWS.astype("float32") * 1.0), "float64"),
    "a loop in a loop": lambda f: tn.scan(
        lambda c, w: (c + f(START * w, ROWS * w), c), 0.0, np.linspace(0.5, 1.0, STEPS)
    )[1],
    "debug_nans": lambda f: _checked(f),
    "lazy arrays": lambda f: f(tn.asarray(START), tn.asarray(ROWS)) + 0.0,
    "a budget": lambda f: tn.jit(tn.grad(f, 1), memory_budget="1 MB")(START, ROWS),
}


def _checked(f):
    with tn.debug_nans():
        return f(START, ROWS)


@pytest.mark.parametrize("crossing", CROSSINGS)
@pytest.mark.parametrize("name", SEVERAL[:1] if IS_WHOLE else [SEVERAL[0], SEVERAL[2]])
def test_other_features(name, crossing):
    """T(scan f) = T(f ∘ … ∘ f)"""
    step = BODIES[name].step
    near = {"rtol": 2e-6} if crossing == "float32" else {"rtol": 1e-9, "atol": 1e-11}
    found = CROSSINGS[crossing](total(tn.scan, step))
    np.testing.assert_allclose(found, CROSSINGS[crossing](total(written, step)), **near)


def test_keys_of_random_numbers():
    """A row of keys gives the numbers that each key gives"""
    keys = tn.random.split(tn.random.key(3), STEPS)
    draw = tn.jit(lambda key: tn.random.normal(key, (3,)))
    drawn = np.stack([np.asarray(draw(keys[k])) for k in range(STEPS)])
    _, ys = tn.jit(lambda: tn.scan(lambda c, key: (0.9 * c + draw(key), draw(key)), START, keys))()
    close(ys, drawn)
