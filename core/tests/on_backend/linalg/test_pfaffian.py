"""The Pfaffian against closed forms and the sum over perfect matchings, at every rank."""

import numpy as np
import pytest

import tenferro as tn

rng = np.random.default_rng(3)


def skew(n, rank=None, dtype=float):
    """Return a skew-symmetric matrix X S Xᵀ of the (even) rank."""
    x = rng.normal(size=(n, n if rank is None else rank)).astype(dtype)
    s = rng.normal(size=(x.shape[1], x.shape[1])).astype(dtype)
    if dtype is complex:
        x, s = x + 1j * rng.normal(size=x.shape), s + 1j * rng.normal(size=s.shape)
    return x @ (s - s.T) @ x.T / n


def by_matchings(a):
    """pf a = Σ_j (-1)^(j-1) a_0j pf(a without rows and columns 0 and j)"""
    if not len(a):
        return 1.0
    rest = [np.delete(np.arange(len(a)), [0, j]) for j in range(1, len(a))]
    parts = (a[0, j + 1] * (-1) ** j * by_matchings(a[np.ix_(r, r)]) for j, r in enumerate(rest))
    return sum(parts)


def difference(f, a, da, step=1e-3):
    """Differentiate a polynomial of degree 3 at most, exactly but for rounding."""
    near, far = ((f(a + h * da) - f(a - h * da)) / (2 * h) for h in (step, 2 * step))
    return (4 * near - far) / 3


MATRICES = {
    "two": skew(2), "four": skew(4), "six": skew(6), "complex": skew(4, dtype=complex),
    "complex six": skew(6, dtype=complex), "rank n - 2": skew(6, 4), "rank n - 4": skew(6, 2),
    "complex rank n - 2": skew(6, 4, complex), "zero": np.zeros((4, 4)),
    "zero of two": np.zeros((2, 2)),
    "one": np.zeros((1, 1)), "odd": skew(5), "none": np.zeros((0, 0)),
    "exchanged": np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(3)),
}  # fmt: skip
by_matrix = pytest.mark.parametrize("a", MATRICES.values(), ids=MATRICES)


def direction(a, seed):
    made = np.random.default_rng(seed)
    d = made.normal(size=a.shape) + (1j * made.normal(size=a.shape) if a.dtype.kind == "c" else 0)
    return (d - d.T) / 2


@by_matrix
def test_values(a):
    """Pf(a) is the signed sum over perfect matchings"""
    np.testing.assert_allclose(np.asarray(tn.linalg.pfaffian(a)), by_matchings(a), atol=1e-13)


def test_small_ones_by_name():
    """Sign and places of the textbook's formula for four rows."""
    a = MATRICES["four"]
    want = a[0, 1] * a[2, 3] - a[0, 2] * a[1, 3] + a[0, 3] * a[1, 2]
    assert tn.linalg.pfaffian(a) == pytest.approx(want, rel=1e-13)
    assert tn.linalg.pfaffian([[0, 7], [-7, 0]]) == 7.0


@pytest.mark.parametrize(
    "name", ["six", "complex", "rank n - 4", "complex rank n - 2", "zero", "zero of two", "odd"]
)
def test_derivatives_at_every_rank(name):
    """First and second ones are those of the polynomial."""
    a = MATRICES[name]
    da, db = direction(a, 0), direction(a, 1)

    def slope(a):
        return tn.jvp(tn.linalg.pfaffian, (a,), (da,))[1]

    got, second = tn.jvp(slope, (a,), (db,))
    np.testing.assert_allclose(np.asarray(got), difference(by_matchings, a, da), atol=1e-9)
    want = difference(lambda a: difference(by_matchings, a, da), a, db)
    np.testing.assert_allclose(np.asarray(second), want, atol=1e-7)


@pytest.mark.parametrize("name", ["complex six", "rank n - 2"])
def test_reverse_mode_is_the_adjoint(name):
    """⟨∇f, d⟩ = df[d], once and twice."""
    a = MATRICES[name]
    da, db = direction(a, 0), direction(a, 1)

    def loss(a):
        return np.real(tn.linalg.pfaffian(a) * (1 - 2j))

    def slope(f, d):
        return lambda a: tn.jvp(f, (a,), (d,))[1]

    def along(gradient, d):
        return np.real(np.sum(np.conj(np.asarray(gradient)) * d))

    assert along(tn.grad(loss)(a), da) == pytest.approx(slope(loss, da)(a), abs=1e-12)
    for twice in (tn.jvp(tn.grad(loss), (a,), (da,))[1], tn.grad(slope(loss, da))(a)):
        want = np.asarray(slope(slope(loss, da), db)(a))
        np.testing.assert_allclose(along(twice, db), want, atol=1e-12)


def test_third_derivatives_of_a_regular_matrix():
    a, e = MATRICES["six"], direction(MATRICES["six"], 2)

    def second(t):
        return tn.jvp(tn.grad(lambda t: tn.linalg.pfaffian(a + t * e)), (t,), (1.0,))[1]

    got = tn.jvp(second, (0.0,), (1.0,))[1]
    cubic = np.polyfit([-2, -1, 0, 1, 2], [by_matchings(a + t * e) for t in range(-2, 3)], 3)
    np.testing.assert_allclose(np.asarray(got), 6 * cubic[0], rtol=1e-9)


def test_stacks_programs_and_mapped_axes():
    stack = np.stack([MATRICES["six"], MATRICES["rank n - 2"], MATRICES["exchanged"]])
    want = [by_matchings(a) for a in stack]
    gradient = tn.grad(tn.linalg.pfaffian)
    slopes = [np.asarray(gradient(a)) for a in stack]
    for f in (tn.linalg.pfaffian, tn.jit(tn.linalg.pfaffian), tn.vmap(tn.linalg.pfaffian)):
        np.testing.assert_allclose(np.asarray(f(stack)), want, atol=1e-13)
    together = tn.grad(lambda a: np.sum(tn.linalg.pfaffian(a)))
    for f in (together, tn.jit(together), tn.vmap(gradient)):
        np.testing.assert_allclose(np.asarray(f(stack)), slopes, atol=1e-13)


def test_the_skew_part_is_read_and_the_dtype_kept():
    a = (MATRICES["four"] + np.eye(4)).astype(np.float32)
    got = tn.linalg.pfaffian(a)
    assert got.dtype == np.float32
    np.testing.assert_allclose(np.asarray(got), by_matchings(MATRICES["four"]), rtol=1e-5)
    assert tn.linalg.pfaffian(np.zeros((2, 3, 3), np.complex64)).dtype == np.complex64


def test_the_square_is_the_determinant():
    a = skew(30)
    np.testing.assert_allclose(np.asarray(tn.linalg.pfaffian(a)) ** 2, np.linalg.det(a), rtol=1e-10)


def test_a_matrix_must_be_square():
    with pytest.raises(tn.ShapeMismatchError):
        tn.linalg.pfaffian(np.zeros((2, 3)))
