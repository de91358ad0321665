"""Programs of users through compiled kernels: plan, launch arguments, text and C++ together."""

import numpy as np
import pytest
from on_cpu import compiler

import tenferro as tn
from tenferro_cupy.kernels.source import body_text
from tenferro_cupy.plan import regions

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")
X = np.linspace(-2, 2, 1200).reshape(30, 40)

TABLE = np.arange(9).reshape(3, 3) % 5

FUNCTIONS = {
    "an energy": lambda x: np.sum(np.tanh(1.5 * x + 0.5) * np.exp(-(x**2)) + np.log1p(x**2)),
    "a softmax": lambda x: np.sum(np.cos(np.exp(x - 1) / np.sum(np.exp(x - 1), 1)[:, None]) ** 2),
    "rows and columns": lambda x: np.sum(np.sum(x * x.T[:30, :30].sum(), 0) * np.max(x, 0)),
    "a choice": lambda x: np.sum(np.where(x > 0.3, x**3, np.abs(x)) * np.minimum(x, 1)),
    "complex numbers": lambda x: np.sum(np.abs(np.exp(1j * x) * (x + 2j)) ** 2),
    "a reversed view": lambda x: np.sum(np.sin(x[::-1, ::2]) * x[:, 1::2]),
    "reductions of reductions": lambda x: np.sum(np.exp(x - np.max(x, 1)[:, None]).sum(0) ** 2),
    "columns by a table": lambda x: np.sum(
        np.sin(x)[:, TABLE] * np.cos(x[:, :9]).reshape(-1, 3, 3)
    ),
    "rows that repeat": lambda x: np.sum(np.exp(x)[np.array([3, -1, 3, 0])] * x[:4]),
    "joined and rolled": lambda x: np.sum(
        np.roll(np.sin(x), 3, 1) * np.concatenate([x, x[:2]])[2:]
    ),
    "a scan": lambda x: np.sum(tn.scan(lambda c, r: (np.sin(c) * r, c), x[0], x)[1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name, make_backend, interpreted, real, stand_in):
    """As by one call per operation; the host waits for nothing"""
    function, backend = tn.value_and_grad(FUNCTIONS[name]), make_backend()
    x = backend.asoperand(X, tn.Aval(X.shape, "float64"))
    with stand_in.counted(backend.cupy) as waited:
        got = tn.jit(function, backend=backend)(x)
    assert waited == [0]
    assert any(str(n).startswith("tenferro_") for n, _ in backend.cupy.launches)
    want = tn.jit(function, backend=interpreted(make_backend()))(X)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(numbers(a), numbers(b), rtol=1e-10, atol=1e-12)


def test_a_text_serves_all_sizes_and_numbers(make_backend, monkeypatch):
    """a sin x + b: one text, whatever the shape, a and b, of arrays that fill packs"""
    texts, called = [], regions.Region.__call__

    def noted(region, *operands, **named):
        texts.append(body_text(region.kernel, region.layout_for(operands)[0]))
        return called(region, *operands, **named)

    monkeypatch.setattr(regions.Region, "__call__", noted)
    backend = make_backend()
    for x, a, b in ((X, 2.5, 1.0), (X[:20].copy(), -3.5, 0.25), (X.ravel(), 1e9, -7.0)):
        got = tn.jit(lambda x, a=a, b=b: a * np.sin(x) + b, backend=backend)(x)
        np.testing.assert_allclose(numbers(got), a * np.sin(x) + b, rtol=1e-12)
    assert (len(texts), len(set(texts))) == (3, 1)


def numbers(value):
    operand = getattr(value, "operand", value)
    return getattr(operand, "_a", operand)
