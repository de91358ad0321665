"""Python's control flow decides on values; derivatives follow the branch that was taken."""

import numpy as np
import pytest
from modes import CLASSICAL, MODES

import tenferro as tn


def square_root(a):
    """Newton's iteration, until it stands still."""
    x = a
    while abs(x * x - a) > 1e-14 * a:
        x = 0.5 * (x + a / x)
    return x


@pytest.mark.parametrize("outer", CLASSICAL)
@pytest.mark.parametrize("inner", CLASSICAL)
def test_newtons_iteration_is_differentiated_twice(outer, inner):
    assert MODES[inner](square_root)(2.0) == pytest.approx(0.5 * 2**-0.5)
    assert MODES[outer](MODES[inner](square_root))(2.0) == pytest.approx(-0.25 * 2**-1.5)


def power_by_halves(x, n):
    if n == 0:
        return 1.0
    half = power_by_halves(x, n // 2)
    return half * half * x if n % 2 else half * half


BRANCHES = {
    "if": lambda x: x * x if x > 1 else -x,
    "ternary of and, or, not": lambda x: x * x if (x > 0 and x > 1) or not x < 5 else -x,
    "while": lambda x: x * x if next(n for n in range(9) if n > x) > 1 else -x,
    "min, max": lambda x: max(x * x, x) if x > 1 else min(-x, x + 9),
    "int": lambda x: [-x, x * x][int(x > 1)],
    "round": lambda x: x ** round(float(tn.stop_gradient(x)) + 0.2) if x > 1 else -x,
    "index": lambda x: np.stack([-x, x * x])[int(np.sum(x > 1))],
    "in": lambda x: x * x if True in (x > 1) * np.ones(1, bool) else -x,
    "assert": lambda x: x * x if np.all(x > 1) else -x,
    "recursion": lambda x: power_by_halves(x, 2) if x > 1 else -power_by_halves(x, 1),
}


@pytest.mark.parametrize("name", BRANCHES)
@pytest.mark.parametrize("mode", CLASSICAL)
def test_the_derivative_is_that_of_the_branch(name, mode):
    assert MODES[mode](BRANCHES[name])(2.0) == 4
    assert MODES[mode](BRANCHES[name])(0.5) == -1


@pytest.mark.parametrize("name", ["if", "min, max", "index"])
def test_second_derivatives_follow_the_branch_too(name):
    assert tn.grad(tn.grad(BRANCHES[name]))(2.0) == 2
    assert tn.grad(tn.grad(BRANCHES[name]))(0.5) == 0


def test_loops_over_elements_and_rows():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    by_rows = lambda x: sum(row[0] * row[1] for row in x)  # noqa: E731
    np.testing.assert_array_equal(tn.grad(by_rows)(x), [[2, 1], [4, 3]])
    zipped = lambda x: sum(a * b for a, b in zip(x[0], x[1], strict=True))  # noqa: E731
    np.testing.assert_array_equal(tn.grad(zipped)(x), [[3, 4], [1, 2]])


def test_exceptions_pass_and_leave_nothing_open():
    def failing(x):
        if x > 0:
            raise KeyError("of the user")

    with pytest.raises(KeyError, match="of the user"):
        tn.grad(failing)(1.0)
    assert float(tn.asarray(1.0) * 2) == tn.grad(lambda x: 2 * x)(1.0) == 2


@pytest.mark.parametrize(
    "function, asked",
    [
        (lambda x: x if x > 0 else -x, "bool()"),
        (lambda x: x if x > 0 and x < 9 else -x, "bool()"),
        (lambda x: [x, -x][int(x > 0)], "int()"),
        (lambda x: max(x, 0.0), "bool()"),
        (lambda x: np.arange(9.0)[: int(x)], "int()"),
        (lambda x: np.ones(3)[x > 0], "conversion"),
        (lambda x: (x * np.ones(3))[np.ones(3) * x > 0], "indexing with a bool array"),
    ],
)
def test_under_jit_a_decision_on_a_value_is_refused_and_the_alternative_named(function, asked):
    with pytest.raises(tn.ConcretizationError, match=r"np\.(where|maximum)") as raised:
        tn.jit(function)(2.0)
    assert asked in raised.value.asked
    assert f"test_control_flow.py:{function.__code__.co_firstlineno}" in str(raised.value)


def test_under_jit_shapes_and_static_arguments_may_decide():
    by_shape = tn.jit(lambda x: np.sum(x) if x.ndim else x * 2)
    assert (by_shape(3.0), by_shape(np.ones(3))) == (6, 3)
    by_flag = tn.jit(lambda x, flag: x if flag else -x, static_argnums=1)
    assert (by_flag(2.0, True), by_flag(2.0, False)) == (2, -2)
