"""Reads at computed positions, run on the CPU, give what the lowerings on NumPy give."""

import kernel_cases
import numpy as np
import pytest
import read_cases as cases
from kernel_on_numpy import read
from on_cpu import compiler

from tenferro import primitives as tp
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.reads.table import READS, read_of
from tenferro_cupy.kernels.region import Region
from tenferro_cupy.kernels.source import body_text

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")
DTYPES = tuple(d for d in kernel_cases.DTYPES if d != "float64")
WAYS = {
    "as they are": lambda a: a,
    "transposed": cases.transposed,
    "backwards": cases.backwards,
}


@pytest.fixture(scope="module")
def modules(stand_in):
    return Modules(stand_in.Fake())


def region(modules, op, arrays, axes=None):
    kernel, sized = cases.kernel_of(op, arrays, axes is not None)
    return Region(modules, kernel, cases.result_of(op, arrays).shape, axes, (), [sized]), sized


def with_dtype(row, dtype):
    """The row with floating arrays of another dtype; positions stay what they are."""
    return row[0], *[a.astype(dtype) if a.dtype == "float64" else a for a in row[1:]]


def of_every_dtype(name):
    taken = [d for d in DTYPES if d != "bool" or type(cases.ROWS[name][0]) is not tp.ScatterAdd]
    return [with_dtype(cases.ROWS[name], dtype) for dtype in taken]


def axes_of(op, arrays):
    shape = cases.result_of(op, arrays).shape
    return [None, *[(d,) for d in range(len(shape))], *[(*range(len(shape)),)][: len(shape) > 1]]


@pytest.fixture(scope="module", autouse=True)
def together(modules):
    """Compile the kernels of all rows in one program."""
    rows = [(row, axes) for row in cases.ROWS.values() for axes in axes_of(row[0], row[1:])]
    rows += [(row, None) for name in cases.TYPICAL for row in of_every_dtype(name)]
    texts = []
    for (op, *arrays), axes in rows:
        made, _ = region(modules, op, arrays, axes)
        texts.append(body_text(made.kernel, made.layout_for(list(map(np.asarray, arrays)))[0]))
    compiler.compiled(dict.fromkeys(texts))


def check(modules, op, arrays, axes, changed=lambda a: a):
    arrays = [changed(np.asarray(a)) for a in arrays]
    made, sized = region(modules, op, arrays, axes)
    want = read(sized, arrays)
    want = want if want.dtype == bool else want + want
    got, *sums = [y._a for y in made(*map(modules.cupy.wrap, arrays))]
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    if sums:
        np.testing.assert_array_equal(sums[0], np.sum(want, axes))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", cases.ROWS)
def test_a_read_gives_what_the_lowering_gives(modules, name, way):
    """y = 2 read(x), with any strides of the arrays"""
    op, *arrays = cases.ROWS[name]
    check(modules, op, arrays, None, WAYS[way])


@pytest.mark.parametrize("name", cases.ROWS)
def test_a_reduction_of_a_read(modules, name):
    """Σ 2 read(x) over any axis, and over all"""
    op, *arrays = cases.ROWS[name]
    for axes in axes_of(op, arrays)[1:]:
        check(modules, op, arrays, axes)


@pytest.mark.parametrize("name", cases.TYPICAL)
def test_every_dtype(modules, name):
    """Kernels of indexed reads are right in every dtype"""
    for op, *arrays in of_every_dtype(name):
        check(modules, op, arrays, None)


def test_updates_of_one_place_are_added_in_their_order(modules):
    """((0 + 10^16) + 1) - 10^16 = 0 and then + 1, in floats; another order gives 2 or 0"""
    updates = np.array([[1e16], [1.0], [-1e16], [1.0]])
    op = cases.scatter(tp.ScatterAdd, "clip")
    arrays = [np.zeros((2, 1)), np.zeros((4, 1), "int64"), updates]
    (got,) = region(modules, op, arrays)[0](*map(modules.cupy.wrap, arrays))
    assert got._a.tolist() == [[2.0], [0.0]]  # 2 y, as in all kernels here


def test_every_primitive_with_a_read_has_a_row():
    assert {type(op) for op, *_ in cases.ROWS.values()} == set(READS)


def test_reads_of_two_kinds_differ():
    """A kernel is found by its structure, so records of two kinds are not equal"""
    number, value = cases.x(), cases.x(seed=1)
    rows = [
        (tp.Pad((), (), ()), number, value),
        (tp.DynamicSlice(()), number),
        (tp.DynamicUpdateSlice(), number, value),
    ]
    assert len({cases.kernel_of(op, arrays)[0] for op, *arrays in rows}) == len(rows)


def test_an_offset_beyond_32_bits(modules):
    """A row 2^31 + 40 places away is read, by an index of 64 bits"""
    far = (1 << 31) + 40
    rows = np.lib.stride_tricks.as_strided(np.empty(far + 1, "int8"), (2, 1), (far, 1))
    rows[:, 0] = 3, 5
    op, index = tp.Gather((1,), (0,), (0,), (1, 1), "clip"), np.array([[1], [0], [7]])
    made, _ = region(modules, op, [rows, index])
    assert made.layout_for([rows, index])[0].integer == "i64"
    (got,) = made(modules.cupy.wrap(rows), modules.cupy.wrap(index))
    assert got._a.tolist() == [[10], [6], [10]]


@pytest.mark.parametrize(
    "op, shapes",
    [
        (tp.Concatenate(0), [(2,)] * 9),
        (tp.ScatterAdd((), (0,), (0,), "clip"), [(3,), (513, 1), (513,)]),
        (tp.ScatterAdd((), (0,), (0,), "clip"), [(1 << 14,), (512, 1), (512,)]),
    ],
)
def test_what_would_visit_too_much_is_left_to_cupy(op, shapes):
    dtypes = ("float64", "int64" if len(shapes) == 3 else "float64", *["float64"] * 7)
    avals = [tp.Aval(s, d) for s, d in zip(shapes, dtypes, strict=False)]
    assert read_of(op, avals, op.abstract_eval(*avals)) is None
