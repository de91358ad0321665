"""Simplification at emission: what it removes, and what it must leave alone."""

import pytest
from vocabulary import emitted, jvp, ones, var, vjp, zeros

from tenferro import primitives as p

X, Z, N = var((2, 3)), var((2, 3), "c128"), var((2, 3), "i64")


def like(x, value):
    return p.constant(value, x.dtype, x.shape)


REMOVED = [
    ("--x", lambda: p.neg(p.neg(X)), X),
    ("x·1", lambda: X * 1, X),
    ("1·x", lambda: 1 * X, X),
    ("n·1", lambda: N * 1, N),
    ("x/1", lambda: X / 1, X),
    ("x^1", lambda: p.pow(X, like(X, 1)), X),
    ("x¹", lambda: p.integer_pow(X, 1), X),
    ("n+0", lambda: N + 0, N),
    ("n-0", lambda: N - 0, N),
    ("x-0", lambda: X - 0.0, X),
    ("x+(-0)", lambda: X + (-0.0), X),
    ("conj x", lambda: p.conj(X), X),
    ("real x", lambda: p.real(X), X),
    ("conj conj z", lambda: p.conj(p.conj(Z)), Z),
    ("reshape", lambda: p.reshape(X, (2, 3)), X),
    ("reshape back", lambda: p.reshape(p.reshape(X, (6,)), (2, 3)), X),
    ("transpose", lambda: p.transpose(X, (0, 1)), X),
    ("transpose back", lambda: p.transpose(p.transpose(X, (1, 0)), (1, 0)), X),
    ("broadcast", lambda: p.broadcast_in_dim(X, (2, 3), (0, 1)), X),
    ("slice", lambda: p.slice(X, (0, 0), (2, 3)), X),
    ("pad", lambda: p.pad(X, 0, (0, 0), (0, 0), (0, 0)), X),
    ("concatenate", lambda: p.concatenate([X], 1), X),
    ("reverse", lambda: p.reverse(X, ()), X),
    ("convert", lambda: p.convert(X, "f64"), X),
    ("sum over ()", lambda: p.reduce_sum(X, ()), X),
    ("max over ()", lambda: p.reduce_max(X, ()), X),
    ("stop_gradient of integers", lambda: p.stop_gradient(N), N),
    ("select", lambda: p.select(var((2, 3), "bool"), X, X), X),
    ("zeros reshaped", lambda: p.reshape(zeros(X), (6,)), p.constant(0, "f64", (6,))),
    (
        "zeros repeated",
        lambda: p.broadcast_in_dim(p.constant(0, "f64"), (2,), ()),
        p.constant(0, "f64", (2,)),
    ),
    ("x⁰", lambda: p.integer_pow(X, 0), p.constant(1, "f64", (2, 3))),
]
LEFT = [
    ("x+0 turns -0 into 0", lambda: X + 0.0, p.Add),
    ("0-x is not -x at 0", lambda: 0.0 - X, p.Sub),
    ("x-(-0)", lambda: X - (-0.0), p.Sub),
    ("x·0 is nan at inf", lambda: X * 0, p.Mul),
    ("z·1 is nan at inf", lambda: Z * 1, p.Mul),
    ("z+0", lambda: Z + 0, p.Add),
    ("x·True is no product", lambda: p.neg(X), p.Neg),
]


@pytest.mark.parametrize("make, left", [r[1:] for r in REMOVED], ids=[r[0] for r in REMOVED])
def test_removed(make, left):
    """An operation without effect is its operand"""
    assert make().key is left.key


@pytest.mark.parametrize("make, cls", [r[1:] for r in LEFT], ids=[r[0] for r in LEFT])
def test_left_alone(make, cls):
    """A simplification keeps every bit of the value"""
    assert cls in emitted(make())


def test_transposes_compose():
    """transpose(transpose(x, p), q) = transpose(x, p∘q)"""
    x = var((2, 3, 4))
    twice = p.transpose(p.transpose(x, (1, 2, 0)), (1, 0, 2))
    assert twice.key is p.transpose(x, (2, 1, 0)).key


FOLDED = [
    # shapes and permutations of both operands, then contracted and batch axes of both
    ("xᵀ y", (2, 3), (1, 0), (2, 4), (0, 1), (1,), (0,), (), ()),
    ("x yᵀ", (3, 2), (0, 1), (4, 2), (1, 0), (1,), (0,), (), ()),
    ("a batch axis", (2, 5, 3), (1, 0, 2), (4, 5, 3), (1, 0, 2), (2,), (2,), (0,), (0,)),
]
MOVED = ("free axes change places", (2, 3, 4), (1, 0, 2), (4, 5), (0, 1), (2,), (0,), (), ())


def contraction(left, p_left, right, p_right, *axes):
    x, y = p.transpose(var(left), p_left), p.transpose(var(right), p_right)
    return p.dot_general(x, y, *axes)


@pytest.mark.parametrize("row", FOLDED, ids=lambda row: row[0])
def test_a_transposed_operand_of_a_contraction_is_read_as_it_was(row):
    assert emitted(contraction(*row[1:])) == {p.DotGeneral}


def test_a_transpose_that_orders_the_result_stays():
    assert p.Transpose in emitted(contraction(*MOVED[1:]))


def test_a_folded_contraction_is_still_checked():
    x = p.transpose(var((2, 3)), (1, 0))
    with pytest.raises(p.ShapeMismatchError) as raised:
        p.dot_general(x, var((3, 4)), (1,), (0,))
    assert raised.value.shapes == ((3, 2), (3, 4))


def test_stop_gradient_twice_is_once():
    once = p.stop_gradient(X)
    assert p.stop_gradient(once).key is once.key


def test_constants_compare_by_dtype_and_bytes():
    """1, 1.0 and True; 0.0 and -0.0; equal nans"""
    made = [p.constant(v, d) for v, d in ((1, "i64"), (1.0, "f64"), (True, "bool"), (1, "f32"))]
    assert len({x.key for x in made}) == 4
    assert p.constant(0.0, "f64").key is not p.constant(-0.0, "f64").key
    assert p.constant(float("nan"), "f64").key is p.constant(float("nan"), "f64").key
    assert p.constant(1, "f64").key is p.constant(1.0, "float64").key


@pytest.mark.parametrize("seed", [ones, zeros])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: p.mul(x, p.sin(x)),
        lambda x: p.maximum(x, zeros(x)),
        lambda x: p.reshape(p.broadcast_in_dim(x, (4, 2, 3), (1, 2)), (24,)),
        lambda x: p.sub(p.neg(x), x),
    ],
)
def test_flow_through_a_constant_is_not_cut(f, seed):
    """A tangent that happens to be the constant 1 or 0 is still a tangent"""
    y = f(X)
    assert jvp(y, X, seed(X)) is not None
    assert vjp(y, X, seed(y)) is not None
