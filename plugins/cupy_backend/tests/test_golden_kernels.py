"""The texts of kernels, as they were read and approved.

`python tests/test_golden_kernels.py` in the folder of this distribution writes them again.
"""

from pathlib import Path

import pytest
import read_cases

from tenferro_cupy.kernels.chain_source import Looped, chain_text
from tenferro_cupy.kernels.element_loop_source import (
    ElementCall,
    ElementSteps,
    Output,
    element_loop_text,
)
from tenferro_cupy.kernels.kernel import Fold, Kernel, Line
from tenferro_cupy.kernels.layout import layout_of
from tenferro_cupy.kernels.source import body_text

GOLDEN = Path(__file__).with_name("golden")
F32, F64, BOOL, C64 = "float32", "float64", "bool", "complex64"

#: tanh(2 a) where b > 0, else b
CHOICE = Kernel(
    (F32, F32),
    (F32, F32),
    (
        Line("mul({0}, {1})", (0, 2), F32),
        Line("tanh({0})", (4,), F32),
        Line("gt({0}, {1})", (1, 3), BOOL),
        Line("select({0}, {1}, {2})", (6, 5, 1), F32),
    ),
    (7,),
)
#: x e^-x, of which the sum and the maximum are taken as well
MOMENTS = Kernel(
    (F64,),
    (),
    (
        Line("neg({0})", (0,), F64),
        Line("exp({0})", (1,), F64),
        Line("mul({0}, {1})", (0, 2), F64),
    ),
    (3,),
    (Fold("sum", 3), Fold("largest", 3)),
)
ENERGY = Kernel(
    (C64,),
    (),
    (Line("abs({0})", (0,), F32), Line("square({0})", (1,), F32)),
    (),
    (Fold("sum", 2),),
)

KERNELS = {
    "map of contiguous arrays": (CHOICE, (4096,), None, [(1,), (1,)]),
    "map with a transposed and a broadcast operand": (CHOICE, (40, 30), None, [(1, 40), (0, 1)]),
    "map with 64-bit indices": (CHOICE, (1 << 31, 3), None, [(3, 1), (3, 1)]),
    "reduction to one number": (MOMENTS, (4096,), (0,), [(1,)]),
    "reduction of rows": (MOMENTS, (8, 9, 100), (2,), [(900, 100, 1)]),
    "reduction of columns": (ENERGY, (1000, 7), (0,), [(7, 1)]),
}


#: reads at computed positions: kernels of rows of `read_cases`
READS = {
    "a concatenation": "join two",
    "a padding": "pad between",
    "a replaced block": "replace a block",
    "a gather that fills": "rows by fill",
    "a scattered sum": "add columns of a table",
}
for _name, _row in READS.items():
    _op, *_arrays = read_cases.ROWS[_row]
    _kernel = read_cases.kernel_of(_op, _arrays)[0]
    KERNELS[_name] = (_kernel, read_cases.result_of(_op, _arrays).shape, None, [])


def text_of(name):
    kernel, shape, axes, strides = KERNELS[name]
    widest = 8 if kernel is MOMENTS else 4
    farthest = 99 if kernel.reads else None
    layout, sizes = layout_of(shape, axes, strides, widest, True, len(kernel.outputs), farthest)
    return f"// {name}\n// {layout}\n// {sizes}\n{body_text(kernel, layout)}"


def file_of(name):
    return GOLDEN / f"{name.replace(' ', '_')}.cu"


def text_of_chain(looped=None):
    """The sums of a x over the rows, and then x times them; a loop may repeat it."""
    times = Line("mul({0}, {1})", (0, 1), F64)
    sums = Kernel((F64, F64), (), (times,), (), (Fold("sum", 2),))
    product = Kernel((F64, F64), (), (times,), (2,))
    links = (
        (sums, layout_of((8, 50), (1,), [(50, 1), (50, 1)], 8, False, 0)[0]),
        (product, layout_of((8, 50), None, [(50, 1), (1, 0)], 8, False, 1)[0]),
    )
    return chain_text(links, looped)[1]


#: the product is written into another row by each step
LOOPED = Looped(1, ((False,) * 10, (False, False, True, *[False] * 4)))
CHAINS = {"a chain": None, "a loop": LOOPED}


#: carried are a number, a state and the state before; the rate is of the columns, a row is stacked
STEP = Kernel((F32, F32), (), (Line("mul({0}, {1})", (0, 1), F32),), (2,))
COUNT = Kernel((F64,), (F64,), (Line("add({0}, {1})", (0, 1), F64),), (2,))
CALLS = (ElementCall(STEP, (0, 2), (5,)), ElementCall(STEP, (5, 4), (6,)))
STEPS = ElementSteps(
    consts=(F32,),
    carried=(F64, F32, F32),
    rows=(F32,),
    calls=(*CALLS, ElementCall(COUNT, (1,), (7,))),
    next=(7, 6, 2),
    last=(Output(0, True), Output(1, False), Output(2, False)),
    stacks=(Output(5, False), Output(1, True)),
)


def text_of_element_loop():
    strides = [(0, 1), (0, 0), (70, 1), (1, 50), (70, 1)]
    layout, sizes = layout_of((50, 70), None, strides, 8, False, 1)
    return f"// an element loop\n// {layout}\n// {sizes}\n{element_loop_text(STEPS, layout)[1]}"


@pytest.mark.parametrize("name", KERNELS)
def test_the_text_is_the_approved_one(name):
    assert text_of(name) == file_of(name).read_text("utf-8")


@pytest.mark.parametrize("name", CHAINS)
def test_the_text_of_a_chain_is_the_approved_one(name):
    assert text_of_chain(CHAINS[name]) == file_of(name).read_text("utf-8")


def test_the_text_of_an_element_loop_is_the_approved_one():
    assert text_of_element_loop() == file_of("an element loop").read_text("utf-8")


if __name__ == "__main__":
    for name in KERNELS:
        file_of(name).write_text(text_of(name), "utf-8")
    file_of("an element loop").write_text(text_of_element_loop(), "utf-8")
    for name, looped in CHAINS.items():
        file_of(name).write_text(text_of_chain(looped), "utf-8")
