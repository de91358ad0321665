"""Matrices of a given shape are SciPy's, and their derivatives those of differences."""

import numpy as np
import pytest

import tenferro as tn

scipy_linalg = pytest.importorskip("scipy.linalg")

V, W = np.array([1.5, -2.0, 0.5, 3.0]), np.array([9.0, 4.0, -1.0])
Z = V + 1j * np.arange(4)
M, N = np.arange(6.0).reshape(2, 3) - 2, np.arange(12.0).reshape(4, 3)
I = np.array([3, 1, 2])  # noqa: E741

ROWS = [
    ("toeplitz", (V,)), ("toeplitz", (Z,)), ("toeplitz", (V, W)), ("toeplitz", (I, V)),
    ("toeplitz", (V[:1], W)), ("toeplitz", (V, Z[:1])),
    ("hankel", (V,)), ("hankel", (V, W)), ("hankel", (I, Z)), ("hankel", (V[:1],)),
    ("circulant", (V,)), ("circulant", (Z,)), ("circulant", (V[:1],)),
    ("companion", (V,)), ("companion", (I,)), ("companion", (V[:2],)), ("companion", (Z[::-1],)),
    ("leslie", (V, W)),
    ("fiedler", (V,)), ("fiedler", (I,)),
    ("khatri_rao", (M, N)), ("khatri_rao", (M, N * 1j)),
    ("block_diag", (M,)), ("block_diag", (M, V, 2.5, N)), ("block_diag", (I, M)),
    ("block_diag", (M, Z)), ("block_diag", ()), ("block_diag", (I, I)),
    *[("convolution_matrix", (x, n, mode)) for mode in ("full", "same", "valid")
      for x, n in ((V, 2), (W, 5), (Z, 4), (V[:1], 1))],
]  # fmt: skip
IDS = [f"{name}-{i}" for i, (name, _) in enumerate(ROWS)]


@pytest.mark.parametrize("name, operands", ROWS, ids=IDS)
def test_scipys_matrix(name, operands):
    """The matrix and its dtype are SciPy's"""
    ours = [tn.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
    got = np.asarray(getattr(tn.linalg, name)(*ours))
    want = getattr(scipy_linalg, name)(*operands)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-15)


@pytest.mark.parametrize("name, operands", ROWS, ids=IDS)
def test_derivatives(name, operands):
    """Derivatives by all operands that vary are those of differences"""
    varies = [isinstance(x, np.ndarray) and x.dtype.kind in "fc" for x in operands]

    def function(*given):
        values = iter(given)
        every = [next(values) if v else x for v, x in zip(varies, operands, strict=True)]
        return getattr(tn.linalg, name)(*every)

    moving = [x for v, x in zip(varies, operands, strict=True) if v]
    if moving:
        tn.check_grads(function, moving, order=1)


@pytest.mark.parametrize("name", ["toeplitz", "hankel", "circulant", "companion", "fiedler"])
def test_a_batch_is_each_of_its_vectors(name):
    function = getattr(tn.linalg, name)
    batch = np.stack([V, V[::-1]])
    want = np.stack([np.asarray(function(x)) for x in batch])
    np.testing.assert_array_equal(np.asarray(function(tn.asarray(batch))), want)
    np.testing.assert_array_equal(tn.vmap(function)(batch), want)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tn.linalg.toeplitz(1.0),
        lambda: tn.linalg.hankel(np.zeros(0)),
        lambda: tn.linalg.companion(V[:1]),
        lambda: tn.linalg.khatri_rao(M, np.ones((2, 2))),
        lambda: tn.linalg.leslie(V, V),
        lambda: tn.linalg.convolution_matrix(V, 3, "none"),
    ],
)
def test_refusals(call):
    """Operands that make no such matrix are refused, and the error says what it needs"""
    with pytest.raises(ValueError, match="need"):
        call()
