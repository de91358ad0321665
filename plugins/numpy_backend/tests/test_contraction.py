"""`dot_general` against `np.einsum` over every arrangement of axes."""

import string

import numpy as np
import pytest

from tenferro import primitives as tp

DIMENSIONS = [
    # lhs shape, rhs shape, lhs contract, rhs contract, lhs batch, rhs batch
    ((), (), (), (), (), ()),
    ((), (3,), (), (), (), ()),
    ((2, 3), (), (), (), (), ()),
    ((3,), (3,), (0,), (0,), (), ()),
    ((2, 3), (3,), (1,), (0,), (), ()),
    ((3,), (3, 4), (0,), (0,), (), ()),
    ((2, 3), (3, 4), (1,), (0,), (), ()),
    ((3, 2), (3, 4), (0,), (0,), (), ()),
    ((2, 3), (4, 3), (1,), (1,), (), ()),
    ((3, 2), (4, 3), (0,), (1,), (), ()),
    ((2,), (3,), (), (), (), ()),
    ((2, 3), (4,), (), (), (), ()),
    ((2, 3, 4), (4, 5), (2,), (0,), (), ()),
    ((2, 3, 4), (3, 5), (1,), (0,), (), ()),
    ((2, 3, 4), (4, 2, 5), (0, 2), (1, 0), (), ()),
    ((2, 3, 4), (5, 4, 3), (2, 1), (1, 2), (), ()),
    ((2, 3, 4), (2, 3, 4), (0, 1, 2), (0, 1, 2), (), ()),
    ((5, 2, 3), (5, 3, 4), (2,), (1,), (0,), (0,)),
    ((2, 5, 3), (3, 4, 5), (2,), (0,), (1,), (2,)),
    ((2, 3, 5), (4, 3, 5), (1,), (1,), (2,), (2,)),
    ((5, 3), (5, 3), (1,), (1,), (0,), (0,)),
    ((5, 3), (5, 3, 2), (1,), (1,), (0,), (0,)),
    ((5, 6, 2, 3), (6, 5, 3, 4), (3,), (2,), (0, 1), (1, 0)),
    ((5, 2), (5, 3), (), (), (0,), (0,)),
    ((5,), (5,), (), (), (0,), (0,)),
    ((2, 0), (0, 3), (1,), (0,), (), ()),
    ((0, 3), (3, 2), (1,), (0,), (), ()),
    ((0, 2, 3), (0, 3, 2), (2,), (1,), (0,), (0,)),
    ((4, 2, 0), (4, 0, 3), (2,), (1,), (0,), (0,)),
    ((1, 1), (1, 1), (1,), (0,), (), ()),
    ((6, 20, 30), (6, 30, 20), (2,), (1,), (0,), (0,)),
    ((20, 30, 6), (6, 30, 20), (1,), (1,), (2,), (0,)),
    ((2, 3, 4), (2, 5), (0,), (0,), (), ()),  # from here on: copied by columns
    ((2, 3), (4, 2, 5), (0,), (1,), (), ()),
    ((3, 8, 2, 7), (3, 3, 2, 2), (0, 2), (0, 2), (), ()),
    ((7, 8, 3, 2), (7, 2, 5), (0, 3), (0, 1), (), ()),
    ((3, 4), (8, 3, 2, 4, 5), (0, 1), (1, 3), (), ()),
    ((3, 1, 2, 7), (3, 1, 2, 2), (0, 2), (0, 2), (), ()),
    ((3, 0, 2, 7), (3, 3, 2, 2), (0, 2), (0, 2), (), ()),
    ((3, 80, 2, 70), (2, 3, 90), (0, 2), (1, 0), (), ()),
]


def einsum(lhs, rhs, lhs_contract, rhs_contract, lhs_batch, rhs_batch):
    letters = iter(string.ascii_letters)
    left, right = [""] * lhs.ndim, [""] * rhs.ndim
    for i, j in (
        *zip(lhs_batch, rhs_batch, strict=True),
        *zip(lhs_contract, rhs_contract, strict=True),
    ):
        left[i] = right[j] = next(letters)
    batch = [left[i] for i in lhs_batch]
    rows = [i for i, letter in enumerate(left) if not letter]
    columns = [j for j, letter in enumerate(right) if not letter]
    for names, axes in ((left, rows), (right, columns)):
        for axis in axes:
            names[axis] = next(letters)
    out = batch + [left[i] for i in rows] + [right[j] for j in columns]
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", lhs, rhs)


def numbers(shape, dtype, start):
    count = int(np.prod(shape))
    x = ((np.arange(count) * 7 + start) % 11 - 5).reshape(shape)
    if dtype == "bool":
        return x > 2
    return (x * (1 + 0.5j) if dtype.startswith("c") else x).astype(dtype)


@pytest.mark.parametrize("dimensions", DIMENSIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int8", "int64"])
def test_every_arrangement(check, dimensions, dtype):
    """dot_general is the sum over the contracted axes, whatever their places"""
    lhs_shape, rhs_shape, *axes = dimensions
    lhs, rhs = numbers(lhs_shape, dtype, 0), numbers(rhs_shape, dtype, 3)
    expected = np.asarray(einsum(lhs, rhs, *axes)).astype(dtype)
    check(lambda x, y: tp.dot_general(x, y, *axes), [lhs, rhs], expected, rtol=1e-5, atol=1e-5)


def test_the_lowering_of_bool_says_where_any_pair_was_true(backend):
    lhs, rhs = numbers((20, 30), "bool", 0), numbers((30, 10), "bool", 3)
    op = tp.DotGeneral((1,), (0,), (), ())
    result = backend.lowerings.lookup(op)(op, lhs, rhs)
    np.testing.assert_array_equal(result, lhs @ rhs)
    assert result.dtype == bool


@pytest.mark.parametrize("source, target", [("int8", "int32"), ("float32", "float64")])
def test_preferred_dtype(check, source, target):
    """Products of the preferred dtype do not wrap in that of the operands"""
    lhs, rhs = np.full((2, 3), 100, source), np.full((3, 2), 100, source)
    expected = np.full((2, 2), 30000, target)
    dims = ((1,), (0,))
    check(lambda x, y: tp.dot_general(x, y, *dims, preferred=target), [lhs, rhs], expected)


def test_nothing_is_conjugated(check):
    z = np.array([1j, 2.0])
    check(lambda x, y: tp.dot_general(x, y, (0,), (0,)), [z, z], np.complex128(3))


def test_same_operand_twice(check):
    x = np.arange(6.0).reshape(2, 3)
    check(lambda x: tp.dot_general(x, x, (1,), (1,)), [x], x @ x.T)


def test_stacks_are_not_copied_where_strides_allow(backend, program):
    """Batch axes in the middle: the plan names views and one matmul."""
    lhs, rhs = np.ones((20, 6, 30)), np.ones((30, 6, 20))
    made = program(lambda x, y: tp.dot_general(x, y, (2,), (0,), (1,), (1,)), lhs, rhs)
    (line,) = backend.compile(made, made.input_avals).plan.lines
    assert ".transpose(" in line.expression.template
    assert ".reshape(" not in line.expression.template


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
@pytest.mark.parametrize("transposed", [False, True])
def test_large_products_of_every_layout(backend, program, dtype, transposed):
    """BLAS reads rows or columns that lie close; whatever lies otherwise is copied first."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 9, size=(90, 90)).astype(dtype) for _ in range(2))
    axes = ((0,), (1,)) if transposed else ((1,), (0,))
    made = program(lambda x, y: tp.dot_general(x, y, *axes), x, y)
    run = backend.compile(made, made.input_avals)
    expected = x.T @ y.T if transposed else x @ y
    layouts = (
        np.ascontiguousarray,
        np.asfortranarray,
        lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
        lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    )
    for left in layouts:
        for right in layouts:
            np.testing.assert_array_equal(run(left(x), right(y))[0], expected)
