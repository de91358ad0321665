"""Regions over any shape, strides and axes give what NumPy gives: kernels run on the CPU."""

import functools

import kernel_cases as cases
import numpy as np
import pytest
from on_cpu import compiler

from tenferro import primitives as tp
from tenferro_cupy.kernels.expressions import FOLDS
from tenferro_cupy.kernels.kernel import Fold, Kernel, Line
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Region
from tenferro_cupy.kernels.source import body_text

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")


@pytest.fixture(scope="module")
def modules(stand_in):
    return Modules(stand_in.Fake())


def numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def transposed(shape):
    return numbers(shape[::-1]).T


def every_other(shape):
    return numbers([2 * n for n in shape])[tuple([slice(None, None, 2)] * len(shape))]


def backwards(shape):
    return numbers(shape)[tuple([slice(None, None, -1)] * len(shape))]


def of_first_axis(shape):
    return np.broadcast_to(numbers((shape[0], *[1] * (len(shape) - 1))), shape)


def of_last_axis(shape):
    return np.broadcast_to(numbers(shape[-1:]), shape)


def of_one(shape):
    return np.broadcast_to(numbers(()), shape)


SHAPES = {
    (): (None, ()),
    (1,): (None, (0,)),
    (0,): (None, (0,)),
    (3, 0): (None, (0,), (1,), (0, 1)),
    (1031,): (None, (0,)),
    (9001,): (None, (0,)),  # several blocks share the sum, the last pack is short
    (13, 17): (None, (0,), (1,), (0, 1)),
    (3, 9000): (None, (1,)),
    (9000, 3): (None, (0,)),
    (5, 6, 7): (None, (1,), (0, 2), (0, 1, 2)),
    (4, 1, 5, 3): ((1,), (0, 3)),
}
OPERANDS = (numbers, transposed, every_other, backwards, of_first_axis, of_last_axis, of_one)
ROWS = [(shape, axes) for shape, every in SHAPES.items() for axes in every]

#: y = a b + 2.5, and of each reduction one that depends on the order, and one that does not
PRODUCT = Kernel(
    ("float64", "float64"),
    ("float64",),
    (Line("mul({0}, {1})", (0, 1), "float64"), Line("add({0}, {1})", (3, 2), "float64")),
    (4,),
)
REDUCED = PRODUCT._replace(folds=(Fold("sum", 4), Fold("largest", 3)))


@functools.cache
def pairs(shape):
    """Operands of all kinds, each beside a contiguous one."""
    kinds = OPERANDS if shape else (numbers, of_one)
    return [(numbers(shape, 1), kind(shape)) for kind in kinds]


def region(modules, shape, axes):
    kernel = PRODUCT if axes is None else REDUCED
    return Region(modules, kernel, shape, axes, [np.float64(2.5)])


@pytest.fixture(scope="module", autouse=True)
def together(modules):
    """Compile the kernels of all rows in one program."""
    texts = []
    for shape, axes in ROWS:
        made = region(modules, shape, axes)
        for arrays in pairs(shape):
            strides = [tuple(s // 8 for s in x.strides) for x in arrays]
            texts += [body_text(made.kernel, made.layout(strides, a)[0]) for a in (True, False)]
    compiler.compiled(dict.fromkeys(texts))


@pytest.mark.parametrize("shape, axes", ROWS, ids=str)
def test_any_strides(modules, shape, axes):
    """y = a b + k, Σ y and max a b, whatever the operands' strides"""
    made = region(modules, shape, axes)
    for a, b in pairs(shape):
        if axes is not None and 0 in [shape[i] for i in axes]:
            made.kernel = REDUCED._replace(
                folds=REDUCED.folds[:1]
            )  # of nothing there is no maximum
        out, *reduced = [x._a for x in made(modules.cupy.wrap(a), modules.cupy.wrap(b))]
        np.testing.assert_array_equal(out, a * b + 2.5)
        if reduced:
            np.testing.assert_allclose(reduced[0], np.sum(out, axes), rtol=1e-12, atol=1e-12)
        if reduced[1:]:
            np.testing.assert_array_equal(reduced[1], np.max(a * b, axes))


def test_a_sum_is_the_same_bits_again(modules):
    """Blocks that share a sum add their parts in one order"""
    made = region(modules, (9001,), (0,))
    a, b = [modules.cupy.wrap(numbers((9001,), i)) for i in (1, 2)]
    first, second = made(a, b), made(a, b)
    assert first[1]._a.tobytes() == second[1]._a.tobytes()


def test_more_parts_than_lanes(modules):
    """The last block adds up every part, however many blocks shared a result"""
    x = np.arange(210_000).reshape(70_000, 3)
    made = Region(modules, cases.fold_of(tp.ReduceSum, "int64"), x.shape, (0,), ())
    sizes = made.layout([(3, 1)])[1]
    assert sizes.parts > sizes.lanes
    assert made(modules.cupy.wrap(x))[0]._a.tolist() == x.sum(0).tolist()


def test_offsets_beyond_32_bits(modules):
    """An element 2^31 + 40 places away is read, by an index of 64 bits"""
    far = (1 << 31) + 40
    x = np.empty(far + 1, "int8")[::far]  # memory that nothing touches is not there
    x[:] = 3, 5
    kernel = Kernel(("int8",), (), (Line("neg({0})", (0,), "int8"),), (1,), ())
    made = Region(modules, kernel, (2,), None, ())
    assert made.layout([(far,)])[0].integer == "i64"
    assert made(modules.cupy.wrap(x))[0]._a.tolist() == [-3, -5]
    summed = Region(modules, kernel._replace(folds=(Fold("sum", 1),)), (2,), (0,), ())
    assert summed(modules.cupy.wrap(x))[1]._a.tolist() == -8


REFERENCE = {
    tp.ReduceSum: np.sum,
    tp.ReduceProd: np.prod,
    tp.ReduceMax: np.max,
    tp.ReduceMin: np.min,
    tp.ReduceAnd: np.all,
    tp.ReduceOr: np.any,
}


@functools.cache
def folds(modules, shape, axes):
    """The regions of one reduction of one operand, compiled together."""
    made = [
        (primitive, dtype, Region(modules, cases.fold_of(primitive, dtype), shape, axes, ()))
        for dtype in cases.DTYPES
        for primitive in cases.folds(dtype)
    ]
    strides = [tuple(s // 8 for s in np.empty(shape).strides)]
    compiler.compiled([body_text(r.kernel, r.layout(strides)[0]) for _, _, r in made])
    return made


@pytest.mark.parametrize("shape, axes", [((2, 1500), (1,)), ((130, 4), (0,))], ids=str)
def test_reductions_of_every_dtype(modules, shape, axes):
    """The dtype stays; a NaN is the maximum and the minimum; narrow floats are summed in float"""
    for primitive, dtype, made in folds(modules, shape, axes):
        x = cases.numbers(dtype, 5, int(np.prod(shape))).reshape(shape)
        if primitive in (tp.ReduceSum, tp.ReduceProd) and x.dtype.kind == "f":
            x = np.nan_to_num(x, posinf=1, neginf=1).clip(-2, 2)
        if primitive is tp.ReduceProd:
            x[:, 50:] = 1 if axes == (1,) else x[:, 50:]
            x[50:] = 1 if axes == (0,) else x[50:]
        (got,) = [y._a for y in made(modules.cupy.wrap(x))]
        assert got.dtype == x.dtype, (primitive, dtype)
        wide = x.astype("float64") if x.dtype.itemsize == 2 and x.dtype.kind == "f" else x
        with np.errstate(all="ignore"):
            want = REFERENCE[primitive](wide, axes).astype(dtype)
        if x.dtype.kind in "fc" and primitive not in (tp.ReduceMax, tp.ReduceMin):
            close = {"float16": 3e-3, "float32": 3e-4, "complex64": 3e-4}.get(dtype, 1e-11)
            np.testing.assert_allclose(got, want, rtol=close, atol=close * np.abs(x).sum() * 1e-2)
        else:
            np.testing.assert_array_equal(got, want, str((primitive, dtype)))


def test_every_reduction_has_a_reference():
    assert set(REFERENCE) == set(FOLDS)


@pytest.mark.parametrize("shape, axes", [((9001,), None), ((9001,), (0,)), ((13, 17), (0,))])
@pytest.mark.parametrize("other", [numbers, transposed, of_last_axis])
def test_an_output_in_the_memory_of_an_operand(shape, axes, other, modules):
    """Each thread reads an element before it writes there"""
    kernel = PRODUCT if axes is None else REDUCED
    arrays = [numbers(shape), other(shape)]
    given = [modules.cupy.wrap(x.copy() if i == 0 else x) for i, x in enumerate(arrays)]
    region = Region(modules, kernel, shape, axes, (np.float64(2.5),))
    want = [np.array(x._a) for x in region(*given)]
    got = region(*given, into={0: given[0]})
    assert got[0] is given[0]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a._a, b)
