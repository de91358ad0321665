"""Values and gradients are JAX's, and gradients those of differences, on random shapes.

Every function of ``tn.linalg``, ``tn.fft``, ``tn.special`` and ``tn.einsum`` has a row in the
tables beside this file; what is not compared says why.
"""

import os

import numpy as np
import pytest

jax = pytest.importorskip("jax")
hypothesis = pytest.importorskip("hypothesis")

import jax.numpy as jnp  # noqa: E402
import jax_rows_einsum  # noqa: E402
import jax_rows_fft  # noqa: E402
import jax_rows_linalg  # noqa: E402
import jax_rows_special  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from jax_rows import leaves  # noqa: E402

import tenferro as tn  # noqa: E402

jax.config.update("jax_enable_x64", True)
TABLES = (jax_rows_linalg, jax_rows_einsum, jax_rows_fft, jax_rows_special)
ROWS = [row for table in TABLES for row in table.ROWS]
SIZES = st.fixed_dictionaries(  # the first example takes the first of each
    {
        "b": st.sampled_from([(2,), ()]),
        "m": st.sampled_from([3, 2, 1]),
        "n": st.sampled_from([2, 3, 1]),
        "k": st.sampled_from([1, 3, 2]),
    }
)
EXAMPLES = int(os.environ.get("TENFERRO_EXAMPLES", "2"))
few = hypothesis.settings(
    max_examples=EXAMPLES, deadline=None,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)  # fmt: skip
STEP = 1e-3


def loss_of(xp, function, weights):
    """Σ Re(conj(weight) result) over all results: a real function of all operands."""

    def loss(*operands):
        total = 0.0
        for weight, result in zip(weights, leaves(function(*operands)), strict=True):
            total = total + xp.sum(xp.real(np.conj(weight) * result))
        return total

    return loss


def slope_by_differences(loss, operands, directions):
    """The derivative along a direction: differences at five points."""

    def at(t):
        return loss(*[x + t * v for x, v in zip(operands, directions, strict=True)])

    near, far = float(at(STEP)) - float(at(-STEP)), float(at(2 * STEP)) - float(at(-2 * STEP))
    return (8 * near - far) / (12 * STEP)


def same(got, want, text, rtol=1e-9):
    got, want = np.asarray(got), np.asarray(want)
    scale = max(1.0, float(np.max(np.abs(want), initial=0)))
    assert got.shape == want.shape, f"{text}: {got.shape} for {want.shape}"
    np.testing.assert_allclose(got, want, rtol=0, atol=rtol * scale, err_msg=text)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_jax_and_differences_agree(row):
    @few
    @hypothesis.given(
        sizes=SIZES, dtype=st.sampled_from(row.dtypes[::-1]), seed=st.integers(0, 999)
    )
    def compare(sizes, dtype, seed):
        hypothesis.assume(row.where(sizes))
        rng = np.random.default_rng(seed)
        operands = [x.draw(rng, sizes, dtype) for x in row.operands]
        results = [np.asarray(x) for x in leaves(row.ours(*map(tn.asarray, operands)))]
        weights = [weight_of(x, rng) for x in results]
        text = f"{row} of {sizes}, {dtype}, seed {seed}"
        gradients, loss = [], loss_of(np, row.ours, weights)
        if not row.constant:
            places = tuple(i for i, x in enumerate(row.operands) if x.varies)
            gradients = tn.grad(loss, argnums=places)(*operands)
        if not row.not_jax:
            compare_with_jax(row, operands, weights, results, gradients, text)
        if gradients and not row.not_differences:
            directions = [
                x.draw(rng, sizes, dtype, direction=True) * x.varies for x in row.operands
            ]
            compare_with_differences(row, loss, operands, directions, gradients, text)

    compare()


def weight_of(result, rng):
    """Random numbers of the kind of a result."""
    real = rng.normal(size=result.shape)
    return real + 1j * rng.normal(size=result.shape) if np.iscomplexobj(result) else real


def compare_with_jax(row, operands, weights, results, gradients, text):
    """Values and, after conjugation, gradients; one program, since compiling takes the time."""
    places = tuple(i for i, x in enumerate(row.operands) if x.varies)
    is_compared = bool(gradients) and not row.not_jax_gradient

    def program(*operands):
        values = leaves(row.theirs(*operands))
        loss = loss_of(jnp, row.theirs, weights)
        return values, jax.grad(loss, argnums=places)(*operands) if is_compared else ()

    values, slopes = jax.jit(program)(*map(jnp.asarray, operands))
    for got, want in zip(results, values, strict=True):
        same(got, want, f"{text}: value")
    for got, want in zip(gradients if is_compared else (), slopes, strict=True):
        same(got, np.conj(want), f"{text}: gradient", 1e-8)


def compare_with_differences(row, loss, operands, directions, gradients, text):
    """Along one direction of the operands' own kind."""
    moving = [v for v, x in zip(directions, row.operands, strict=True) if x.varies]
    slope = sum(np.vdot(g, v).real for g, v in zip(gradients, moving, strict=True))
    want = slope_by_differences(loss, operands, directions)
    assert abs(slope - want) <= 1e-6 * max(1.0, abs(want)), f"{text}: {slope}, differences {want}"


def test_every_function_has_a_row():
    parts = {part: getattr(tn, part).__all__ for part in ("linalg", "fft", "special")}
    names = {f"{part}.{name}" for part, found in parts.items() for name in found} | {"einsum"}
    assert names == {row.name for row in ROWS}


def test_every_exclusion_has_a_reason():
    for row in ROWS:
        for reason in (row.constant, row.not_jax, row.not_jax_gradient, row.not_differences):
            assert not reason or " " in reason
