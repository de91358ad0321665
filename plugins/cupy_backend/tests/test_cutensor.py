"""Products by cuTENSOR, on a recording stand-in: which they are, and their axes."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import tenferro as tn
from tenferro.backend import InvalidOptionError, UnsupportedError

A = np.sin(np.arange(120.0)).reshape(4, 5, 6)
B = np.cos(np.arange(180.0)).reshape(6, 5, 6)
CUTENSOR = {"cutensor": True}

#: products; those in the first table need a copy of an operand for cuBLAS
COPIED = {
    "the first and the last axis": lambda a, b: np.einsum("xyz,zvx->yv", a, b[:, :, :4]),
    "contracted axes apart": lambda a, b: np.einsum("xyz,zvw->xyvw", a[:, :, ::2], b[::2]),
    "a batch in the middle": lambda a, b: np.einsum("xyz,zyw->yxw", a[:, :, ::2], b[::2]),
    "complex numbers": lambda a, b: np.einsum("xyz,zvx->yv", a * 1j, b[:, :, :4] + 1j),
    "single precision": lambda a, b: np.einsum(
        "xyz,zvx->yv", a.astype("float32"), b[:, :, :4].astype("float32")
    ),
}
MATRICES = {
    "matrices": lambda a, b: a[0] @ b[0].T,
    "merged axes": lambda a, b: np.tensordot(a, b, 1),
    "a stack": lambda a, b: np.einsum("xyz,xzw->xyw", a, b[:4].transpose(0, 2, 1)),
    "a reversed view": lambda a, b: np.einsum("xyz,zvx->yv", a[::-1], b[:, :, :4]),
    "nothing is kept": lambda a, b: np.einsum("xyz,zyx->", a, b[:, :, :4]),
    "no elements": lambda a, b: np.einsum("xyz,zvx->yv", a[:0], b[:, :, :0]),
}


def contraction(alpha, a, mode_a, b, mode_b, beta, c, mode_c):
    """As `cupyx.cutensor` computes it: the same dtype, and one extent for each mode."""
    assert (alpha, beta) == (1.0, 0.0)
    assert a.dtype == b.dtype == c.dtype
    assert [x.ndim for x in (a, b, c)] == [len(m) for m in (mode_a, mode_b, mode_c)]
    assert all(s > 0 for x in (a, b) for s, n in zip(x.strides, x.shape, strict=True) if n > 1)
    c._a[...] = np.einsum(a._a, mode_a, b._a, mode_b, mode_c)
    c._module.launch("cutensor", [a, b], [c])


@pytest.fixture
def cutensor(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupyx.cutensor", SimpleNamespace(contraction=contraction))


def launches(function, backend, options=None):
    """The names of launches, and the result."""
    result = np.asarray(tn.jit(function, backend=backend, options=options)(A, B))
    return [name for name, _ in backend.cupy.launches], result


@pytest.mark.parametrize("name", COPIED)
def test_no_operand_is_copied(name, make_backend, cutensor):
    """cuTENSOR reads axes in any order"""
    function = COPIED[name]
    names, got = launches(function, make_backend(), CUTENSOR)
    assert names.count("cutensor") == 1
    assert not {"copy", "ascontiguousarray", "matmul", "dot"} & {*names}
    want = function(A, B)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5 if want.dtype == "float32" else 1e-12)


@pytest.mark.parametrize("name", MATRICES)
def test_other_products_are_those_of_cublas(name, make_backend, cutensor):
    """Matrices as they are, and what cuTENSOR does not take"""
    function = MATRICES[name]
    names, got = launches(function, make_backend(), CUTENSOR)
    assert "cutensor" not in names
    np.testing.assert_allclose(got, function(A, B), rtol=1e-12, atol=1e-12)


def test_cutensor_is_used_only_where_asked(make_backend, cutensor):
    """By default products are those of cuBLAS"""
    names, _ = launches(COPIED["the first and the last axis"], make_backend())
    assert "cutensor" not in names


def test_gradients(make_backend, cutensor):
    """The adjoints of a product are products as well"""
    product = COPIED["the first and the last axis"]
    loss = tn.grad(lambda a, b: np.sum(product(a, b) ** 2), argnums=(0, 1))
    got = tn.jit(loss, backend=make_backend(), options=CUTENSOR)(A, B)
    for a, b in zip(got, loss(A, B), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-11, atol=1e-12)


def test_a_missing_library_is_a_typed_error(make_backend, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupyx.cutensor", None)
    with pytest.raises(UnsupportedError, match="cuTENSOR"):
        tn.jit(np.matmul, backend=make_backend(), options=CUTENSOR)(A[0], B[:, :, 0])


def test_the_option_is_a_bool(make_backend):
    with pytest.raises(InvalidOptionError):
        tn.jit(np.sin, backend=make_backend(), options={"cutensor": 1})(A)
