"""Every covered function of NumPy gives NumPy's value, dtype and shape, by every way to call it."""

import cmath

import numpy as np
import pytest
from against_numpy import ALL, INEXACT, NUMERIC, ORDERED, REAL, SHAPES, agree, sample
from against_numpy import case as numpy_case

import tenferro as tn

UNARY = [  # name, dtypes, domain
    ("abs", ALL, (-2, 2)),
    ("absolute", NUMERIC, (-2, 2)),
    ("conj", NUMERIC, (-2, 2)),
    ("conjugate", NUMERIC, (-2, 2)),
    ("cos", ALL, (-2, 2)),
    ("exp", ALL, (-2, 2)),
    ("expm1", ALL, (-2, 2)),
    ("fabs", ORDERED, (-2, 2)),
    ("imag", ALL, (-2, 2)),
    ("isfinite", ALL, (-2, 2)),
    ("isinf", ALL, (-2, 2)),
    ("isnan", ALL, (-2, 2)),
    ("log", NUMERIC, (0.4, 3)),
    ("log1p", NUMERIC, (-0.4, 3)),
    ("logical_not", ALL, (-2, 2)),
    ("negative", NUMERIC, (-2, 2)),
    ("positive", NUMERIC, (-2, 2)),
    ("real", ALL, (-2, 2)),
    ("reciprocal", NUMERIC, (0.4, 3)),
    ("sign", NUMERIC, (-2, 2)),
    ("sin", ALL, (-2, 2)),
    ("sqrt", NUMERIC, (0, 3)),
    ("square", NUMERIC, (-2, 2)),
    ("tan", NUMERIC, (-1, 1)),
    ("tanh", ALL, (-2, 2)),
    ("invert", ("bool", "int32", "int64"), (-2, 2)),
    ("bitwise_not", ("bool", "int32", "int64"), (-2, 2)),
    ("bitwise_invert", ("bool", "int32", "int64"), (-2, 2)),
]
BINARY = [  # name, dtypes, domain of the second operand
    ("add", ALL, (-2, 2)),
    ("subtract", NUMERIC, (-2, 2)),
    ("multiply", ALL, (-2, 2)),
    ("divide", ALL, (0.4, 2)),
    ("true_divide", NUMERIC, (0.4, 2)),
    ("power", NUMERIC, (0, 2)),
    ("maximum", ORDERED, (-2, 2)),
    ("minimum", ORDERED, (-2, 2)),
    ("equal", ALL, (-2, 2)),
    ("not_equal", ALL, (-2, 2)),
    ("less", ORDERED, (-2, 2)),
    ("less_equal", ORDERED, (-2, 2)),
    ("greater", ORDERED, (-2, 2)),
    ("greater_equal", ORDERED, (-2, 2)),
    ("logical_and", ALL, (-2, 2)),
    ("logical_or", ALL, (-2, 2)),
    ("logical_xor", ALL, (-2, 2)),
    ("bitwise_and", ("bool",), (-2, 2)),
    ("bitwise_or", ("bool",), (-2, 2)),
    ("bitwise_xor", ("bool",), (-2, 2)),
]
REDUCTIONS = [
    ("sum", ALL),
    ("prod", ALL),
    ("mean", ALL),
    ("var", (*INEXACT, "int64")),
    ("std", (*INEXACT, "int64")),
    ("max", ORDERED),
    ("min", ORDERED),
    ("amax", ORDERED),
    ("amin", ORDERED),
    ("any", ALL),
    ("all", ALL),
]
AXES = [
    ((), {}),
    ((3,), {"axis": 0}),
    ((2, 3), {"axis": None}),
    ((2, 3), {"axis": 1}),
    ((2, 3), {"axis": -2, "keepdims": True}),
    ((2, 3), {"axis": ()}),
    ((2, 1, 3), {"axis": (0, -1)}),
    ((2, 1, 3), {"axis": (2, 0), "keepdims": True}),
    ((3, 0), {"axis": 0}),
]
PRODUCTS = [  # name, shapes
    ("matmul", (3,), (3,)),
    ("matmul", (2, 3), (3,)),
    ("matmul", (3,), (3, 2)),
    ("matmul", (2, 3), (3, 2)),
    ("matmul", (2, 0), (0, 3)),
    ("matmul", (4, 2, 3), (3, 2)),
    ("matmul", (2, 3), (4, 3, 2)),
    ("matmul", (3,), (4, 3, 2)),
    ("matmul", (4, 2, 3), (3,)),
    ("matmul", (5, 1, 2, 3), (4, 3, 2)),
    ("dot", (3,), (3,)),
    ("dot", (), (3,)),
    ("dot", (2, 3), (3,)),
    ("dot", (2, 3), (4, 3, 2)),
    ("inner", (2, 3), (4, 3)),
    ("inner", (2, 3), ()),
    ("outer", (2, 2), (3,)),
    ("outer", (), (3,)),
    ("vdot", (2, 3), (6,)),
    ("vdot", (0,), (0,)),
    ("tensordot", (2, 3, 4), (3, 4, 2)),
]


def case(name, *operands, **keywords):
    """np.name on Arrays, beside the same on NumPy arrays."""
    return numpy_case(getattr(np, name), *operands, **keywords)


@pytest.mark.parametrize("name, dtypes, domain", UNARY)
def test_a_function_of_one_array_is_numpys(name, dtypes, domain):
    agree([case(name, sample(d, s, *domain)) for d in dtypes for s in SHAPES])


@pytest.mark.parametrize("name, dtypes, domain", BINARY)
def test_a_function_of_two_arrays_is_numpys(name, dtypes, domain):
    shapes = [((3,), (3,)), ((2, 1), (3,)), ((), (2,)), ((), ()), ((0, 1), (2,))]
    agree([case(name, sample(d, a), sample(d, b, *domain, 1)) for d in dtypes for a, b in shapes])


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "maximum", "equal", "logical_and"])
def test_two_dtypes_promote_as_in_numpy(name):
    dtypes = ORDERED if name == "maximum" else ALL
    agree([case(name, sample(a), sample(b, low=1, high=3, seed=1)) for a in dtypes for b in dtypes])


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "power", "not_equal"])
@pytest.mark.parametrize("scalar", [True, 2, -2.0, 2.5, 1j])
def test_python_scalars_are_weak_as_in_numpy(name, scalar):
    known = [sample(d, low=0.4, high=3) for d in NUMERIC]
    agree([case(name, x, scalar) for x in known] + [case(name, scalar, x) for x in known])


@pytest.mark.parametrize("name, dtypes", REDUCTIONS)
def test_a_reduction_is_numpys(name, dtypes):
    agree([case(name, sample(d, s), **axes) for d in dtypes for s, axes in AXES])


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize(
    "keywords", [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True}], ids=str
)
def test_positions_are_numpys_and_the_first_wins(name, keywords):
    tied = [np.array([[1, 3, 3], [3, 1, 1]], d) for d in ORDERED]
    agree([case(name, x, **keywords) for x in [*tied, np.array([[1, np.nan, np.nan]])]])


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_a_reduction_in_a_dtype_is_numpys(name):
    agree(
        [
            case(name, sample("int32", (2, 3)), dtype="float32"),
            case(name, sample("float32", (2, 3)), axis=1, dtype=np.float64),
            case(name, sample("float64", (2, 3)), 0, np.float32),
        ]
    )


def test_the_mean_of_half_floats_does_not_overflow():
    agree([case("mean", np.full((70000,), 2, "float16"))])


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("ddof", [1, 0.5, 3, 4])
def test_degrees_of_freedom_are_taken_off(name, ddof):
    agree([case(name, sample(d, (2, 3)), axis=1, ddof=ddof) for d in INEXACT])


@pytest.mark.parametrize("name, a, b", PRODUCTS)
def test_a_product_is_numpys(name, a, b):
    agree([case(name, sample(d, a), sample(d, b, seed=1)) for d in NUMERIC])


@pytest.mark.parametrize(
    "axes", [0, 1, 2, ([1], [0]), ((0, 1), (1, 0)), (-1, 0), ([0, 1], [1, 0])], ids=str
)
def test_tensordot_pairs_axes_as_numpy(axes):
    agree([case("tensordot", sample(d, (3, 3)), sample(d, (3, 3), seed=1), axes) for d in REAL])


@pytest.mark.parametrize(
    "name, dtypes",
    [row[:2] for row in [*UNARY, *BINARY, *REDUCTIONS] if hasattr(tn, row[0])],
)
def test_numpys_function_and_tenferros_give_one_value(name, dtypes):
    x = tn.asarray(sample(dtypes[0]))
    operands = (x, x) if name in {row[0] for row in BINARY} else (x,)
    assert getattr(tn, name)(*operands).key is getattr(np, name)(*operands).key


MASK = np.array([True, False, True])


@pytest.mark.parametrize("jit", [False, True])
def test_booleans_are_the_positions_0_and_1_where_numpy_has_positions(jit):
    """take(x, mask) = take(x, int(mask)); x[mask] selects"""
    take = tn.jit(tn.take) if jit else tn.take
    x = np.array([5.0, 6.0, 7.0])
    np.testing.assert_array_equal(take(tn.asarray(x), tn.asarray(MASK)), np.take(x, MASK))
    target, wanted = tn.asarray(x), x.copy()
    tn.put(target, MASK, [1.0, 2.0, 3.0])
    np.put(wanted, MASK, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(target, wanted)


@pytest.mark.parametrize("indices", [MASK, np.array([0.0, 1.0, 2.0])], ids=["bool", "float"])
@pytest.mark.parametrize(
    "function",
    [lambda x, at: tn.take_along_axis(x, at, 0), lambda x, at: tn.put_along_axis(x, at, 9.0, 0)],
    ids=["take_along_axis", "put_along_axis"],
)
def test_positions_along_an_axis_are_integers(function, indices):
    with pytest.raises(tn.IndexKindError, match="indices are not integers") as caught:
        function(tn.asarray([5.0, 6.0, 7.0]), indices)
    assert (caught.value.index.dtype, caught.value.shape) == (indices.dtype.name, (3,))


@pytest.mark.parametrize("ends", [(-7.0, 2.0), (7.0, 3.0), (0.1 + 0.2, 9.0)])
def test_geomspace_starts_and_ends_as_asked(ends):
    """geomspace(a, b) = a, …, b exactly, also where what lies between is not a number"""
    found = np.asarray(tn.geomspace(*ends, 5))
    assert (found[0], found[-1]) == ends


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("other", [0, 1, 2, 6, -3, 64])
def test_the_divisor_of_the_least_integer_is_positive(dtype, other):
    """gcd(-2^n, b) = gcd(2^n, b), and the least integer where that does not fit"""
    least, b = np.array(np.iinfo(dtype).min, dtype), np.array(other, dtype)
    for x, y in ((least, b), (b, least), (least, least)):
        assert np.asarray(np.gcd(tn.asarray(x), y)) == np.gcd(x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_spacing_of_zero_is_positive(dtype):
    """spacing(±0) ≥ 0, spacing(-x) = -spacing(x) otherwise"""
    zeros = np.array([0.0, -0.0, 1.0, -1.0], dtype)
    got = np.asarray(np.spacing(tn.asarray(zeros)))
    np.testing.assert_array_equal(got[2:], np.spacing(zeros[2:]))
    assert not np.signbit(got[:2]).any()
    assert np.all(got[:2] <= np.spacing(zeros[:2]))  # 0 on devices without subnormal numbers


SIDES = [complex(x, y) for x in (0.0, -0.0, 0.5, -0.5, 2.0, -2.0) for y in (0.0, -0.0, 0.5, -2.0)]
COMPLEX = "acos acosh asin asinh atan atanh cos cosh exp sin sinh sqrt tan tanh".split()


@pytest.mark.parametrize("name", COMPLEX)
def test_zero_parts_of_complex_numbers_have_the_signs_of_c(name):
    """f(z) and the sign of each zero part, which selects the side of the next branch cut"""
    got = np.asarray(getattr(tn, name)(tn.asarray(np.array(SIDES))))
    want = np.array([getattr(cmath, name)(z) for z in SIDES])
    np.testing.assert_allclose(got, want, rtol=1e-14)
    for part in (np.real, np.imag):
        np.testing.assert_array_equal(np.signbit(part(got)), np.signbit(part(want)))


@pytest.mark.parametrize("name", ["atan", "atanh"])
@pytest.mark.parametrize("y", [0.0, -0.0])
def test_arc_tangents_far_out_on_their_cuts(name, y):
    """±½π + 0i from the side that the sign of the zero tells"""
    z = complex(1e300, y) if name == "atanh" else complex(y, 1e300)
    assert complex(getattr(tn, name)(z)) == pytest.approx(getattr(cmath, name)(z), rel=1e-15)
