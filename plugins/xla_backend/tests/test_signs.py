"""What cannot be negative takes cheaper lowerings."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import (
    concatenate,
    div,
    exp,
    integer_pow,
    maximum,
    mul,
    neg,
    reduce_sum,
    sqrt,
    square,
    variable,
)
from tenferro_xla._signs import nonnegative
from tenferro_xla.lowerings._numeric import LOG1P_IS_PRECISE

X, Z = variable("x", (3,), "f64"), variable("z", (3,), "c128")
SIGNS = [
    (exp(X), True),
    (mul(X, X), True),
    (square(X) + abs(X), True),
    (reduce_sum(square(X), (0,)), True),
    (integer_pow(X, -2), True),
    (maximum(exp(X), X), True),
    (concatenate([exp(X), sqrt(X)], 0), True),
    (neg(exp(X)), False),
    (mul(X, exp(X)), False),
    (exp(X) - exp(X), False),
    (div(exp(X), sqrt(X)), False),  # 1/-0.0
    (integer_pow(X, 3), False),
    (square(Z), False),
]


@pytest.mark.parametrize("value, expected", SIGNS, ids=range(len(SIGNS)))
def test_signs_follow_from_the_operations(programs, value, expected):
    program = programs.program([X, Z], [value])
    (result,) = program.outputs
    assert (result in nonnegative(program)) is expected


@pytest.mark.parametrize(
    "operand, corrected",
    [(np.square, False), (np.exp, False), (np.sin, not LOG1P_IS_PRECISE)],
)
def test_log1p_of_what_cannot_be_negative_is_xlas_own(operand, corrected):
    """XLA's function alone is fused into sums."""
    f = tn.jit(lambda x: np.sum(np.log1p(operand(x))), backend="xla")
    assert ("compare(" in f.explain(tn.Aval((64,), "f64"))) is corrected


def test_log1p_in_a_loop_is_xlas_own_too():
    def loop(x):
        return tn.scan(lambda c, _: (np.log1p(c * c), None), x, None, 5)[0]

    found = tn.jit(loop, backend="xla")
    assert "f64[64]{0} compare(" not in found.explain(tn.Aval((64,), "f64"))
    x = np.linspace(-3, 3, 64)
    want = x
    for _ in range(5):
        want = np.log1p(want * want)
    np.testing.assert_allclose(found(x), want, rtol=1e-14)
