"""A plugin's own primitive with a CUDA kernel of its own as its lowering."""

import numpy as np
import pytest
from on_cpu import compiler

import tenferro as tn
from tenferro.backend import Lowerings, LoweringTable
from tenferro.backend.lowering import with_provider
from tenferro.primitives import Elementwise, Exp, bind, logistic
from tenferro_cupy.lowerings import lowerings as own_lowerings

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

SOURCE = r"""
extern "C" __global__ void swish(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1 + exp(-x[i]));
}
"""


class Swish(Elementwise):
    """y = x σ(x)"""

    key = "acme::swish"
    accepts = "float"

    def derivative(self, x, y):
        s = logistic(x)
        return s + y * (1 - s)


@pytest.fixture
def backend(make_backend, stand_in):
    made = make_backend()
    cupy = made.cupy
    kernel = cupy.RawKernel(SOURCE, "swish")
    lowerings = Lowerings()

    @lowerings.register(Swish)
    def swish(op, x):
        x = cupy.ascontiguousarray(x)  # it may be a view
        out = cupy.empty(x.shape, x.dtype)
        kernel(((x.size + 255) // 256,), (256,), (x, out, np.int32(x.size)))
        return out

    records = own_lowerings(cupy, *stand_in.cupyx)
    made.lowerings = LoweringTable("cupy", [*records, *lowerings])
    return made


X = np.linspace(-3, 3, 700)


def swish(x):
    return bind(Swish(), tn.asarray(x))


def test_the_kernel_runs_between_regions(backend):
    """2 (x σ(x)) + 1, where the primitive stands between operations that are fused"""
    got = tn.jit(lambda x: swish(x * 0.5) * 2 + 1, backend=backend)(X)
    half = X * 0.5
    np.testing.assert_allclose(numbers(got), 2 * half / (1 + np.exp(-half)) + 1, rtol=1e-14)
    assert [n for n, _ in backend.cupy.launches].count("swish") == 1


def test_the_kernel_of_a_view(backend):
    """2 f(xᵀ), where the kernel reads its operand in one go"""
    x = X.reshape(7, 100)
    got = tn.jit(lambda x: swish(x.T) * 2, backend=backend)(x)
    np.testing.assert_allclose(numbers(got), 2 * x.T / (1 + np.exp(-x.T)), rtol=1e-14)


def test_its_gradient(backend):
    """d/dx Σ x σ(x) = σ + x σ (1 - σ)"""
    got = tn.jit(tn.grad(lambda x: np.sum(swish(x))), backend=backend)(X)
    s = 1 / (1 + np.exp(-X))
    np.testing.assert_allclose(numbers(got), s + X * s * (1 - s), rtol=1e-12)


def test_an_operation_that_a_plugin_replaces_is_not_fused(make_backend, stand_in):
    """A lowering of std::exp by another distribution runs instead of the kernel's exp"""
    backend, called = make_backend(), []
    mine = Lowerings()

    @mine.register(Exp)
    def exp(op, x):
        called.append(x.shape)
        return backend.cupy.exp(x)

    records = own_lowerings(backend.cupy, *stand_in.cupyx)
    others = [r for r in records if r.primitive != Exp.key]
    backend.lowerings = LoweringTable("cupy", [*others, *with_provider(mine, "acme 1.0")])
    got = tn.jit(lambda x: np.exp(-x) * 2, backend=backend)(X)
    np.testing.assert_allclose(numbers(got), np.exp(-X) * 2, rtol=1e-14)
    assert called == [X.shape]


def numbers(value):
    operand = getattr(value, "operand", value)
    return getattr(operand, "_a", operand)
