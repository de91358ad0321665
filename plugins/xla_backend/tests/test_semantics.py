"""Conversion, moves, reductions, contraction and indexing against NumPy, on every dtype they have.

The conformance kit judges accuracy. Read next: `test_elementwise.py`, `as_users_compile/`.
"""

import re

import jax
import numpy as np
import pytest
from operands import ALL, COMPLEXES, INTEGERS, NARROW, NUMERIC, REAL, inf, nan, same, sample

import tenferro as tn
from tenferro.primitives import (
    STANDARD,
    Argmax,
    Argmin,
    Aval,
    BroadcastInDim,
    Concatenate,
    Constant,
    Convert,
    DotGeneral,
    DType,
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    Iota,
    Pad,
    ReduceMax,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Reshape,
    Reverse,
    ScatterAdd,
    Slice,
    Transpose,
    bind,
)


def test_every_standard_primitive_has_a_lowering_or_a_decomposition(xla):
    missing = [p.key for p in STANDARD if xla.lowerings.status(p) == "missing"]
    assert [key for key in missing if key != "std::pin"] == []


# ---- conversion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [*ALL, *NARROW[:6]])
def test_convert_as_numpy_does(programs, target):
    rows = [(sample(source, 7, low=0, high=100),) for source in ALL]
    results = programs.apply_to_each(Convert(DType.of(target)), rows)
    for (x,), found in zip(rows, results, strict=True):
        real_part = x.dtype.kind == "c" and target not in (*COMPLEXES, "bool")
        same(found, (x.real if real_part else x).astype(target))


def test_convert_truncates_wraps_and_saturates(programs):
    x = np.array([1.9, -1.9, -0.5, 2.5, nan, inf, -inf, 1e30])
    ends = np.iinfo(np.int32)
    want = np.array([1, -1, 0, 2, 0, ends.max, ends.min, ends.max], np.int32)
    same(programs.apply(Convert(DType.of("int32")), x), want)
    same(
        programs.apply(Convert(DType.of("bool")), x), np.array([1, 1, 1, 1, 1, 1, 1, 1], dtype=bool)
    )
    wide = np.array([2**31, -1, 2**40 + 5])
    same(programs.apply(Convert(DType.of("int32")), wide), wide.astype(np.int32))
    same(programs.apply(Convert(DType.of("uint8")), wide), wide.astype(np.uint8))
    z = np.array([0j, 1j, complex(nan, 0), 2 + 0j])
    same(programs.apply(Convert(DType.of("bool")), z), np.array([False, True, True, True]))


# ---- constants and moves -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)], ids=str)
def test_constants_keep_their_bits(programs, shape):
    values = [(-0.0, "float64"), (nan, "float32"), (True, "bool"), (2**63 - 1, "int64")]
    values += [
        (complex(-0.0, inf), "complex128"),
        (complex(1, -0.0), "complex64"),
        (0.1, "float32"),
        (255, "uint8"),
        (2**64 - 1, "uint64"),
    ]
    results = programs.apply_all([(Constant(v, DType.of(d), shape),) for v, d in values])
    for (value, dtype), found in zip(values, results, strict=True):
        want = np.full(shape, value, dtype)
        same(found, want)
        if want.dtype.kind in "fc":
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(want.real))
            np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(want.imag))


def test_iota(programs):
    """iota counts along its axis"""
    programs.expect([(Iota((2, 3), 1, DType.of(d)), np.array([[0, 1, 2]] * 2, d)) for d in NUMERIC])


MOVES = [
    (Reshape((3, 2)), lambda x: x.reshape(3, 2)),
    (Reshape((6, 1)), lambda x: x.reshape(6, 1)),
    (Transpose((1, 0)), np.transpose),
    (BroadcastInDim((2, 4, 3), (0, 2)), lambda x: np.repeat(x[:, None], 4, 1)),
    (Slice((0, 0), (2, 3), (1, 2)), lambda x: x[:, ::2]),
    (Slice((1, 1), (1, 3), (1, 1)), lambda x: x[1:1, 1:3]),
    (Reverse((1,)), lambda x: x[:, ::-1]),
    (Reverse((0, 1)), lambda x: x[::-1, ::-1]),
]


@pytest.mark.parametrize("op, numpy", [pytest.param(o, f, id=repr(o)) for o, f in MOVES])
def test_moves(programs, op, numpy):
    """Moves of elements are NumPy's in every dtype"""
    rows = [(sample(dtype, 2, 3),) for dtype in ALL]
    for (x,), found in zip(rows, programs.apply_to_each(op, rows), strict=True):
        same(found, numpy(x))


def test_pad_inside_outside_and_crop(programs):
    rows = []
    for dtype in ALL:
        x, value = sample(dtype, 3), np.ones((), dtype)
        one = value[()]
        a, b, c = x
        rows += [
            (Pad((1,), (2,), (1,)), x, value, np.array([one, a, one, b, one, c, one, one])),
            (Pad((-1,), (1,), (0,)), x, value, np.array([b, c, one])),
            (Pad((-2,), (0,), (1,)), x, value, np.array([b, one, c])),
            (Pad((), (), ()), value, value, value),
        ]
    programs.expect(rows)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_pad_with_much_between_elements(programs, n):
    """As in the derivative of a diagonal; alone and for rows of a matrix"""
    rows = []
    for dtype in ALL:
        x, value = sample(dtype, 2, n), np.ones((), dtype)
        want = np.full((2, 3 + n + max(n - 1, 0) * 9 + 2), value)
        want[:, 3 : 3 + n * 10 : 10] = x
        rows += [
            (Pad((0, 3), (0, 2), (0, 9)), x, value, want),
            (Pad((3,), (2,), (9,)), x[0], value, want[0]),
            (Pad((-1,), (2,), (9,)), x[0], value, want[0, 4:]),
        ]
    programs.expect(rows)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_pad_that_makes_a_diagonal(programs, n):
    """The elements of each row become the diagonal of a square matrix, read row by row"""
    rows = []
    for dtype in ALL:
        x, value = sample(dtype, 2, n), np.ones((), dtype)
        want = np.full((2, n, n), value)
        want[:, np.arange(n), np.arange(n)] = x
        want = want.reshape(2, n * n)
        rows.append((Pad((0, 0), (0, 0), (0, n)), x, value, want))
        rows.append((Pad((0,), (0,), (n,)), x[0], value, want[0]))
    programs.expect(rows)


def test_concatenate(programs):
    """Operands follow each other along an axis; one may be empty"""
    rows = []
    for dtype in ALL:
        xs = [sample(dtype, 2, n, seed=n) for n in (3, 0, 1)]
        rows.append((Concatenate(1), *xs, np.concatenate(xs, 1)))
        rows.append((Concatenate(0), xs[0], xs[0]))
    programs.expect(rows)


# ---- reduction and contraction -------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(), (0,), (0, 2), (0, 1, 2)], ids=str)
def test_sums_and_products_keep_their_dtype(programs, axes):
    rows = []
    for dtype in NUMERIC:
        x = sample(dtype, 2, 3, 2)
        rows.append((ReduceSum(axes), x, np.sum(x, axes, dtype=dtype)))
        rows.append((ReduceProd(axes), x, np.prod(x, axes, dtype=dtype)))
    programs.expect(rows)


def test_extrema_and_positions(programs):
    rows = []
    for dtype in (*REAL, "bool"):
        x = sample(dtype, 2, 3, 2)
        rows += [
            (ReduceMax((0, 2)), x, x.max((0, 2))),
            (ReduceMin((1,)), x, x.min(1)),
            (ReduceMax(()), x, x),
            (Argmax(1, DType.of("int64")), x, x.argmax(1)),
            (Argmin(2, DType.of("int32")), x, x.argmin(2).astype("int32")),
        ]
    programs.expect(rows)


def test_reductions_of_nothing(programs):
    rows = []
    for dtype in NUMERIC:
        x = np.zeros((0, 3), dtype)
        rows.append((ReduceSum((0,)), x, np.zeros(3, dtype)))
        rows.append((ReduceProd((0,)), x, np.ones(3, dtype)))
        if dtype in REAL:
            rows.append((ReduceMax((1,)), x, np.zeros(0, dtype)))
            rows.append((Argmax(1, DType.of("int64")), x, np.zeros(0, "int64")))
    programs.expect(rows)


def test_contractions(programs):
    """Contractions are NumPy's for every arrangement of axes, also of no elements"""
    batched = DotGeneral((2,), (0,), (0,), (1,))
    outer = DotGeneral((), (), (), ())
    empty = DotGeneral((1,), (0,), (), ())
    rows = []
    for dtype in NUMERIC:
        a, b = sample(dtype, 2, 3, 4), sample(dtype, 4, 2, 5, seed=1)
        rows += [
            (batched, a, b, np.einsum("bik,kbj->bij", a, b)),
            (DotGeneral((0, 2), (1, 0), (), ()), a, b, np.einsum("bik,kbj->ij", a, b)),
            (outer, a[0, 0], b[0, 0], np.outer(a[0, 0], b[0, 0])),
            (empty, a[0, :, :0], b[:0, 0], np.zeros((3, 5), dtype)),
        ]
    programs.expect(rows)


SEVERAL_AXES = {  # contracted and batch axes, and what einsum calls it
    "all that is free lies side by side": ((0,), (0,), (), (), "abcd,aefg->bcdefg"),
    "it lies apart": ((1,), (1,), (), (), "abcd,ebfg->acdefg"),
    "contracted side by side": ((1, 2), (1, 2), (), (), "abcd,ebcg->adeg"),
    "in another order": ((1, 2), (2, 1), (), (), "abcd,ecbg->adeg"),
    "side by side in one operand": ((0, 1), (0, 3), (), (), "abcd,aefb->cdef"),
    "everything is contracted": ((0, 1, 2, 3), (0, 1, 2, 3), (), (), "abcd,abcd->"),
    "a batch before free axes": ((3,), (3,), (0,), (0,), "abcd,aefd->abcef"),
    "a batch between them": ((), (), (1,), (1,), "abcd,ebfg->bacdefg"),
    "two batches and two contracted": ((2, 3), (2, 3), (0, 1), (0, 1), "abcd,abcd->ab"),
    "nothing is contracted": ((), (), (0, 1), (0, 1), "abcd,abef->abcdef"),
}


def of_pairs(operations):
    """One program of several operations, each of the next two operands."""

    def all_of_them(*xs):
        pairs = zip(operations, xs[::2], xs[1::2], strict=True)
        return [bind(operation, x, y) for operation, x, y in pairs]

    return all_of_them


@pytest.mark.parametrize("size", [2, 0], ids=["", "of nothing"])
@pytest.mark.parametrize("dtype", ["float64", "complex64", "int32"])
def test_contractions_with_several_axes_of_a_kind(programs, dtype, size):
    sizes = dict(zip("abcdefg", (2, 3, 4, 5, 2, 3, size), strict=True))
    operations, operands, want = [], [], []
    for *axes, words in SEVERAL_AXES.values():
        left, right = [[sizes[x] for x in part] for part in words.partition("->")[0].split(",")]
        a, b = sample(dtype, *left), sample(dtype, *right, seed=1)
        operations.append(DotGeneral(*axes))
        operands += [a, b]
        want.append(np.einsum(words, a, b))

    results = programs.run(of_pairs(operations), *operands)
    for found, expected in zip(results, want, strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_products_over_axes_that_lie_side_by_side_copy_no_operand(programs):
    """XLA for the CPU would bring the first operand into the order of a matrix"""
    sizes = Aval((40, 6, 7), "float64"), Aval((40, 5), "float64")
    text = programs.compile(
        lambda a, b: bind(DotGeneral((0,), (0,), (), ()), a, b), *sizes
    ).explain()
    assert "dot(" in text
    assert not re.search(r"f64\[[\d,]*\]\S* (transpose|copy)\(", text)


COLUMNS = {  # of a left operand: shapes, contracted and batch axes, and what einsum calls it
    "a matrix": ((48, 48), (48, 64), (0,), (0,), (), (), "ki,kj->ij"),
    "a stack": ((2, 48, 48), (2, 48, 64), (1,), (1,), (0,), (0,), "bki,bkj->bij"),
    "free axes apart": ((8, 48, 6), (48, 64), (1,), (0,), (), (), "akc,kj->acj"),
    "the batch last": ((48, 48, 2), (2, 48, 64), (0,), (1,), (2,), (0,), "kib,bkj->bij"),
    "larger than the product": ((96, 48), (96, 32), (0,), (0,), (), (), "ki,kj->ij"),
}


def test_large_matrices_of_columns_are_multiplied_in_rows(programs):
    """XLA for the CPU multiplies columns at half the speed; the last copy would be too large"""
    operations, operands, want = [], [], []
    for left, right, *axes, words in COLUMNS.values():
        a, b = sample("float64", *left), sample("float64", *right, seed=1)
        operations.append(DotGeneral(*axes))
        operands += [a, b]
        want.append(np.einsum(words, a, b))

    all_of_them = of_pairs(operations)
    for found, expected in zip(programs.run(all_of_them, *operands), want, strict=True):
        same(found, expected)
    text = programs.compile(all_of_them, *[Aval(x.shape, "float64") for x in operands]).explain()
    contracted = re.findall(r"lhs_contracting_dims=\{(\d)\}", text)
    assert sorted(contracted) == ["0", "1", "1", "2", "2"]


def test_contraction_is_in_full_precision(programs):
    rng = np.random.default_rng(0)
    a, b = rng.random((33, 65), np.float32), rng.random((65, 17), np.float32)
    exact = a.astype(float) @ b
    found = programs.apply(DotGeneral((1,), (0,), (), ()), a, b)
    assert np.max(np.abs(found - exact) / exact) < 65 * np.finfo(np.float32).eps / 8
    wide = programs.apply(DotGeneral((1,), (0,), (), (), DType.of("float64")), a, b)
    assert wide.dtype == np.float64
    np.testing.assert_allclose(wide, exact, rtol=1e-15 * 65)


@pytest.mark.parametrize("dtype", [*NUMERIC, "float16", "bfloat16"])
def test_contraction_asks_for_the_highest_precision(xla, dtype):
    """On a CPU nothing would show it; on a GPU float32 would be multiplied in 10 bits."""
    op = DotGeneral((1,), (0,), (), ())
    lower = xla.lowerings.lookup(op, [Aval((2, 2), dtype)] * 2)
    with jax.enable_x64(True):
        x = jax.numpy.ones((2, 2), dtype)
        (equation,) = jax.make_jaxpr(lambda a, b: lower(op, a, b))(x, x).eqns
    assert equation.params["precision"] == (jax.lax.Precision.HIGHEST,) * 2
    assert equation.params["preferred_element_type"] == dtype


# ---- indexing ------------------------------------------------------------------------------------


def rows(mode):
    return Gather((1,), (0,), (0,), (1, 3), mode)


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
def test_gather_modes(programs, index):
    """Windows outside are moved inside by "clip", and read as 0 by "fill"."""
    inside, outside = np.array([[2], [0], [2]], index), np.array([[3], [4], [200]], index)
    expected = []
    for dtype in ALL:
        x = sample(dtype, 4, 3, low=1, high=9)
        filled = x[[3, 3, 3]]
        filled[1:] = 0
        expected += [
            (rows("promise_in_bounds"), x, inside, x[[2, 0, 2]]),
            (rows("clip"), x, outside, x[[3, 3, 3]]),
            (rows("fill"), x, outside, filled),
        ]
    programs.expect(expected)


def test_gather_clips_and_fills_negative_positions(programs):
    x = sample("float64", 4, 3, low=1, high=9)
    below = np.array([[-1], [-9]])
    same(programs.apply(rows("clip"), x, below), x[[0, 0]])
    same(programs.apply(rows("fill"), x, below), np.zeros((2, 3)))
    partly = Gather((1, 2), (), (0,), (2, 3), "fill")
    same(programs.apply(partly, x, np.array([[3]])), np.zeros((1, 2, 3)))


def added(x, positions, u):
    result = x.copy()
    np.add.at(result, positions, u)
    return result


def test_scatter_add_modes(programs):
    inside, outside = np.array([[2], [0], [2]]), np.array([[-1], [3], [7]])
    expected = []
    for dtype in NUMERIC:
        x, u = sample(dtype, 4, 3), sample(dtype, 3, 3, seed=1)
        for mode in ("promise_in_bounds", "clip", "drop"):
            op = ScatterAdd((1,), (0,), (0,), mode)
            expected.append((op, x, inside, u, added(x, [2, 0, 2], u)))
            if mode == "clip":
                expected.append((op, x, outside, u, added(x, [0, 3, 3], u)))
            elif mode == "drop":
                expected.append((op, x, outside, u, added(x, [3], u[1:2])))
    programs.expect(expected)


def test_scatter_drops_a_window_that_is_partly_outside(programs):
    x, u = np.zeros(4), np.ones((2, 2))
    op = ScatterAdd((1,), (), (0,), "drop")
    same(programs.apply(op, x, np.array([[3], [1]]), u), np.array([0.0, 1, 1, 0]))


@pytest.mark.parametrize("index", INTEGERS)
def test_dynamic_slices_clamp_and_do_not_count_from_the_end(programs, index):
    expected = []
    for dtype in ALL:
        x, new = sample(dtype, 5), sample(dtype, 2, seed=1)
        for start, at in ((1, 1), (-2, 0), (4, 3), (99, 3)):
            position = np.array(start, index)
            changed = x.copy()
            changed[at : at + 2] = new
            expected.append((DynamicSlice((2,)), x, position, x[at : at + 2]))
            expected.append((DynamicUpdateSlice(), x, new, position, changed))
    programs.expect(expected)


def test_dynamic_slice_of_rank_0(programs):
    same(programs.apply(DynamicSlice(()), np.array(1.5)), np.array(1.5))
    same(programs.apply(DynamicUpdateSlice(), np.array(1.5), np.array(2.5)), np.array(2.5))


def test_a_loop_and_its_derivative_run_the_steps_once():
    """value and gradient: one loop forward, one backward"""

    def loss(x):
        return np.sum(tn.scan(lambda c, _: (c + 0.1 * np.sin(c), None), x, None, 300)[0])

    x = np.linspace(0.1, 1.0, 5_000)
    text = tn.jit(tn.value_and_grad(loss), backend="xla").explain(x)
    assert text.count(" while(") == 2
