"""Complex derivatives under ⟨a, b⟩ = Re Σ conj(a) b: grad |z|² = 2z; JAX's way is a switch."""

import numpy as np
import pytest
from against_numpy import sample
from modes import CLASSICAL, MODES

import tenferro as tn

Z, W = 1 + 2j, -3 + 0.5j
E2 = np.exp(2)
REAL_VALUED = {  # function and its gradient at Z
    "abs squared by conj": (lambda z: (z * np.conj(z)).real, 2 + 4j),
    "abs squared by abs": (lambda z: abs(z) ** 2, 2 + 4j),
    "real part": (lambda z: z.real, 1),
    "imaginary part": (lambda z: z.imag, 1j),
    "abs": (lambda z: abs(z), Z / abs(Z)),
    "direction": (lambda z: np.sign(z).real, (1 - (Z / abs(Z)) * (Z / abs(Z)).real) / abs(Z)),
    "real part of a square": (lambda z: (z * z).real, 2 - 4j),
    "through a real variable": (lambda z: np.exp(z.real) * z.imag, np.e * (2 + 1j)),
}
HOLOMORPHIC = {
    "square": (lambda z: z * z, 2 * Z),
    "exp": (lambda z: np.exp(z), np.exp(Z)),
    "inverse": (lambda z: 1 / z, -1 / Z**2),
    "power": (lambda z: z**3, 3 * Z**2),
    "sqrt": (lambda z: np.sqrt(z), 0.5 / np.sqrt(Z)),
    "sin": (lambda z: np.sin(z), np.cos(Z)),
}


@pytest.mark.parametrize("name", REAL_VALUED)
def test_the_gradient_of_a_real_function_points_up(name):
    function, want = REAL_VALUED[name]
    assert tn.grad(function)(Z) == pytest.approx(want)
    assert tn.grad(function, convention="jax")(Z) == pytest.approx(np.conj(want))
    assert tn.jvp(function, (Z,), (0.3 + 0.4j,))[1] == pytest.approx(
        (np.conj(want) * (0.3 + 0.4j)).real
    )


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_the_derivative_of_a_holomorphic_function_is_a_number(name):
    function, want = HOLOMORPHIC[name]
    assert tn.grad(function, holomorphic=True)(Z) == pytest.approx(want)
    assert tn.jvp(function, (Z,), (1j,))[1] == pytest.approx(1j * want)
    assert tn.vjp(function, Z)[1](1j)[0] == pytest.approx(1j * np.conj(want))


@pytest.mark.parametrize("mode", CLASSICAL)
def test_a_product_of_conjugates_has_the_adjoint_in_both_modes(mode):
    """|z|²: dz = .3+.4i gives 2.2; ct = .5 gives 1+2i."""
    value = lambda z: (np.conj(z) * z).real  # noqa: E731
    assert tn.jvp(value, (Z,), (0.3 + 0.4j,))[1] == pytest.approx(2.2)
    assert tn.vjp(value, Z)[1](0.5)[0] == pytest.approx(1 + 2j)
    real_line = lambda t: value(Z + t * (0.3 + 0.4j))  # noqa: E731
    assert MODES[mode](real_line)(0.0) == pytest.approx(2.2)
    assert MODES[mode](MODES[mode](real_line))(0.0) == pytest.approx(0.5)


def test_products_and_constants():
    dz, dw = 0.5 - 1j, -2 + 1.5j
    assert tn.jvp(lambda z, w: z * w, (Z, W), (dz, dw))[1] == pytest.approx(-6.75j - 6 + 7.5j)
    assert tn.vjp(lambda z: (2 + 1j) * z, Z)[1](1.0)[0] == pytest.approx(2 - 1j)
    assert tn.jvp(np.conj, (Z,), (1 + 1j,))[1] == tn.vjp(np.conj, Z)[1](1 + 1j)[0] == 1 - 1j


def test_real_arguments_get_real_gradients():
    f = lambda x: (x * (1 + 2j)).imag + np.abs(x * 1j)  # noqa: E731
    assert tn.grad(f)(3.0) == 3
    gradient = tn.grad(lambda x: np.sum((x * sample("complex128")).real))(sample("float64"))
    np.testing.assert_allclose(gradient, sample("complex128").real)


def test_convention_changes_complex_arguments_only():
    f = lambda x, z: x * (z * z).real  # noqa: E731
    assert tn.grad(f, (0, 1), convention="jax")(2.0, Z) == (-3, 4 + 8j)
    assert tn.grad(f, (0, 1))(2.0, Z) == (-3, 4 - 8j)
    with pytest.raises(ValueError, match="hermitian"):
        tn.grad(f, convention="other")


@pytest.mark.parametrize(
    "function",
    [
        lambda z: np.sum(abs(z) ** 3),
        lambda z: z * np.conj(z[::-1]),
        lambda z: np.exp(z) / (z + 4),
        lambda z: z.real * z.imag,
        lambda z: np.where(z.real > 0, z * z, np.conj(z)),
        lambda z: np.outer(z, z) @ z,
        lambda z: np.vdot(z, z * z),
        lambda z: np.sqrt(z + 5) ** 2.5,
        lambda z: np.prod(z) * np.var(z),
    ],
)
def test_complex_derivatives_agree_with_differences(function):
    tn.check_grads(function, (sample("complex128"),), order=2, rtol=1e-6)


def test_the_derivative_of_sign_turns_and_is_zero_at_zero():
    """∇ Re(z/|z|) = (1 - s Re(s))/|z|, at (3 + 4j)/10: 1.28 - .96j"""
    gradient = tn.grad(lambda z: np.real(np.sign(z)))
    assert gradient(0.3 + 0.4j) == pytest.approx(1.28 - 0.96j)
    assert gradient(0j) == 0
    tn.check_grads(np.sign, (np.array([0.3 + 0.4j, -1 + 2j]),), order=2)


def test_the_hessian_of_hypot_at_the_origin_is_zero_as_that_of_norm():
    for length in (lambda v: np.hypot(v[0], v[1]), np.linalg.norm):
        np.testing.assert_array_equal(tn.hessian(length)(np.zeros(2)), np.zeros((2, 2)))


@pytest.mark.parametrize("jacobian", [tn.jacobian, tn.jacfwd, tn.jacrev])
def test_rows_of_a_jacobian_follow_the_convention(jacobian):
    """Row k is grad of output k, in both conventions; real arguments know no difference"""
    z = np.array([0.3 + 0.4j, -1.0 + 2.0j])

    def f(z):
        return np.stack([np.sum(np.abs(z) ** 2), np.real(z[0] * z[1])])

    for convention in ("hermitian", "jax"):
        got = jacobian(f, convention=convention)(z)
        rows = [tn.grad(lambda z, k=k: f(z)[k], convention=convention)(z) for k in range(2)]
        np.testing.assert_allclose(got, rows)
    np.testing.assert_allclose(jacobian(f, convention="jax")(z), np.conj(jacobian(f)(z)))
    real = lambda x: np.exp(1j * x)  # noqa: E731
    np.testing.assert_array_equal(jacobian(real, convention="jax")(1.0), jacobian(real)(1.0))
    with pytest.raises(ValueError, match="convention is one of"):
        jacobian(f, convention="torch")
