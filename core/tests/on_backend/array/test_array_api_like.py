"""Lowerings in the names of the Array API standard, over array-api-strict, which has no others.

References: NumPy and closed-form derivatives. Its arrays are the operands and the results.
"""

import sys
from types import ModuleType

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import (
    Backend,
    BackendInfo,
    Lowerings,
    PluginManifest,
    Probe,
    array_api_like,
    hookimpl,
)
from tenferro.backend.array_api_like.indexing import register_scatter_add
from tenferro.primitives import Aval

strict = pytest.importorskip("array_api_strict")
KIND = type(strict.asarray(1.0))


class Strict(Backend):
    def asoperand(self, value, aval):
        if isinstance(value, KIND):
            return value
        return strict.asarray(np.array(value, dtype=aval.dtype.name))

    def to_numpy(self, operand):
        return np.array(operand)

    def aval_of(self, operand):
        return Aval(operand.shape, np.asarray(operand).dtype)

    def owns(self, value):
        return isinstance(value, KIND)

    def snapshot(self, operand):
        return strict.asarray(operand, copy=True)

    def detach(self, results, operands):
        return tuple([strict.asarray(result, copy=True) for result in results])


def add_at(flat, positions, values):
    out = np.array(flat)
    np.add.at(out, np.asarray(positions), np.asarray(values))
    return strict.asarray(out)


@hookimpl
def tenferro_backend_info():
    name = f"{KIND.__module__}.{KIND.__qualname__}"
    return BackendInfo(name="strict", operand_types=(name,))


@hookimpl
def tenferro_backend_probe():
    return Probe(available=True, devices=("cpu",))


@hookimpl
def tenferro_backend_create(config):
    return Strict()


@hookimpl
def tenferro_lowerings(backend):
    if backend != "strict":
        return []
    added = Lowerings()
    register_scatter_add(added, strict, add_at)
    return [*array_api_like.lowerings(strict), *added]


@pytest.fixture(autouse=True, scope="module")
def _strict_backend():
    module = ModuleType("plugin_of_strict")
    module.TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="strict", kind="backend")
    for hook in (
        tenferro_backend_info,
        tenferro_backend_probe,
        tenferro_backend_create,
        tenferro_lowerings,
    ):
        setattr(module, hook.__name__, hook)
    sys.modules[module.__name__] = module
    assert tn.host().register(module).status == "loaded"
    yield
    tn.host().unregister("strict")
    del sys.modules[module.__name__]


X = np.array([[0.5, -1.25, 2.0], [-0.0, 0.75, -3.0]])
POSITIVE = np.abs(X) + 0.25
Z = X + 1j * X[::-1]
N = np.array([7, -7, 5, -128], "i4")
D = np.array([3, 2, -2, 7], "i4")
EXTREME = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308, -27.0])

FUNCTIONS = {
    "arithmetic": (lambda f: lambda x: (x + 2) * x - x / 3 + abs(x) - f.sign(x), [X]),
    "powers": (lambda f: lambda x: x**2 + x**3 - x**-1 + x**-2 + x**7, [POSITIVE]),
    "powers of arrays": (lambda f: lambda x, y: x**y, [POSITIVE, X]),
    "powers of integers": (lambda f: lambda n: n**5, [N]),
    "complex powers": (lambda f: lambda z: z**3 + 1 / z, [Z + 3]),
    "cube roots": (lambda f: f.cbrt, [EXTREME]),
    "extremes": (lambda f: lambda x, y: f.maximum(x, y) - f.minimum(x, y), [X, POSITIVE]),
    "clip": (lambda f: lambda x: f.clip(x, -1.0, 0.6), [X]),
    "exponentials": (lambda f: lambda x: f.exp(x) + f.exp2(x) + f.expm1(x), [X]),
    "logarithms": (
        lambda f: lambda x: f.log(x) + f.log2(x) + f.log10(x) + f.log1p(x),
        [POSITIVE],
    ),
    "logaddexp": (lambda f: f.logaddexp, [X, POSITIVE]),
    "trigonometric": (lambda f: lambda x: f.sin(x) + f.cos(x) + f.tan(x) + f.arctan(x), [X]),
    "inverse": (lambda f: lambda x: f.arcsin(x / 4) + f.arccos(x / 4), [X]),
    "two arguments": (lambda f: lambda x, y: f.arctan2(x, y) + f.hypot(x, y), [X, POSITIVE]),
    "hyperbolic": (lambda f: lambda x: f.sinh(x) + f.cosh(x) - f.tanh(x) + f.arcsinh(x), [X]),
    "rounding": (lambda f: lambda x: f.floor(x) + f.ceil(x) * 10 + f.round(x) * 100, [X]),
    "remainders": (lambda f: f.fmod, [X, np.full_like(X, 0.75)]),
    "remainders of integers": (lambda f: f.fmod, [N, D]),
    "quotients of integers": (lambda f: lambda x, y: x // y, [N, D]),
    "signs": (lambda f: f.copysign, [POSITIVE, X]),
    "neighbours": (lambda f: f.nextafter, [X, POSITIVE]),
    "finite": (lambda f: f.isfinite, [EXTREME]),
    "bits": (lambda f: lambda n, m: (n & m) | (n ^ ~m), [N, D]),
    "shifts": (lambda f: lambda n: (n << 3) + (n >> 2), [N]),
    "logic": (
        lambda f: lambda x: f.logical_or(f.logical_not(x > 0), f.logical_and(x <= 2, x != 0.5)),
        [X],
    ),
    "choice": (lambda f: lambda x: f.where(x > 0, x, -2 * x), [X]),
    "parts": (lambda f: lambda z: f.real(z) * 2 + f.imag(z) + f.abs(f.conj(z)), [Z]),
    "sums": (lambda f: lambda x: f.sum(x, axis=1) + f.prod(x) + f.sum(x), [X]),
    "narrow sums": (lambda f: lambda n: f.sum(n, dtype="i4"), [N]),
    "extremes of rows": (lambda f: lambda x: f.max(x, axis=0) - f.min(x), [X]),
    "extremes with nan": (lambda f: f.max, [EXTREME]),
    "positions": (lambda f: lambda x: f.argmax(x, axis=1) + 10 * f.argmin(x, axis=1), [X]),
    "all, any": (lambda f: lambda x: f.all(x < 3, axis=0) & f.any(x > 1), [X]),
    "matrix products": (lambda f: lambda x, y: x @ y.T, [X, POSITIVE]),
    "a stack of products": (
        lambda f: lambda x, y: f.einsum("bij,bjk->bik", x, y),
        [np.arange(12.0).reshape(2, 3, 2), np.arange(8.0).reshape(2, 2, 2)],
    ),
    "outer": (lambda f: f.outer, [X[0], X[1]]),
    "no terms": (lambda f: lambda x, y: x @ y, [np.zeros((2, 0)), np.zeros((0, 3))]),
    "shapes": (
        lambda f: lambda x: f.concatenate([f.reshape(x, (3, 2)).T, x[:, ::-1]], axis=1),
        [X],
    ),
    "pads": (lambda f: lambda x: f.pad(x, ((1, 0), (0, 2)), constant_values=7.0), [X]),
    "slices": (lambda f: lambda x: x[1:, ::2] + x[0, 1], [X]),
    "gathers": (lambda f: lambda x: x[np.array([1, 0, -1]), np.array([2, 2, 0])], [X]),
    "taken": (lambda f: lambda x: f.take(x, np.array([2, 0]), axis=1), [X]),
    "converted": (lambda f: lambda x: x.astype("f4") + x.astype("i4").astype("f4"), [X]),
    "converted to bool": (lambda f: lambda x: x.astype(bool), [X]),
    "arange": (lambda f: lambda x: x[0] + f.arange(3), [X]),
    "0-d": (lambda f: lambda x: f.tanh(x) + 1, [np.array(0.5)]),
    "float32": (lambda f: lambda x: f.sum(f.exp(x) / 3, axis=0), [X.astype("f4")]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree_with_numpy(name):
    make, operands = FUNCTIONS[name]
    result = tn.jit(make(tn))(*[strict.asarray(x) for x in operands])
    with np.errstate(all="ignore"):
        expected = np.asarray(make(np)(*operands))
    assert type(result) is KIND
    assert np.asarray(result).dtype == expected.dtype
    bound = 1e-6 if expected.dtype == np.float32 else 5e-15
    np.testing.assert_allclose(np.asarray(result), expected, rtol=bound, atol=0)


GRADIENTS = {
    "a product": (lambda x: tn.sum(x * x * x), 3 * X**2),
    "a matrix product": (lambda x: tn.sum(x @ x.T), 2 * np.broadcast_to(X.sum(0), (2, 3))),
    "a gather with repeats": (
        lambda x: tn.sum(x[np.array([0, 0, 1]), np.array([1, 1, 2])] ** 2),
        np.array([[0, 4 * X[0, 1], 0], [0, 0, 2 * X[1, 2]]]),
    ),
    "a branch": (
        lambda x: tn.cond(tn.sum(x) < 0, lambda x: tn.sum(x * x), lambda x: tn.sum(x), x),
        2 * X,
    ),
    "a loop": (
        lambda x: tn.sum(tn.scan(lambda c, _: (c * x, None), x, None, length=2)[0]),
        3 * X**2,
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    """The gradient is an array of the other library, with the stated value"""
    function, expected = GRADIENTS[name]
    result = tn.grad(function)(strict.asarray(X))
    assert type(result) is KIND
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-15)


def test_names_are_promised_once():
    """Each key of the table has one family, whose module registers it."""
    lowerings = list(array_api_like.lowerings(strict))
    keys = [record.primitive for record in lowerings]
    assert len(set(keys)) == len(keys)
    for record in lowerings:
        assert callable(record.target)
