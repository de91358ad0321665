"""Promises to users of the backend. References: the derivatives that PyTorch computes itself.

The conformance kit asks the laws.
"""

import numpy as np
import pytest
import torch

import tenferro as tn

W = torch.tensor([[0.5, 1.0], [0.2, -0.3]], dtype=torch.float64)

FUNCTIONS = {
    "a matrix product": lambda f, w: f.sum(f.tanh(w @ w)),
    "powers and quotients": lambda f, w: f.sum(w**3 / (1 + w * w)),
    "positions": lambda f, w: f.sum(w[1] * w[0, 1]) + f.sum(w[:, :1] ** 2),
    "choices": lambda f, w: f.sum(f.where(w > 0, f.exp(w), w * w)),
    "reductions": lambda f, w: f.sum(f.amax(w, 0) * f.prod(w, 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("jit", [False, True])
def test_gradients_are_those_of_pytorch(name, dtype, jit):
    w = W.to(dtype)
    gradient = tn.grad(lambda x: FUNCTIONS[name](tn, x))
    result = (tn.jit(gradient) if jit else gradient)(w)
    own = w.clone().requires_grad_()
    FUNCTIONS[name](torch, own).backward()
    assert type(result) is torch.Tensor
    assert result.dtype == dtype
    torch.testing.assert_close(result, own.grad)


def test_hessians():
    """∇²(Σ w³ + w₀w₁) = [[6w₀, 1], [1, 6w₁]]"""
    result = tn.hessian(lambda w: tn.sum(w**3) + w[0] * w[1])(torch.tensor([1.0, 2.0]))
    torch.testing.assert_close(result, torch.tensor([[6.0, 1.0], [1.0, 12.0]]))


def test_complex_gradients_are_those_of_pytorch():
    """|z|² has the gradient 2 z in both conventions."""
    z = torch.tensor([1 + 2j, -0.5j], dtype=torch.complex128)
    result = tn.grad(lambda z: tn.sum(tn.real(z * tn.conj(z))))(z)
    torch.testing.assert_close(result, 2 * z)


def test_parameters_are_taken_without_the_graph_of_pytorch():
    parameter = torch.nn.Parameter(W)
    result = tn.grad(lambda w: tn.sum(w * w))(parameter)
    assert not result.requires_grad
    torch.testing.assert_close(result, 2 * W)


def test_a_captured_tensor_keeps_its_value():
    given = torch.ones(3)
    array = tn.asarray(given) * 1.0
    given[0] = 7.0
    np.testing.assert_array_equal(np.asarray(array), [1.0, 1.0, 1.0])


def test_results_share_no_memory_with_operands():
    given = torch.ones(3)
    result = tn.jit(lambda x: x)(given)
    given[0] = 7.0
    assert result[0] == 1.0


def test_a_numpy_array_beside_a_tensor_is_refused():
    with pytest.raises(tn.MixedBackendsError):
        tn.grad(lambda w, x: tn.sum(w * x))(W, np.ones((2, 2)))


def test_a_tensor_on_another_device_is_refused():
    with pytest.raises(tn.UnsupportedError):
        tn.grad(lambda w: tn.sum(w * w))(torch.ones(3, device="meta"))


def test_the_plugin_is_loaded_from_its_entry_point():
    (record,) = [r for r in tn.host().load() if r.name == "torch"]
    assert record.status == "loaded", record.reason
