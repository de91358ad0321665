"""Comparison, selection, complex parts, constants."""

import operator
from functools import partial

import numpy as np
import pytest

from tenferro import primitives as tp

ORDERED = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("dtype", ["bool", "int32", "float64"])
@pytest.mark.parametrize("shape", [(), (4,)])
def test_comparison(check, name, dtype, shape):
    """Comparisons are Python's"""
    count = int(np.prod(shape))
    x = np.array([0, 1, 1, 0])[:count].reshape(shape).astype(dtype)
    y = np.array([0, 0, 1, 1])[:count].reshape(shape).astype(dtype)
    check(getattr(tp, name), [x, y], getattr(operator, name)(x, y))


def test_comparison_with_nan(check):
    nan = np.array([np.nan, 1.0])
    check(
        lambda x: (tp.eq(x, x), tp.ne(x, x), tp.le(x, x)),
        [nan],
        (nan == nan, nan != nan, nan <= nan),
    )


@pytest.mark.parametrize("shape", [(), (2, 2)])
def test_logic(check, shape):
    """and, or, xor and not of all pairs of bools"""
    p = np.array([True, True, False, False])[: int(np.prod(shape))].reshape(shape)
    q = np.array([True, False, True, False])[: int(np.prod(shape))].reshape(shape)
    check(
        lambda p, q: (
            tp.logical_and(p, q),
            tp.logical_or(p, q),
            tp.logical_xor(p, q),
            tp.logical_not(p),
        ),
        [p, q],
        (p & q, p | q, p ^ q, ~p),
    )


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_select(check, dtype, shape):
    """select(p, x, y) = x where p, else y"""
    pred = np.array([True, False, True])[: int(np.prod(shape))].reshape(shape)
    x, y = np.ones(shape, dtype), np.zeros(shape, dtype)
    check(tp.select, [pred, x, y], np.where(pred, x, y))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_parts(check, dtype, shape):
    """re z, im z, conj z, and z put together of its parts"""
    z = np.array([1 + 2j, -3 - 0.5j], dtype)[: int(np.prod(shape))].reshape(shape)
    check(lambda z: (tp.real(z), tp.imag(z), tp.conj(z)), [z], (z.real, z.imag, z.conj()))
    check(lambda z: tp.complex(tp.real(z), tp.imag(z)), [z], z)


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_an_imaginary_part_of_zeros_keeps_its_sign(run, zero, dtype, shape):
    """z = x + 0i is a conversion, z = x - 0i is not"""
    x = np.array([1.5, -0.0], dtype)[: int(np.prod(shape))].reshape(shape)
    expected = np.full(shape, complex(0.0, zero), np.result_type(dtype, "complex64"))
    expected.real = x
    (found,) = run(lambda x: tp.complex(x, tp.constant(zero, dtype, shape)), x)
    assert found.tobytes() == expected.tobytes()


def test_the_transpose_of_a_real_part_is_a_conversion(program, backend):
    """ct_z = ct + 0i"""
    made = program(lambda x: tp.complex(x, tp.constant(0.0, "float64", (2,))), np.ones(2))
    assert "{0}.astype({p0})" in {
        line.expression.template for line in backend.compile(made, made.input_avals).plan.lines
    }


def test_complex_is_not_computed_by_a_product(check):
    inf = np.array([np.inf])
    (expected,) = [np.empty(1, "complex128")]
    expected.real, expected.imag = 1.0, np.inf
    check(tp.complex, [np.ones(1), inf], expected)


@pytest.mark.parametrize(
    "value, dtype",
    [
        (True, "bool"),
        (-3, "int8"),
        (2, "float32"),
        (0.1, "float64"),
        (1 - 2j, "complex64"),
        (2**63, "uint64"),
    ],
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (300, 300)])
def test_constant(check, value, dtype, shape):
    """A constant fills its shape, in its dtype"""
    check(lambda: tp.constant(value, dtype, shape), [], np.full(shape, value, dtype))


ALIKE = [  # they compare equal, and have other bits
    (0.0, "float64"),
    (-0.0, "float64"),
    (0.0, "float32"),
    (0, "int64"),
    (False, "bool"),
    (0j, "complex128"),
    (complex(0.0, -0.0), "complex128"),
]


@pytest.mark.parametrize("shape", [(), (3,)])
def test_constants_that_programs_share_keep_their_bits(backend, program, shape):
    for value, dtype in (*ALIKE, *ALIKE):
        (result,) = backend.compile(program(partial(tp.constant, value, dtype, shape)), ())()
        assert result.dtype == dtype
        assert result.tobytes() == np.full(shape, value, dtype).tobytes()
        result[...] = 1  # it belongs to who called


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_iota(check, dtype):
    """iota counts along its axis"""
    expected = np.broadcast_to(np.arange(3).astype(dtype)[:, None], (3, 4))
    check(lambda: tp.iota((3, 4), 0, dtype), [], expected)
    check(lambda: tp.iota((0, 2), 0, dtype), [], np.empty((0, 2), dtype))


def test_large_literals_take_no_memory(backend, program):
    made = program(lambda x: x * tp.constant(2.0, "float64", (1000, 1000)), np.ones((1000, 1000)))
    plan = backend.compile(made, made.input_avals).plan
    assert sum(literal.nbytes for literal in plan.literals) == 8


def test_masks_of_literals_are_literals(backend, program, checks):
    """Triangles are compared of positions once, whatever reads them."""
    shape = (3, 4)

    def function(x):
        lower = tp.ge(tp.iota(shape, 0, "int64"), tp.iota(shape, 1, "int64"))
        first = tp.eq(tp.iota(shape, 1, "int64"), tp.constant(0, "int64", shape))
        both = tp.logical_and(lower, tp.logical_not(first))
        return tp.select(both, x, tp.constant(0.0, "float64", shape)), lower, tp.lt(x, x)

    x = np.arange(12.0).reshape(shape)
    made = program(function, x)
    executable = backend.compile(made, made.input_avals)
    names = [made.instructions[line.position].operation.name for line in executable.plan.lines]
    assert sorted(names) == ["logical_and", "logical_not", "lt", "select"]
    for _ in range(2):
        results = executable(x)
        checks.assert_detached(results, [x])
        lower = np.tri(*shape, dtype=bool)
        np.testing.assert_array_equal(results[0], np.where(lower & (np.arange(4) > 0), x, 0))
        np.testing.assert_array_equal(results[1], lower)
        results[1][...] = False
