"""Complex numbers: transposes are adjoint under Re(conj(a)·b)."""

import cmath

import pytest
from toy_functions import Total
from toy_running import FORMS, differences, numbers, var
from toy_scalars import Conj, Const, Exp

both_forms = pytest.mark.parametrize("form", FORMS)
Z = var("z", "c")
W = var("w", "c")


def conj(z):
    return Conj()(z)


def inner(a, b):
    return (a.conjugate() * b).real


@both_forms
def test_conj(form):
    """d conj z = conj dz, and so is its adjoint"""
    assert form.jvp([conj(Z)], [Z], {Z: 0j}, [1 + 1j]) == [1 - 1j]
    assert form.vjp([conj(Z)], [Z], {Z: 0j}, [1 + 1j]) == [1 - 1j]


@both_forms
def test_a_product_of_complex_numbers(form):
    at = {Z: 1 + 2j, W: -3 + 0.5j}
    found = form.jvp([Z * W], [Z, W], at, [0.5 - 1j, -2 + 1.5j])
    assert found == [pytest.approx(-6 + 0.75j, abs=1e-12)]


@both_forms
def test_a_complex_factor_is_conjugated(form):
    assert form.vjp([Const(2 + 1j, "c")() * Z], [Z], {Z: 1j}, [1 + 0j]) == [2 - 1j]


@both_forms
def test_the_square_of_the_modulus(form):
    assert form.vjp([Z * conj(Z)], [Z], {Z: 1 + 2j}, [1 + 0j]) == [2 + 4j]


@both_forms
@pytest.mark.parametrize("seed", [1, 1j])
def test_exp_against_differences(form, seed):
    z = 0.4 - 0.2j
    along = [differences(lambda t, d=d: inner(seed, cmath.exp(z + t * d)), 0) for d in (1, 1j)]
    (found,) = form.vjp([Exp()(Z)], [Z], {Z: z}, [seed])
    assert (found.real, found.imag) == (pytest.approx(along[0]), pytest.approx(along[1]))


@both_forms
def test_vectors_of_complex_numbers(form):
    tangent = (0.5 + 0.3j, 0.7 + 0.1j)
    assert form.jvp([conj(Z)], [Z], {Z: (0j, 0j)}, [tangent]) == [(0.5 - 0.3j, 0.7 - 0.1j)]
    y = Total(2)(Z * conj(Z))
    assert form.vjp([y], [Z], {Z: (1 + 1j, 2 + 3j)}, [1 + 0j]) == [(2 + 2j, 4 + 6j)]


@both_forms
@pytest.mark.parametrize("function", [conj, lambda z: z * conj(z), lambda z: Exp()(z * z)])
@pytest.mark.parametrize("dz", [0.3 + 0.4j, -1j])
@pytest.mark.parametrize("ct", [0.5 + 0.6j, -2 + 0j])
def test_transposes_are_adjoint(form, function, dz, ct):
    y, at = function(Z), {Z: 1 + 2j}
    (dy,) = form.jvp([y], [Z], at, [dz])
    (ct_z,) = form.vjp([y], [Z], at, [ct])
    assert inner(ct, dy) == pytest.approx(inner(ct_z, dz), rel=1e-12)


@both_forms
def test_conj_of_a_vector_is_adjoint(form):
    at, dz, ct = {Z: (1 + 2j, 3 + 4j)}, (0.5 - 1j, 2j), (1j, -1 + 0.5j)
    (dy,) = form.jvp([conj(Z)], [Z], at, [dz])
    (ct_z,) = form.vjp([conj(Z)], [Z], at, [ct])
    assert sum(map(inner, ct, dy)) == pytest.approx(sum(map(inner, ct_z, dz)))


def test_conj_of_a_real_value_is_the_value():
    x = var("x")
    assert conj(x).key is x.key
    assert numbers([conj(Z)], {Z: 1j}) == [-1j]
