"""SciPy converts what it is given; an Array says what to call instead, in a transform or not."""

import numpy as np
import pytest

import tenferro as tn

scipy_linalg = pytest.importorskip("scipy.linalg")
scipy_fft = pytest.importorskip("scipy.fft")

A = np.array([[2.0, 0.5], [0.5, 1.0]])
CALLS = {  # one per way in which SciPy converts
    "expm": lambda a: scipy_linalg.expm(a),
    "norm": lambda a: scipy_linalg.norm(a),
    "cho_factor": lambda a: scipy_linalg.cho_factor(a),
    "block_diag": lambda a: scipy_linalg.block_diag(a, a),
    "solve": lambda a: scipy_linalg.solve(A, a),
    "toeplitz": lambda a: scipy_linalg.toeplitz(a),
    "khatri_rao": lambda a: scipy_linalg.khatri_rao(A, a),
    "solve_discrete_are": lambda a: scipy_linalg.solve_discrete_are(a, A, A, A),
    "solve_continuous_lyapunov": lambda a: scipy_linalg.solve_continuous_lyapunov(a, A),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_of_scipy_refuses_and_names_ours(name):
    for call in (
        lambda: CALLS[name](tn.asarray(A)),
        lambda: tn.jvp(CALLS[name], (A,), (A,)),
        lambda: tn.jit(CALLS[name])(A),
    ):
        with pytest.raises(tn.UnsupportedFunctionError, match=f"scipy.linalg.{name}") as caught:
            call()
        assert caught.value.function == f"scipy.linalg.{name}"
        assert "test_scipy_functions.py" in str(caught.value)
        nearest = f"tenferro.linalg.{name}" if name in tn.linalg.__all__ else None
        assert caught.value.nearest == nearest


def test_the_nearest_function_is_named():
    with pytest.raises(tn.UnsupportedFunctionError, match=r"tenferro\.linalg\.norm"):
        scipy_linalg.norm(tn.asarray(A))


@pytest.mark.parametrize(
    "call, cure",
    [
        (lambda a: scipy_linalg.cossin(a, 1, 1), r"tenferro\.custom_vjp"),
        (lambda a: scipy_linalg.pinvh(a), r"pinv\(a, hermitian=True\)"),
        (lambda a: scipy_linalg.eigvalsh_tridiagonal(a[0], a[1, :1]), r"np\.diag\(e, 1\)"),
        (lambda a: scipy_linalg.solve_toeplitz(a[0], a[1]), r"linalg\.toeplitz\(c, r\)"),
    ],
)
def test_a_function_without_a_counterpart_names_what_to_write(call, cure):
    with pytest.raises(tn.UnsupportedFunctionError, match=cure):
        call(tn.asarray(A))


SHARED = {
    "cholesky": lambda a: scipy_linalg.cholesky(a),
    "qr": lambda a: scipy_linalg.qr(a),
    "eigh": lambda a: scipy_linalg.eigh(a, A),
}
DIFFERENCES = {"cholesky": "upper=True", "qr": "mode='complete'", "eigh": "eigh(a, b=b)"}


@pytest.mark.parametrize("name", SHARED)
def test_a_counterpart_that_is_numpys_says_what_differs(name):
    with pytest.raises(tn.UnsupportedFunctionError) as caught:
        SHARED[name](tn.asarray(A))
    assert caught.value.nearest == f"tenferro.linalg.{name}"
    assert DIFFERENCES[name] in " ".join(str(caught.value).split())


def test_numbers_that_are_converted_by_name_are_taken():
    constant = np.asarray(tn.stop_gradient(tn.asarray(A)))
    np.testing.assert_array_equal(scipy_linalg.expm(constant), scipy_linalg.expm(A))


def test_other_parts_of_scipy_convert_as_before():
    """Their Arrays are converted where no derivative is lost, and refused where one is."""
    integrate = pytest.importorskip("scipy.integrate")
    x = tn.asarray(np.array([0.0, 1.0, 2.0]))
    assert integrate.simpson(np.asarray(x)) == pytest.approx(2)
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.minimize(lambda x: np.sum((x - 1) ** 2), x)
    np.testing.assert_allclose(found.x, 1, atol=1e-5)
