"""All calls of a function find the program of its first call, and so give the same bits.

Each row of `WAYS` mixes values that a memo keeps with values that each call records anew, such as
elements that are assigned. Operands of commutative operations must have one order in all calls.
"""

import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.transforms.recording import run_or_record
from tenferro.transforms.recording.memos import MEMOS

CALLS = 5
X = np.linspace(0.5, 2.0, 9)
WEIGHTS = np.linspace(-1.0, 1.0, 81).reshape(9, 9)
HAS_MEMOS = getattr(sys, "_is_gil_enabled", lambda: True)()


def assigned_element(x):
    found = np.zeros_like(x)
    found[0] = np.sin(x[0])
    return np.exp(found[0]) + x[1]


def assigned_rows(x):
    m = x.reshape(3, 3)
    found = np.zeros_like(x, shape=(3, 3))
    found[0] = 1 + m[:, 2]
    found[1] = np.exp(found[0]) + m[:, 2]
    found[2] = np.exp(found[0]) + m[:, 1]
    return np.sum(found[1] * found[2])


def met_again(x):
    first = np.cos(x)
    found = np.zeros_like(x)
    found[0] = x[1] * x[2]
    return np.sum((np.sin(found) + np.cos(x)) * first + np.exp(found) * np.tan(x))


def integers_of_numpy(x):
    m = x.reshape(3, 3)
    total = 0.0
    for i in np.array([2, 0, 1, 2, 2]):
        total = np.logaddexp(total + m[:, i], m[i])
    return np.sum(total)


def captured(x):
    found = np.zeros_like(x)
    found[:3] = x[:3] ** 2
    return np.sum(np.sin(found) * WEIGHTS[0] + (WEIGHTS @ x) * found)


def nested(x):
    def inner(y):
        found = np.zeros_like(y)
        found[1] = y[0] * y[2]
        return np.sum(np.sin(found) + np.cos(y) * found)

    return np.sum(tn.grad(inner)(x) * np.tan(x) + np.sin(x))


WAYS = [assigned_element, assigned_rows, met_again, integers_of_numpy, captured, nested]


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


@pytest.mark.skipif(not HAS_MEMOS, reason="memos need the lock of the interpreter")
@pytest.mark.parametrize("f", WAYS)
def test_all_calls_find_the_program_of_the_first(f, monkeypatch):
    names = []
    original = run_or_record._signature

    def noted(*args):
        found = original(*args)
        names.append(found[0])
        return found

    monkeypatch.setattr(run_or_record, "_signature", noted)
    for i in range(CALLS):
        tn.grad(f)(X + i)
    assert names
    assert set(names) == {names[0]}


@pytest.mark.parametrize("f", WAYS)
def test_all_calls_give_the_same_bits(f):
    found = [tn.grad(f)(X) for _ in range(CALLS)]
    for gradient in found:
        np.testing.assert_array_equal(gradient, found[0])


@pytest.mark.parametrize("f", WAYS)
def test_each_call_has_the_gradient_of_differences(f):
    for i in range(CALLS):
        x, step = X + 0.1 * i, 1e-6
        moved = [float(f(tn.asarray(x + h))) for h in (*step * np.eye(9), *-step * np.eye(9))]
        expected = np.subtract(moved[:9], moved[9:]) / (2 * step)
        np.testing.assert_allclose(tn.grad(f)(x), expected, rtol=1e-5, atol=1e-6)
