"""Broadcasts that are expanded before their readers give what NumPy's own broadcasting gives."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp

# (shape, axes of it that the operand has): rows and columns, short and long, and several of each
CASES = [
    ((5, 5), (0,)), ((5, 5), (1,)), ((40, 3), (0,)), ((40, 3), (1,)), ((3, 40), (0,)),
    ((3, 40), (1,)), ((3, 300), (1,)), ((2000, 2), (1,)), ((4, 5, 6), (0, 2)), ((4, 5, 6), (1,)),
    ((30, 30, 2), (0, 1)), ((30, 30, 2), (2,)), ((1, 6), (1,)), ((6, 1), (0,)), ((4, 0), (0,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("readers", [1, 2])
@pytest.mark.parametrize("shape, axes", CASES)
def test_an_operand_is_expanded_to_the_same_bits(check, shape, axes, readers, dtype):
    """One reader and two, which read it expanded; the operand and its readers are results, too"""
    x = (np.arange(np.prod(shape)) % 13 - 6).reshape(shape).astype(dtype)
    y = np.arange(1, 1 + np.prod([shape[d] for d in axes])).astype(dtype)
    y = y.reshape([shape[d] for d in axes])
    whole = y.reshape([n if d in axes else 1 for d, n in enumerate(shape)])

    def function(x, y):
        expanded = tp.broadcast_in_dim(y, shape, axes)
        return x + expanded if readers == 1 else (x + expanded) * (expanded - x)

    expected = x + whole if readers == 1 else (x + whole) * (whole - x)
    check(function, [x, y], expected)


@pytest.mark.parametrize("shape, axes", CASES)
def test_two_operands_are_expanded_next_to_each_other(check, shape, axes):
    others = tuple(d for d in range(len(shape)) if d not in axes)
    a = np.linspace(1.0, 2.0, int(np.prod([shape[d] for d in axes])))
    b = np.linspace(3.0, 4.0, int(np.prod([shape[d] for d in others])))
    a, b = a.reshape([shape[d] for d in axes]), b.reshape([shape[d] for d in others])

    def function(a, b):
        return tp.broadcast_in_dim(a, shape, axes) * tp.broadcast_in_dim(b, shape, others)

    outer = a.reshape([n if d in axes else 1 for d, n in enumerate(shape)]) * b.reshape(
        [n if d in others else 1 for d, n in enumerate(shape)]
    )
    check(function, [a, b], outer)


def squares(x, y):
    return np.square(x[:, None] - y)


@pytest.mark.parametrize("rows, columns", [(60, 100), (1, 60), (60, 1), (1, 1)])
def test_differences_of_rows_and_columns_have_the_bits_of_numpy(rows, columns):
    x, y = np.linspace(0.0, 1.0, rows), np.linspace(2.0, 4.0, columns)
    compiled = tn.jit(squares, backend="numpy", options={"executor": "source"})
    np.testing.assert_array_equal(compiled(x, y), squares(x, y))


def test_a_row_and_a_column_are_left_to_the_ufunc_that_reads_both():
    """A view of x, the difference, the square: no copy of x or y with 60 × 100 elements"""
    compiled = tn.jit(squares, backend="numpy", options={"executor": "source"})
    source = compiled.explain(np.ones(60), np.ones(100)).partition("def make")[2]
    assert source.count(" = ") == 3
