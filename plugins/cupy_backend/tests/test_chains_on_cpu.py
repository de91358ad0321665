"""Chains, run on the CPU, give what their regions give one by one."""

import kernel_cases
import numpy as np
import pytest
from on_cpu import compiler

from tenferro_cupy.kernels.chain import Chain, Member
from tenferro_cupy.kernels.chain_source import chain_text
from tenferro_cupy.kernels.kernel import Fold, Kernel, Line
from tenferro_cupy.kernels.modules import Modules
from tenferro_cupy.kernels.region import Region

pytestmark = pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")

#: y = a b + 2.5, and of each reduction one that depends on the order, and one that does not
PRODUCT = Kernel(
    ("float64", "float64"),
    ("float64",),
    (Line("mul({0}, {1})", (0, 1), "float64"), Line("add({0}, {1})", (3, 2), "float64")),
    (4,),
)
SUMS = PRODUCT._replace(folds=(Fold("sum", 4), Fold("largest", 3)))
ROWS = [
    ((), None),
    ((0, 3), None),
    ((), ()),
    ((1,), (0,)),
    ((1031,), None),
    ((1031,), (0,)),
    ((13, 17), None),
    ((5, 6, 7), None),
    ((13, 17), (0,)),
    ((13, 17), (1,)),
    ((13, 17), (0, 1)),
    ((3, 700), (1,)),
    ((700, 3), (0,)),
    ((600, 2), (1,)),  # more rows than groups of lanes
    ((2, 600), (0,)),
    ((5, 6, 7), (1,)),
    ((5, 6, 7), (0, 2)),
]
KINDS = {
    "contiguous": lambda shape: np.random.default_rng(2).normal(size=shape),
    "transposed": lambda shape: np.random.default_rng(2).normal(size=shape[::-1]).T,
    "one number": lambda shape: np.broadcast_to(np.float64(1.5), shape),
}


@pytest.fixture(scope="module")
def modules(stand_in):
    return Modules(stand_in.Fake())


def chain(modules, shape, axes):
    """(a b + k, Σ, max), then the same of the first result and a view of it."""
    kernel = PRODUCT if axes is None else SUMS
    first = Region(modules, kernel, shape, axes, [np.float64(2.5)])
    turned = shape[::-1]
    second = Region(modules, kernel, turned, axes, [np.float64(-1.0)])
    kept = (2, 3, 4)[: 1 + len(kernel.folds)]
    again = (6, 7, 8)[: 1 + len(kernel.folds)]
    members = [
        Member(first, (0, 1), kept),
        Member(lambda y: [modules.cupy.transpose(y)], (2,), (5,)),
        Member(second, (5, 5), again),
    ]
    return Chain(modules, members, (0, 1), (*kept, *again))


def texts(modules, shape, axes):
    made = chain(modules, shape, axes)
    for kind in KINDS.values():
        a, b = KINDS["contiguous"](shape), kind(shape)
        y = np.transpose(np.zeros(shape))
        links = [made.regions[0].link([a, b]), made.regions[1].link([y, y])]
        yield chain_text(tuple([(link.kernel, link.layout) for link in links]))[1]


@pytest.fixture(scope="module", autouse=True)
def together(modules):
    """Compile all chains in one program."""
    compiler.compiled(dict.fromkeys(t for row in ROWS for t in texts(modules, *row)))


def computed(a, b, k, axes):
    y = a * b + k
    return [y] if axes is None else [y, np.sum(y, axes), np.max(a * b, axes)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape, axes", ROWS, ids=str)
def test_regions_in_one_launch(modules, shape, axes, kind):
    """What one region writes the next one reads, through a view"""
    a, b = KINDS["contiguous"](shape), KINDS[kind](shape)
    del modules.cupy.launches[:]
    got = [y._a for y in chain(modules, shape, axes)(*map(modules.cupy.wrap, (a, b)))]
    assert len(modules.cupy.launches) == 1
    first = computed(a, b, 2.5, axes)
    want = [*first, *computed(first[0].T, first[0].T, -1.0, axes)]
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [*kernel_cases.DTYPES])
def test_every_reduction_of_every_dtype(modules, dtype):
    """All reductions of one operand share the memory in which lanes meet"""
    folds = tuple(Fold(kernel_cases.FOLDS[p][0], 0) for p in kernel_cases.folds(dtype))
    made = Region(modules, Kernel((dtype,), (), (), (), folds), (70, 9), (0,), ())
    x = kernel_cases.numbers(dtype, 3, 630).reshape(70, 9)
    x = np.nan_to_num(x, posinf=1, neginf=-1).clip(-1, 1) if x.dtype.kind == "f" else x
    alone = made(modules.cupy.wrap(x))
    targets = range(1, 1 + len(folds))
    together = Chain(modules, [Member(made, (0,), (*targets,))], (0,), targets)
    for a, b in zip(together(modules.cupy.wrap(x)), alone, strict=True):
        np.testing.assert_allclose(a._a, b._a, rtol=1e-2 if x.dtype.itemsize == 2 else 1e-5)


def test_a_chain_that_a_program_runs_twice_is_compiled_once(modules):
    made = chain(modules, (13, 17), (0,))
    given = [modules.cupy.wrap(KINDS["contiguous"]((13, 17))) for _ in range(2)]
    count = len(modules._functions)
    made(*given)
    made(*given)
    assert len(modules._functions) <= count + 1
