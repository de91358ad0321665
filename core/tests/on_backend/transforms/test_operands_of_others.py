"""Operands of a backend that core does not know: dtypes without a name, boxes without attributes.

Both keep a NumPy array and run NumPy's lowerings. References: derivatives in closed form.
"""

import sys
from types import ModuleType

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import (
    Backend,
    BackendInfo,
    Lowering,
    PluginManifest,
    Probe,
    hookimpl,
    numpy_like,
    select_backend,
)
from tenferro.primitives import Aval

DTYPES = frozenset({"bool", "int32", "int64", "float32", "float64", "complex128"})
CONTROL = ("std::checkpoint", "std::scan", "std::switch", "std::while_loop")


class Box:
    """An array without any attribute that NumPy's arrays have; it has `clone`, and no `copy`."""

    def __init__(self, data):
        self.content = data

    def clone(self):
        return type(self)(self.content.copy())


class Dtype:
    """A dtype as PyTorch's: an object without a name."""

    def __init__(self, dtype):
        self.kept = dtype


class Tensor(Box):
    """An array with a shape, and with a dtype that only its backend understands."""

    @property
    def shape(self):
        return self.content.shape

    @property
    def dtype(self):
        return Dtype(self.content.dtype)


class Own(Backend):
    def __init__(self, kind):
        self.kind = kind

    def asoperand(self, value, aval):
        if isinstance(value, self.kind):
            return value
        return self.kind(np.array(value, dtype=aval.dtype.name))

    def to_numpy(self, operand):
        return operand.content.copy()

    def aval_of(self, operand):
        return Aval(operand.content.shape, operand.content.dtype)

    def owns(self, value):
        return type(value) is self.kind


def lowering(record, kind):
    def lower(operation, *operands):
        result = record.target(operation, *[getattr(x, "content", x) for x in operands])
        return kind(np.asarray(result))

    return Lowering(record.primitive, lower)


class OnNumpy(Backend):
    """A backend whose operands are NumPy arrays; it counts the results that leave it."""

    operands_are_numpy = True
    left = 0

    def asoperand(self, value, aval):
        return np.asarray(value, aval.dtype.name)

    def to_numpy(self, operand):
        return operand

    def result_to_numpy(self, aval):
        def leave(result):
            self.left += 1
            return result

        return leave

    def aval_of(self, operand):
        return Aval(operand.shape, operand.dtype)

    def owns(self, value):
        return isinstance(value, np.ndarray)


def plugin(name, kind, made=Own, types=None):
    module = ModuleType(f"plugin_of_{name}")
    operand_types = (f"{kind.__module__}.{kind.__qualname__}",) if types is None else types
    module.TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name=name, kind="backend")

    @hookimpl
    def tenferro_backend_info():
        return BackendInfo(name=name, dtypes=DTYPES, operand_types=operand_types)

    @hookimpl
    def tenferro_backend_probe():
        return Probe(available=True, devices=("cpu",))

    @hookimpl
    def tenferro_backend_create(config):
        return made(kind)

    @hookimpl
    def tenferro_lowerings(backend):
        if backend != name:
            return []
        return [lowering(r, kind) for r in numpy_like.lowerings(np) if r.primitive not in CONTROL]

    hooks = (
        tenferro_backend_info, tenferro_backend_probe, tenferro_backend_create, tenferro_lowerings,
    )  # fmt: skip
    for hook in hooks:
        setattr(module, hook.__name__, hook)
    return module


@pytest.fixture(params=[Box, Tensor], ids=["no attributes", "a dtype without a name"])
def kind(request):
    host = tn.host()
    name = request.param.__name__.lower()
    module = plugin(name, request.param)
    sys.modules[module.__name__] = module
    assert host.register(module).status == "loaded"
    yield request.param
    host.unregister(name)
    del sys.modules[module.__name__]


@pytest.fixture
def on_numpy():
    """The name of a second backend on NumPy arrays, chosen by its name alone."""
    name = "on_numpy"
    module = plugin(name, np.asarray, lambda _: OnNumpy(), ())
    sys.modules[module.__name__] = module
    assert tn.host().register(module).status == "loaded"
    yield name
    tn.host().unregister(name)
    del sys.modules[module.__name__]


def loss(w):
    return tn.sum(tn.tanh(w * w))


def slope(w):
    return 2 * w / np.cosh(w * w) ** 2


W = {
    "float64": np.array([0.5, -1.0, 2.0]),
    "float32": np.array([0.5, -1.0], "f4"),
    "0-d": np.array(0.75),
    "empty": np.zeros((0, 2)),
}


@pytest.mark.parametrize("name", W)
def test_gradients_are_of_the_kind_of_the_operand(kind, name):
    w = W[name]
    result = tn.grad(loss)(kind(w))
    assert type(result) is kind
    assert result.content.dtype == w.dtype
    np.testing.assert_allclose(result.content, slope(w), rtol=1e-6)


WAYS = {
    "jit": lambda w: tn.jit(tn.grad(loss))(w),
    "the value beside it": lambda w: tn.value_and_grad(loss)(w)[1],
    "jvp": lambda w: tn.jvp(lambda x: tn.tanh(x * x), (w,), (type(w)(np.ones(3)),))[1],
    "vjp": lambda w: tn.vjp(lambda x: tn.tanh(x * x), w)[1](type(w)(np.ones(3)))[0],
    "vmap": lambda w: tn.vmap(tn.grad(lambda x: tn.tanh(x * x)))(w),
    "as an attribute of a dictionary": lambda w: tn.grad(lambda p: loss(p["w"]))({"w": w})["w"],
    "a scan": lambda w: tn.grad(
        lambda x: tn.sum(tn.scan(lambda c, _: (tn.tanh(c * c), None), x, None, length=1)[0])
    )(w),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_transform_takes_them(kind, way):
    w = W["float64"]
    result = WAYS[way](kind(w))
    result = result[0] if isinstance(result, tuple) else result
    assert type(result) is kind
    np.testing.assert_allclose(result.content, slope(w), rtol=1e-13)


def test_a_gradient_of_a_gradient(kind):
    """d²/dx² sum x³ = 6 x"""
    x = np.array([0.5, 2.0])
    second = tn.grad(lambda x: tn.sum(tn.grad(lambda y: tn.sum(y**3))(x)))(kind(x))
    assert type(second) is kind
    np.testing.assert_allclose(second.content, 6 * x, rtol=1e-13)


def test_complex_operands(kind):
    """f = |z|², whose gradient under Re(conj(a)·b) is 2 z"""
    z = np.array([1 + 2j, -0.5j])
    result = tn.grad(lambda z: tn.sum(tn.real(z * tn.conj(z))))(kind(z))
    assert result.content.dtype == z.dtype
    np.testing.assert_allclose(result.content, 2 * z, rtol=1e-15)


@pytest.mark.parametrize("w", [np.array(0.75), np.array([0.5, -1.0])], ids=["0-d", "vector"])
def test_a_backend_on_numpy_arrays_delivers_as_that_of_numpy(on_numpy, w):
    """Results leave through `result_to_numpy`, those of rank 0 as scalars, at every call"""
    owner = tn.host().backend(on_numpy)
    gradient = tn.grad(loss, backend=on_numpy)
    for count in (1, 2, 3):
        result = gradient(w)
        assert type(result) is (np.ndarray if w.shape else np.float64)
        assert owner.left == count
        np.testing.assert_allclose(result, slope(w), rtol=1e-13)


def test_a_captured_operand_keeps_its_value(kind):
    """What is recorded reads what the operand was then, whatever is written into it later."""
    given = kind(np.array([1.0, 2.0]))
    array = tn.asarray(given) * 1.0
    given.content[:] = 7.0
    np.testing.assert_array_equal(np.asarray(array), [1.0, 2.0])


def test_a_constant_in_the_function(kind):
    scale = kind(np.array([2.0, 3.0, 4.0]))
    result = tn.grad(lambda w: tn.sum(w * scale))(kind(np.ones(3)))
    np.testing.assert_array_equal(result.content, [2.0, 3.0, 4.0])
    scale.content[:] = 1.0
    again = tn.grad(lambda w: tn.sum(w * scale))(kind(np.ones(3)))
    np.testing.assert_array_equal(again.content, [1.0, 1.0, 1.0])


def test_functions_and_positions(kind):
    x = kind(np.array([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(np.asarray(tn.sum(x)), 6.0)
    picked = tn.asarray(x)[kind(np.array([2, 0]))]
    np.testing.assert_array_equal(np.asarray(picked), [2.0, 3.0])


@pytest.mark.skipif(select_backend().name != "numpy", reason="NumPy's backend owns the other one")
def test_a_foreign_array_beside_them_is_refused(kind):
    with pytest.raises(tn.MixedBackendsError) as caught:
        tn.grad(lambda w, x: tn.sum(w * x))(kind(np.ones(3)), np.ones(3))
    assert set(caught.value.backends) == {kind.__name__.lower(), "numpy"}


def test_an_object_that_no_backend_owns_is_refused():
    with pytest.raises((tn.UnknownOperandError, TypeError)):
        tn.grad(loss)(Box(np.ones(3)))
