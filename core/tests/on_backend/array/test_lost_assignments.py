"""An assignment into an array that only its statement sees is refused, and no other."""

import operator
import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import LostAssignmentError


@pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info >= (3, 14),
    reason="who holds an array is known where references are counted one by one",
)
@pytest.mark.parametrize(
    "statement, better",
    [
        ("x[0][1] = 5", "x[0, 1] = 5"),
        ("x[0][1] += 5", "x[0, 1] += 5"),
        ("x[0:2][:, 1] = 5", "x[i, j] = v"),
        ("x[0][1:2] = 5", "x[0, 1:2] = 5"),
        ("x.T[0] = 5", "x[i, j] = v"),
        ("x.reshape(-1)[0] = 5", "x[i, j] = v"),
        ("(x + 1)[0] = 5", "x[i, j] = v"),
        ("f(x)[0] = 5", "x[i, j] = v"),
    ],
)
def test_an_assignment_that_nobody_would_see_is_refused(statement, better, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(statement)
    x = tn.asarray(np.zeros((2, 3)))
    with pytest.raises(LostAssignmentError) as raised:
        exec(compile(statement, file, "exec"), {"x": x, "f": lambda x: x * 2})
    assert f"`{better}" in str(raised.value)
    assert f"program.py:1   {statement}" in str(raised.value)


class Holder:
    def __init__(self, x):
        self.x = x
        self.items = [x]

    @property
    def same(self):
        return self.x

    def get(self):
        return self.x


class Slotted:
    __slots__ = ("x",)


def assignments_that_are_seen(x):
    """Every way here in which a program holds an array that it assigns into."""
    holder, slotted = Holder(x), Slotted()
    slotted.x = x
    pair, table, nested = (x, 1), {"x": x}, [[x]]
    holder.x[0] = 1
    holder.x[0:1] = 1
    holder.items[0][0] = 1
    holder.items[0][0:1] += 1
    holder.same[0] = 1
    holder.get()[0] = 1
    slotted.x[0] = 1
    pair[0][0] = 1
    table["x"][0] = 1
    table.get("x")[0] = 1
    nested[0][0][0] = 1
    (lambda: x)()[0] = 1
    (y := x)[0] = 1
    y[0], y[1] = 1, 2
    y[0:1], y[:] = 1, 2
    for x[1] in range(2):
        pass
    for item in pair[:1]:
        item[0] = 1
    [z.__setitem__(0, 1) for z in nested[0]]
    x.__setitem__(0, 1)
    operator.setitem(x, 0, 1)
    tn.Array.__setitem__(x, 0, 1)
    globals()["held_by_the_module"] = x
    held_by_the_module[0] = 1  # noqa: F821
    exec("x[0] = 1", {"x": x})
    next(iter(pair))[0] = 1
    max([x], key=id)[0] = 1

    def closure():
        x[0] = 1

    def generator(z):
        z[0] = 1
        yield z
        z[0] = 1

    closure()
    list(generator(x))
    del globals()["held_by_the_module"]


def test_an_assignment_that_somebody_sees_is_never_refused():
    for _ in range(50):  # also once the code is specialized
        assignments_that_are_seen(tn.asarray(np.zeros((2, 3))))


def alone(x):
    x[0] = 1.0
    return x


def test_an_argument_that_nobody_else_holds_is_held_by_its_name():
    for _ in range(50):
        np.testing.assert_array_equal(alone(tn.asarray(np.zeros(2)) * 1), [1, 0])
