"""Generated kernels, run on the CPU, give what NumPy gives."""

import functools

import kernel_cases as cases
import numpy as np
import pytest
from on_cpu import compiler

from tenferro import primitives as tp
from tenferro.backend import LoweringTable
from tenferro_cupy.kernels.layout import layout_of
from tenferro_cupy.kernels.source import body_text, kernel_name
from tenferro_cupy.lowerings import lowerings

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

#: the others are in the tier `deep`
TYPICAL = ("bool", "int32", "uint8", "float16", "float32", "float64", "complex64")


@functools.cache
def library(dtype):
    """The kernels of all operations on a dtype, compiled together."""
    made = [(c, cases.kernel_of(*c)) for c in cases.operations(dtype)]
    layouts = [
        layout_of((cases.COUNT,), None, [(1,)] * len(k.operands), _widest(k), True, 1)[0]
        for _, k in made
    ]
    texts = [body_text(k, layout) for (_, k), layout in zip(made, layouts, strict=True)]
    functions = compiler.compiled(tuple(dict.fromkeys(texts)))
    names = [kernel_name(k, layout) for (_, k), layout in zip(made, layouts, strict=True)]
    return [(*c, functions[name]) for (c, _), name in zip(made, names, strict=True)]


def _widest(kernel):
    return max(np.dtype(d).itemsize for d in (*kernel.operands, kernel.dtype(len(kernel.operands))))


@functools.cache
def table(stand_in):
    fake = stand_in.Fake()
    return fake, LoweringTable("cupy", lowerings(fake, *stand_in.cupyx))


def expected(stand_in, op, arrays):
    """What the lowering gives that the kernel replaces."""
    fake, lowered = table(stand_in)
    if op == tp.Conj() and arrays[0].dtype.kind != "c":
        return arrays[0]
    operands = [fake.asarray(x) for x in arrays]
    avals = [tp.Aval(x.shape, x.dtype.name) for x in arrays]
    with np.errstate(all="ignore"):
        return lowered.lookup(op, avals)(op, *operands)._a


class Address:
    """An array as a kernel takes it."""

    def __init__(self, array):
        self.data, self.array = type("Pointer", (), {"ptr": array.ctypes.data}), array


def aligned(array):
    """A copy that begins at a multiple of 16 bytes."""
    memory = np.empty(array.nbytes + 16, "uint8")
    start = -memory.ctypes.data % 16
    made = memory[start : start + array.nbytes].view(array.dtype)
    made[...] = array
    return made


def computed(function, result, arrays):
    """Run a map over all elements."""
    arrays = [aligned(x) for x in arrays]
    out = aligned(np.zeros(cases.COUNT, result.dtype.name))
    function((3, 1), (64,), [*map(Address, [*arrays, out]), np.int32(cases.COUNT)])
    return out


def check(stand_in, dtype):
    wrong = []
    for op, operands, result, function in library(dtype):
        arrays = [cases.numbers(a.dtype.name, i) for i, a in enumerate(operands)]
        arrays = cases.defined(op, result, arrays)
        want, got = expected(stand_in, op, arrays), computed(function, result, arrays)
        assert want.dtype == got.dtype, op
        if not cases.agree(got, want, dtype, type(op)):
            i = np.flatnonzero((got != want) & ~(np.isnan(got) & np.isnan(want)))[:3]
            wrong.append((str(op), dtype, [x[i] for x in arrays], got[i], want[i]))
    assert not wrong, wrong


@pytest.mark.parametrize("dtype", TYPICAL)
def test_operations(stand_in, dtype):
    """kernel(x) = f(x)"""
    check(stand_in, dtype)


@pytest.mark.parametrize("dtype", [d for d in cases.DTYPES if d not in TYPICAL])
def test_operations_on_the_other_dtypes(stand_in, dtype):
    """kernel(x) = f(x)"""
    check(stand_in, dtype)


def brain(x):
    """The nearest bfloat16, ties to even: found among the neighbours of the number cut off."""
    x = np.asarray(x, "float64")
    with np.errstate(all="ignore"):
        cut = (x.astype("float32").view("uint32") >> 16).astype("uint32")
        choices = np.stack([cut - 1, cut, cut + 1]).astype("uint32")
        values = (choices << 16).view("float32").astype("float64")
        distance = abs(values - x) + np.where(choices & 1, 1e-9 * abs(values), 0)  # even wins a tie
        even = np.where(np.isnan(values), np.inf, distance)
    return np.take_along_axis(choices, even.argmin(0)[None], 0)[0].astype("uint16")


def floats(bits):
    return (bits.astype("uint32") << 16).view("float32")


def test_bfloat16_is_computed_in_float_and_rounded_once():
    """x ∘ y for the dtype that NumPy lacks; 1 + 2^-9 is a tie, and rounds to 1"""
    rows = [
        (tp.Add(), 2, np.add),
        (tp.Mul(), 2, np.multiply),
        (tp.Exp(), 1, np.exp),
        (tp.Convert("float32"), 1, np.float32),
    ]
    x = tp.Aval((cases.COUNT,), "bfloat16")
    made = [cases.kernel_of(op, (x,) * n, op.abstract_eval(*[x] * n)) for op, n, _ in rows]
    layout = layout_of((cases.COUNT,), None, [(1,)], 4, True, 1)[0]
    layouts = [layout._replace(access=("linear",) * (n + 1)) for _, n, _ in rows]
    found = compiler.compiled([body_text(*pair) for pair in zip(made, layouts, strict=True)])
    bits = brain(np.random.default_rng(0).normal(size=(2, cases.COUNT)))
    bits[:, :3] = brain([[1.0, 256.0, 3.0], [2.0**-8, 1.0, -2.0]])
    for (_, n, function), kernel, where in zip(rows, made, layouts, strict=True):
        out = "uint32" if kernel.dtype(n) == "float32" else "uint16"
        got = aligned(np.zeros(cases.COUNT, out))
        given = [Address(aligned(x)) for x in (*bits[:n],)]
        found[kernel_name(kernel, where)](
            (1, 1), (64,), [*given, Address(got), np.int32(cases.COUNT)]
        )
        with np.errstate(all="ignore"):
            want = function(*[floats(x) for x in bits[:n]])
        if out == "uint32":
            np.testing.assert_array_equal(got.view("float32"), want)
        else:
            np.testing.assert_array_equal(got, brain(want))


def test_wide_numbers_become_bfloat16_with_one_rounding():
    """1 + 2^-8 + 2^-40 lies above a tie, which rounding to float first would not see"""
    numbers = np.array(
        [1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8, 1 + 3 * 2.0**-8 - 2.0**-40, 1e39, -1e-3]
    )
    op, x = tp.Convert("bfloat16"), tp.Aval((5,), "float64")
    kernel = cases.kernel_of(op, (x,), op.abstract_eval(x))
    layout = layout_of((5,), None, [(1,)], 8, True, 1)[0]
    function = compiler.compiled([body_text(kernel, layout)])[kernel_name(kernel, layout)]
    got = np.zeros(5, "uint16")
    function((1, 1), (64,), [Address(numbers), Address(got), np.int32(5)])
    assert got.tolist() == [0x3F81, 0x3F80, 0x3F81, 0x7F80, 0xBA83]
