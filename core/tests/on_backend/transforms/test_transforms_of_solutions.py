"""Fourier transforms of what a factorization gives: Parseval's theorem says what must come out."""

import numpy as np
import pytest

import tenferro as tn

A = np.array([[3.0, 1.0, -0.5], [0.25, 2.0, 1.0], [-1.0, 0.5, 4.0]])


def energy(x):
    return np.sum(np.abs(x) ** 2)


SPECTRA = {
    "fft": lambda x: energy(np.fft.fft(x)) / 3,
    "rfft": lambda x: 2 / 3 * energy(np.fft.rfft(x)) - energy(np.fft.rfft(x)[:, :1]) / 3,
    "fft2": lambda x: energy(np.fft.fft2(x)) / 9,
}


@pytest.mark.parametrize("name", SPECTRA)
def test_the_energy_of_a_spectrum_is_that_of_the_solution(name):
    """Σ|F a⁻¹|² / n = Σ|a⁻¹|², with its gradient -2 a⁻ᵀ a⁻¹ a⁻ᵀ and along a batch"""
    spectrum, inverse = SPECTRA[name], np.linalg.inv(A)
    slope = tn.grad(lambda a: spectrum(np.linalg.inv(a)))
    want = -2 * inverse.T @ inverse @ inverse.T
    np.testing.assert_allclose(tn.jit(slope)(A), want, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(tn.jit(tn.vmap(slope))(np.stack([A, A]))[1], want, atol=1e-13)
