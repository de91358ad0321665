"""Linear maps of which a part is transposed, against the blocks of the Jacobian."""

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 2))
POINT = RNG.normal(size=3), RNG.normal(size=2), 0.7
DIRECTIONS = RNG.normal(size=3), RNG.normal(size=2), 1.3
COTANGENTS = RNG.normal(size=2), RNG.normal(size=4), -0.4


def separate(x, y, s):
    """Each result depends on one argument."""
    return np.sin(A @ x), B @ np.exp(y), s**2


BLOCKS = [
    np.cos(A @ POINT[0])[:, None] * A,
    B * np.exp(POINT[1]),
    np.array(2 * POINT[2]),
]
CHOICES = [(0,), (1,), (2,), (0, 2), (2, 0), (0, 1, 2), ()]


def linearized(f=separate, at=POINT):
    return tn.linearize(f, *at)[1]


def close(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def flow(chosen):
    """Inputs of the map transposed at some positions: cotangents there, then tangents elsewhere."""
    others = [i for i in range(3) if i not in chosen]
    return [*[COTANGENTS[i] for i in chosen], *[DIRECTIONS[i] for i in others]]


@pytest.mark.parametrize("chosen", CHOICES)
def test_equals_the_blocks(chosen):
    """(ct_O, dx_R) ↦ (J_OIᵀ ct_O, J_RR dx_R)"""
    others = [i for i in range(3) if i not in chosen]
    wanted = [np.dot(BLOCKS[i].T, COTANGENTS[i]) for i in chosen]
    wanted += [np.dot(BLOCKS[i], DIRECTIONS[i]) for i in others]
    close(linearized().transpose(inputs=chosen, outputs=chosen)(*flow(chosen)), wanted)


@pytest.mark.parametrize("chosen", CHOICES)
def test_transposing_twice_is_the_identity(chosen):
    df, back = linearized(), range(len(chosen))
    twice = df.transpose(inputs=chosen, outputs=chosen).transpose(inputs=back, outputs=back)
    order = [*chosen, *[i for i in range(3) if i not in chosen]]
    wanted = df(*DIRECTIONS)
    close(twice(*[DIRECTIONS[i] for i in order]), [wanted[i] for i in order])


@pytest.mark.parametrize("chosen", [(0,), (1,), (0, 1)])
def test_is_the_adjoint_of_the_transposed_part(chosen):
    """⟨ct, J dx⟩ = ⟨Jᵀ ct, dx⟩ between the transposed sides"""
    df = linearized()
    back = df.transpose(inputs=chosen, outputs=chosen)(*flow(chosen))
    ahead = df(*DIRECTIONS)
    left = sum(np.vdot(COTANGENTS[i], ahead[i]) for i in chosen)
    right = sum(np.vdot(back[place], DIRECTIONS[i]) for place, i in enumerate(chosen))
    np.testing.assert_allclose(left, right, rtol=1e-12)


def test_all_of_it_is_the_transpose():
    df = linearized()
    close(df.transpose(inputs=(0, 1, 2))(*COTANGENTS), df.transpose(COTANGENTS))
    close(df.transpose(outputs=(0, 1, 2))(*COTANGENTS), df.transpose(COTANGENTS))
    close(df.transpose(inputs=(0, 1, 2)).transpose()(*DIRECTIONS), df(*DIRECTIONS))


def test_several_arguments_and_results_of_one_block():
    """Both results depend on both arguments, and the third argument and result stand alone"""
    f = lambda x, y, s: (A @ x * y, (x * x).sum() + y, 3 * s)  # noqa: E731
    df = linearized(f)
    found = df.transpose(inputs=(0, 1), outputs=(0, 1))(COTANGENTS[0], DIRECTIONS[1], 2.0)
    close(found[:2], df.transpose((COTANGENTS[0], DIRECTIONS[1], 0.0))[:2])
    assert found[2] == 6.0


def test_pytrees():
    """Inputs and outputs are chosen among pytrees"""
    f = lambda p, s: ({"a": p["u"] * p["v"]}, [2 * s, s])  # noqa: E731
    _, df = tn.linearize(f, {"u": 2.0, "v": 3.0}, 1.0)
    back, ahead = df.transpose(inputs=0, outputs=0)({"a": 10.0}, 1.0)
    assert (back, ahead) == ({"u": 30.0, "v": 20.0}, [2.0, 1.0])


def test_a_result_that_is_no_tuple_is_one():
    _, df = tn.linearize(lambda x: A @ x, POINT[0])
    (found,) = df.transpose(inputs=0, outputs=0)(COTANGENTS[0])
    np.testing.assert_allclose(found, A.T @ COTANGENTS[0], rtol=1e-12)


def test_complex_is_the_hermitian_adjoint():
    """z ↦ i z transposed: ct ↦ -i ct"""
    _, df = tn.linearize(lambda z, s: (1j * z, s), 1 + 2j, 1.0)
    assert df.transpose(inputs=0, outputs=0)(3 + 1j, 1.0) == ((3 + 1j) * -1j, 1.0)


def test_float32_stays():
    """A cotangent of float32 gives one of float32"""
    _, df = tn.linearize(lambda x, s: (2 * x, s), np.ones(2, "float32"), 1.0)
    assert df.transpose(inputs=0, outputs=0)(np.ones(2, "float32"), 1.0)[0].dtype == "float32"


@pytest.mark.parametrize("wrap", [tn.jit, tn.vmap, lambda f: lambda x: tn.jvp(f, (x,), (x,))[0]])
def test_inside_transforms(wrap):
    """jit, vmap and jvp of a partial transpose are those of cos x · x"""
    xs = np.stack([POINT[0], DIRECTIONS[0]])

    def transposed(x):
        _, df = tn.linearize(lambda x, s: (np.sin(x), s), x, 1.0)
        return df.transpose(inputs=0, outputs=0)(x, 2.0)[0]

    np.testing.assert_allclose(wrap(transposed)(xs), np.cos(xs) * xs, rtol=1e-12)


def test_differentiates():
    """d/dx cos(x) c = -sin(x) c"""

    def transposed(x):
        _, df = tn.linearize(lambda x, s: (np.sin(x), s), x, 1.0)
        return df.transpose(inputs=0, outputs=0)(5.0, 2.0)[0]

    np.testing.assert_allclose(tn.grad(transposed)(0.3), -5 * np.sin(0.3), rtol=1e-12)


@pytest.mark.parametrize("inputs, outputs", [((0,), (0,)), ((1,), (1,)), ((0,), ()), ((), (0,))])
def test_a_lost_block_is_refused(inputs, outputs):
    """d(x y) = y dx + x dy has a block for each argument"""
    df = linearized(lambda x, y: (x * y, y), (2.0, 3.0))
    with pytest.raises(tn.MixedFlowError, match=r"transpose (argument|result) . too"):
        df.transpose(inputs=inputs, outputs=outputs)


@pytest.mark.parametrize("positions", [3, -4, (0, 0), (0, -3), ("x",), (0.0,), (True,)])
def test_other_positions_are_refused(positions):
    with pytest.raises(ValueError, match="distinct positions among 3 inputs"):
        linearized().transpose(inputs=positions, outputs=positions)


def test_wrong_calls_are_refused():
    df = linearized()
    transposed = df.transpose(inputs=0, outputs=0)
    with pytest.raises(TypeError, match="a cotangent of the result"):
        df.transpose()
    with pytest.raises(TypeError, match="or inputs and outputs to transpose"):
        df.transpose(COTANGENTS, inputs=0)
    with pytest.raises(tn.TangentMismatchError, match="cotangent of result 0, tangent of arg"):
        transposed(1.0)
    with pytest.raises(tn.TangentMismatchError, match=r"values\[0\]"):
        transposed(np.ones(7), DIRECTIONS[1], 1.0)
