"""The problem a x = w b x: values, vectors and slopes are those of SciPy and of closed forms."""

import numpy as np
import pytest

import tenferro as tn

sla = pytest.importorskip("scipy.linalg")

RNG = np.random.default_rng(5)
REAL = RNG.normal(size=(4, 4))
COMPLEX = REAL + 1j * RNG.normal(size=(4, 4))
both_kinds = pytest.mark.parametrize("a", [REAL, COMPLEX], ids=["real", "complex"])


def definite(a):
    return a[::-1] @ a[::-1].conj().T + np.eye(len(a))


@both_kinds
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_one_triangle_is_read_as_by_scipy(a, triangle):
    """Neither ``a`` nor its diagonal need be Hermitian: what is not read does not count."""
    b = definite(a)
    values, vectors = tn.linalg.eigh(a, triangle, b=b)
    want, _ = sla.eigh(a, b, lower=triangle == "L")
    np.testing.assert_allclose(values, want, atol=1e-12)
    np.testing.assert_allclose(tn.linalg.eigvalsh(a, triangle, b=b), want, atol=1e-12)
    v = np.asarray(vectors)
    np.testing.assert_allclose(v.conj().T @ b @ v, np.eye(4), atol=1e-12)


@both_kinds
def test_the_slope_of_a_value_is_that_of_perturbation_theory(a):
    """dw = xᴴ (da - w db) x for a vector with xᴴ b x = 1."""
    h, b = (a + a.conj().T) / 2, definite(a)
    w, v = sla.eigh(h, b)
    dyad = np.outer(v[:, 1], v[:, 1].conj())
    by_a, by_b = tn.grad(lambda a, b: tn.linalg.eigvalsh(a, b=b)[1], argnums=(0, 1))(h, b)
    np.testing.assert_allclose((by_a + by_a.conj().T) / 2, dyad, atol=1e-10)
    np.testing.assert_allclose((by_b + by_b.conj().T) / 2, -w[1] * dyad, atol=1e-10)


@both_kinds
def test_derivatives_of_vectors_are_those_of_differences(a):
    def places(a, b):
        return np.sum(np.abs(tn.linalg.eigh(a, b=b).eigenvectors[:, 1]) ** 2 * np.arange(4))

    tn.check_grads(places, (a, definite(a)), order=1)


REFUSED = {  # apart from the texts: an error names the line of the call
    "no name": lambda: tn.linalg.eigh(REAL, REAL),
    "sizes": lambda: tn.linalg.eigh(REAL, b=np.eye(3)),
    "sizes of values": lambda: tn.linalg.eigvalsh(REAL, b=np.eye(3)),
    "gauge": lambda: tn.linalg.eigh(REAL, b=np.eye(4), gauge="canonical"),
}
TEXTS = {
    "no name": r"eigh\(a, b=b\)",
    "sizes": "eigh: a and b differ in size",
    "sizes of values": "eigvalsh: a and b differ in size",
    "gauge": "gauge='raw'",
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_say_what_to_write(case):
    with pytest.raises(ValueError, match=TEXTS[case]):
        REFUSED[case]()
