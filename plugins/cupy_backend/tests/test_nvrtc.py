"""Generated kernels compile for real architectures: all operations, dtypes and layouts."""

import functools

import kernel_cases as cases
import nvrtc
import pytest
import read_cases

from tenferro_cupy.kernels.chain_source import Looped, chain_text, link_parameters
from tenferro_cupy.kernels.element_loop_source import (
    ElementCall,
    ElementSteps,
    Output,
    element_loop_text,
)
from tenferro_cupy.kernels.kernel import Fold, Kernel, Line
from tenferro_cupy.kernels.layout import layout_of
from tenferro_cupy.kernels.source import body_text, kernel_name, translation_unit

pytestmark = pytest.mark.skipif(
    nvrtc.library() is None, reason="pip install nvidia-cuda-nvrtc: the compiler is not here"
)
TYPICAL = ("int64", "float16", "float32")
LAYOUTS = [
    ((5000,), None, [(1,), (1,)]),
    ((50, 100), None, [(1, 50), (0, 1)]),
    ((5000,), (0,), [(1,), (1,)]),
    ((50, 100), (1,), [(100, 1), (1, 0)]),
    ((50, 100), (0,), [(100, 1), (100, 1)]),
    ((50, 1 << 31), None, [(1 << 31, 1), (0, 1)]),
]


def operations(dtypes):
    """The kernels of all operations on these dtypes."""
    for dtype in dtypes:
        for case in cases.operations(dtype):
            kernel = cases.kernel_of(*case)
            yield kernel, layout_of((5000,), None, [(1,)] * len(kernel.operands), 8, True, 1)[0]


def reductions(dtypes):
    """All reductions in all layouts, of a sum that is an output as well."""
    for dtype in dtypes:
        folds = [cases.FOLDS[primitive][0] for primitive in cases.folds(dtype)]
        name = "bit_xor({0}, {1})" if dtype == "bool" else "add({0}, {1})"
        kernel = Kernel((dtype, dtype), (), (Line(name, (0, 1), dtype),), (2,))
        for shape, axes, strides in LAYOUTS:
            ends = () if axes is None else tuple(Fold(f, 2) for f in folds)
            layout = layout_of(shape, axes, strides, 8, True, 1)[0]
            yield kernel._replace(folds=ends), layout


def reads(names):
    """Reads at computed positions: a map, with 32 and 64 bits, and the sum over the first axis."""
    for name in names:
        op, *arrays = read_cases.ROWS[name]
        shape = read_cases.result_of(op, arrays).shape
        for axes, farthest in ((None, 99), (None, 1 << 32), ((0,), 99))[: 2 + len(shape)]:
            kernel, _ = read_cases.kernel_of(op, arrays, axes is not None)
            yield kernel, layout_of(shape, axes, [], 8, True, 1, farthest)[0]


def chains(dtypes):
    """A chain of all reductions for each dtype; one of reads."""
    for dtype in dtypes:
        yield tuple([pair for pair in reductions([dtype]) if pair[1].vector == 1])
    yield tuple(reads(read_cases.TYPICAL))


def looped(links):
    """A loop in which each pointer moves; the first link runs before it, where none does."""
    names = [link_parameters(*link) for link in links]
    moves = [tuple(["*" in p.type and i > 0 for p in found]) for i, found in enumerate(names)]
    return chain_text(links, Looped(1, tuple(moves)))


def element_loop(dtype, layout):
    """A loop that multiplies what it carries by an array and by a row, in one of the layouts."""
    times = Kernel((dtype, dtype), (), (Line("mul({0}, {1})", (0, 1), dtype),), (2,))
    calls = (ElementCall(times, (0, 1), (3,)), ElementCall(times, (3, 2), (4,)))
    last, stacks = (Output(0, False),), (Output(3, False), Output(1, True))
    steps = ElementSteps((dtype,), (dtype,), (dtype,), calls, (4,), last, stacks)
    shape, _, strides = layout
    return element_loop_text(steps, layout_of(shape, None, [*strides, strides[0]], 8, False, 1)[0])


@functools.cache
def program(dtypes):
    names = read_cases.TYPICAL if dtypes == TYPICAL else read_cases.ROWS
    made = [*operations(dtypes), *reductions(dtypes), *reads(names)]
    texts = dict([(kernel_name(*pair), body_text(*pair)) for pair in made])
    texts |= dict([chain_text(links) for links in chains(dtypes[:2])])
    maps = [layout for layout in LAYOUTS if layout[1] is None]
    numbers = [dtype for dtype in dtypes if dtype != "bool"]
    texts |= dict([element_loop(dtype, layout) for dtype in numbers for layout in maps])
    texts |= dict([looped(tuple(reads(read_cases.TYPICAL[:2])))])
    return translation_unit(*texts.values()), list(texts)


def check(dtypes, architecture):
    source, names = program(dtypes)
    image = nvrtc.cubin(source, architecture)
    assert image.startswith(b"\x7fELF")
    assert all(name.encode() in image for name in names)


def test_kernels_compile():
    """Every operation on typical dtypes, for the architecture of an H100"""
    check(TYPICAL, "sm_90")


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_100"])
def test_kernels_of_every_dtype_compile(architecture):
    check((*cases.DTYPES, "bfloat16"), architecture)
