"""Effects in bodies happen at every step, in order, and in the branch that is taken."""

import numpy as np
import pytest

import tenferro as tn

ROWS = np.array([1.0, 2.0, 3.0])


def say(text, *values):
    tn.debug.print(text, *values)


def scanned(x):
    def step(c, r):
        say("a {} {}", c, r)
        say("b")
        return c * r, c

    return tn.scan(step, x, ROWS)[0]


def backwards(x):
    def step(c, r):
        say("{}", r)
        return c * r, None

    return tn.scan(step, x, ROWS, reverse=True, unroll=2, checkpoint="sqrt")[0]


def counted(x):
    def step(i, c):
        say("{} {}", i, c)
        return c + x

    return tn.fori_loop(0, 3, step, x)


def halved(x, **bound):
    def step(c):
        say("{}", c)
        return c / 2

    return tn.while_loop(lambda c: c > 0.4, step, x, **bound)


def bounded(x):
    return halved(x, max_steps=9)


def chosen(x):
    def positive(x):
        say("positive {}", x)
        return 2 * x

    def negative(x):
        say("negative {}", x)
        say("end")
        return -x

    return tn.cond(x > 0, positive, negative, x)


def one_speaks(x):
    return tn.switch(np.where(x > 0, 1, 0), [lambda x: x, lambda x: (say("one"), x)[1]], x)


def mapped(x):
    return np.sum(tn.map(lambda r: (say("{}", r * x), r * x)[1], ROWS))


def nested(x):
    def inner(d, q):
        say("in {}", q)
        return tn.cond(q > 2, lambda d: (say("big"), d * q)[1], lambda d: d, d), None

    def outer(c, r):
        say("before {}", r)
        c = tn.scan(inner, c, ROWS)[0]
        say("after {}", r)
        return c, None

    return tn.scan(outer, x, ROWS[:2])[0]


def invariant(x):
    """A body whose effects read nothing that changes"""

    def step(c, _):
        say("x {}", x)
        return c, None

    return tn.scan(step, x, None, 2)[0]


def between(x):
    """A loop between effects of the program itself"""
    say("before {}", x)
    c = tn.scan(lambda c, r: (say("in {}", c), (c + r, None))[1], x, ROWS[:2])[0]
    say("after {}", c)
    return c * tn.scan(lambda c, r: (say("again {}", c), (c + r, None))[1], x, ROWS[:2])[0]


INNER = ["in 1.0", "in 2.0", "in 3.0", "big"]
PROGRAMS = {
    scanned: ["a 0.5 1.0", "b", "a 0.5 2.0", "b", "a 1.0 3.0", "b"],
    backwards: ["3.0", "2.0", "1.0"],
    counted: ["0 0.5", "1 1.0", "2 1.5"],
    halved: ["0.5"],
    bounded: ["0.5"],
    chosen: ["positive 0.5"],
    one_speaks: ["one"],
    mapped: ["0.5", "1.0", "1.5"],
    nested: ["before 1.0", *INNER, "after 1.0", "before 2.0", *INNER, "after 2.0"],
    between: ["before 0.5", "in 0.5", "in 1.5", "after 3.5", "again 0.5", "again 1.5"],
    invariant: ["x 0.5", "x 0.5"],
}
TRANSFORMS = {
    "value": lambda f: f,
    "jit": tn.jit,
    "jvp": lambda f: lambda x: tn.jvp(f, (x,), (1.0,)),
    "grad": tn.grad,
    "jit of grad": lambda f: tn.jit(tn.grad(f)),
    "value of jit": lambda f: lambda x: tn.jit(tn.value_and_grad(tn.jit(f)))(x),
    "without passes": lambda f: tn.jit(tn.value_and_grad(f), options={"passes": "none"}),
}

REVERSE = ("grad", "jit of grad", "value of jit", "without passes")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_effects_happen_once_per_step_in_order(program, transform, capsys):
    """The lines of Python's loop, once for each call"""
    if program is halved and transform in REVERSE:
        pytest.skip("reverse mode needs max_steps")
    run = TRANSFORMS[transform](program)
    for _ in range(2):
        run(0.5)
        assert capsys.readouterr().out.splitlines() == PROGRAMS[program]


@pytest.mark.parametrize("program", [scanned, bounded, nested, chosen])
def test_values_and_derivatives_are_those_without_effects(program, capsys):
    """f and f′ do not depend on effects"""
    with tn.debug.unrolled():
        need = tn.value_and_grad(program)(0.5)
    for found in (tn.value_and_grad(program)(0.5), tn.jit(tn.value_and_grad(program))(0.5)):
        np.testing.assert_allclose(found, need, rtol=1e-12)


def test_the_other_branch_is_silent(capsys):
    jitted = tn.jit(chosen)
    jitted(-1.0), jitted(1.0)
    assert capsys.readouterr().out.split("\n")[:3] == ["negative -1.0", "end", "positive 1.0"]


def test_a_loop_of_no_steps_is_silent(capsys):
    tn.scan(lambda c, r: (say("never"), (c, None))[1], 1.0, np.ones(0))
    tn.jit(lambda x: halved(x))(0.1)
    assert capsys.readouterr().out == ""


def test_vmap_speaks_for_each_example(capsys):
    def program(x):
        def step(c, r):
            say("{}", c)
            return c + r, None

        return tn.scan(step, x, ROWS[:2])[0]

    np.testing.assert_allclose(tn.vmap(program)(np.array([0.0, 10.0])), [3.0, 13.0])
    assert capsys.readouterr().out.split() == ["0.0", "10.0", "1.0", "11.0"]


@pytest.mark.parametrize("program", [chosen, halved, bounded])
@pytest.mark.parametrize("outer", [lambda f: f, tn.jit])
def test_vmap_refuses_effects_where_examples_go_their_own_way(program, outer):
    with pytest.raises(tn.MissingRuleError, match=r"debug\.print"):
        outer(tn.vmap(program))(np.array([0.5, -1.0]))


def test_conditions_and_checkpoints_refuse_effects():
    with pytest.raises(tn.BodyError, match=r"debug\.unrolled"):
        tn.while_loop(lambda c: (say("{}", c), c < 1)[1], lambda c: c + 1, 0.0)
    with pytest.raises(tn.BodyError, match=r"debug\.unrolled"):
        tn.jit(tn.checkpoint(lambda x: (say("{}", x), x)[1]))(1.0)


def test_a_callback_may_write_and_its_error_is_seen():
    seen = []

    def step(c, r):
        tn.debug.callback(lambda x: seen.append(float(x)), c)
        return c + r, None

    tn.jit(lambda x: tn.scan(step, x, ROWS)[0])(0.0)
    assert seen == [0.0, 1.0, 3.0]
