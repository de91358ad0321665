"""The first call of a function records equal reads once, as its later calls do.

Each row of `WAYS` reads an element or a row several times. The same text runs on plain arrays, so
the value is NumPy's and the gradient that of differences.
"""

import sys

import numpy as np
import pytest

import tenferro as tn
from tenferro.computegraph import postorder
from tenferro.transforms.recording import run_or_record
from tenferro.transforms.recording.memos import MEMOS

X = np.linspace(0.5, 2.0, 6)
M = np.linspace(0.1, 1.2, 12).reshape(4, 3)
HAS_MEMOS = getattr(sys, "_is_gil_enabled", lambda: True)()


def elements(x):
    return x[1] * x[2] + np.sin(x[1]) * x[2] + x[-1] * x[-1] + x[5]


def entries(m):
    return m[1, 2] * m[0, 1] + m[1, 2] ** 2 + m[0, -1] * m[0, 1]


def rows(m):
    return np.sum(m[2] * m[0]) + np.sum(np.exp(m[2])) + np.sum(m[:, 1] * m[:, 1] * m[:, 0])


def windows(x):
    return np.sum(x[1:3] * x[1:3]) + np.sum(x[::2] * x[::-2]) + np.sum(x[1:3] * x[-2:])


def new_axes(x):
    return np.sum(x[1:3, None] * x[None, 1:3] * x[1:3, None]) + x[..., 2] * x[..., 2]


def written_between(x):
    y = 1.0 * x
    before = y[1] * y[2]
    y[1] = y[2] * 3.0
    return before * y[1] + y[1] * y[2]


def parts_of_parts(m):
    return sum([m[i][j] * m[j][i] for i in range(3) for j in range(3)]) + m[3][0]


WAYS = {
    "elements": (elements, X), "entries": (entries, M), "rows": (rows, M), "windows": (windows, X),
    "new axes": (new_axes, X), "written between": (written_between, X),
    "parts of parts": (parts_of_parts, M),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_memos():
    MEMOS.clear()


def differences(f, x, step=1e-6):
    found = np.empty_like(x)
    for at in np.ndindex(*x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][at] += step
        moved[1][at] -= step
        found[at] = (f(moved[0]) - f(moved[1])) / (2 * step)
    return found


@pytest.mark.parametrize("name", WAYS)
def test_the_first_call_has_the_value_of_numpy_and_the_gradient_of_differences(name):
    f, x = WAYS[name]
    value, gradient = tn.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(f, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", WAYS)
def test_the_second_call_gives_the_same_bits(name):
    f, x = WAYS[name]
    g = tn.value_and_grad(f)
    first, second = g(x), g(x)
    assert first[0] == second[0]
    np.testing.assert_array_equal(first[1], second[1])


def test_the_second_order_and_a_batch_are_those_of_the_traced_function():
    hessian = tn.hessian(entries)(M)
    np.testing.assert_allclose(hessian, tn.jit(tn.hessian(entries))(M), rtol=1e-12)
    batch = np.stack([M, M + 1.0])
    found = tn.vmap(tn.grad(entries))(batch)
    np.testing.assert_allclose(found, [tn.grad(entries)(m) for m in batch], rtol=1e-12)


def test_reads_of_another_array_with_the_same_values_are_others():
    f = lambda x, y: x[1] * y[1] * x[1]  # noqa: E731
    found = tn.grad(f, argnums=(0, 1))(X, X.copy())
    expected = 2 * X[1] * X[1], X[1] ** 2
    assert [g[1] for g in found] == pytest.approx(expected)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_other_dtypes(dtype):
    """Rows that are read twice have their gradient in the dtype of the array"""
    x = X.astype(dtype)
    found = tn.grad(lambda x: np.real(x[1] * x[2] + x[1] * x[1]))(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, [0, x[2] + 2 * x[1], x[1], 0, 0, 0], rtol=1e-6)


def minors(a):
    """Expand a determinant; equal minors read the same elements."""

    def minor(row, columns):
        if not columns:
            return 1.0
        terms = [
            (-1) ** i * a[row, c] * minor(row + 1, columns[:i] + columns[i + 1 :])
            for i, c in enumerate(columns)
        ]
        return sum(terms)

    return minor(0, tuple(range(len(a))))


@pytest.mark.skipif(not HAS_MEMOS, reason="memos need the lock of the interpreter")
def test_equal_parts_are_recorded_once(monkeypatch):
    counts = []
    original = run_or_record.signature

    def counted(inputs, outputs, *cut):
        counts.append(len(postorder(outputs, run_or_record.history)[0]))
        return original(inputs, outputs)

    monkeypatch.setattr(run_or_record, "signature", counted)
    a = np.linspace(0.0, 1.0, 16).reshape(4, 4) ** 2
    tn.value_and_grad(minors)(a)
    reads = 2 * 16
    products = 4 * (4 + 12 + 12 + 4) + 4  # of each minor: products, sums, signs
    assert counts[0] <= reads + products


@pytest.mark.skipif(not HAS_MEMOS, reason="memos need the lock of the interpreter")
def test_the_second_call_finds_the_program_of_the_first():
    misses = run_or_record.TRANSFORMS.stats.misses
    g = tn.grad(lambda x: x[1] * x[2] + np.cos(x[1]) * x[3])
    g(X)
    made = run_or_record.TRANSFORMS.stats.misses - misses
    g(X)
    assert made == 1
    assert run_or_record.TRANSFORMS.stats.misses - misses == 1


def test_positions_that_vary_need_few_programs():
    rng = np.random.default_rng(0)
    g = tn.grad(lambda x, places: sum([x[k] ** 2 for k in places]))
    drawn = [[int(k) for k in rng.integers(0, 6, 5)] for _ in range(30)]
    for places in drawn[:15]:
        g(X, places)
    misses = run_or_record.TRANSFORMS.stats.misses
    for places in drawn[15:]:
        found = g(X, places)
        np.testing.assert_allclose(found, 2 * X * np.bincount(places, minlength=6), rtol=1e-12)
    assert run_or_record.TRANSFORMS.stats.misses == misses
