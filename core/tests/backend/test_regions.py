"""Regions of a plan, on steps that are nothing but slots."""

from dataclasses import dataclass

import pytest

from tenferro.backend.regions import RegionPolicy, find_regions, in_order
from tenferro.primitives import Aval

LARGE, SMALL = Aval((100,), "float64"), Aval((2,), "float64")
POLICY = RegionPolicy(smallest=10, alone=1000, can_reduce=lambda axes, shape: True, is_cheap=bool)


@dataclass
class Step:
    operands: tuple[int, ...]
    targets: tuple[int, ...]
    is_elementwise: bool = True
    is_assembled: bool = False
    reduced_axes: tuple[int, ...] | None = None
    shares: bool = False
    cheap: bool = False

    def __bool__(self):
        return self.cheap


def regions(steps, outputs, avals=None):
    """Targets of the members, and the exports, of each region."""
    slots = 1 + max(i for s in steps for i in (*s.operands, *s.targets))
    found = find_regions(steps, avals or [LARGE] * slots, outputs, POLICY)
    return [
        (
            [s.targets[0] for _, s in sorted(g.members, key=lambda pair: pair[0])],
            found.exports[id(g)],
        )
        for g in found.groups
    ]


def test_a_chain_is_one_region_that_exports_its_end():
    assert regions([Step((0,), (1,)), Step((1,), (2,)), Step((2,), (3,))], {3}) == [
        ([1, 2, 3], {3})
    ]


def test_one_step_is_no_region():
    assert regions([Step((0,), (1,))], {1}) == []


def test_small_arrays_are_in_no_region():
    steps = [Step((0,), (1,)), Step((1,), (2,))]
    assert regions(steps, {2}, [SMALL] * 3) == []


def test_a_step_waits_for_what_runs_outside():
    """0 → 1 → matmul 2 → 3: 1 and 3 read each other's results only through the product."""
    outside = Step((1,), (2,), is_elementwise=False)
    steps = [Step((0,), (1,)), outside, Step((2, 1), (3,)), Step((3,), (4,))]
    assert regions(steps, {4}) == [([3, 4], {4})]


def test_a_reduction_ends_in_the_region_of_its_operand():
    total = Step((1,), (2,), is_elementwise=False, reduced_axes=(0,))
    avals = [LARGE, LARGE, SMALL]
    assert regions([Step((0,), (1,)), total], {2}, avals) == [([1], set())]


@pytest.mark.parametrize("cheap", [True, False])
def test_what_is_cheap_is_computed_twice_instead_of_kept(cheap):
    """x → a → b → y = f(b), outside → z = g(a, b, y): a follows from x, which is kept anyway."""
    steps = [
        Step((0,), (1,), cheap=cheap),
        Step((1,), (2,)),
        Step((2,), (3,), is_elementwise=False),
        Step((3, 1), (4,)),
        Step((4,), (5,)),
    ]
    members = [found for found, _ in regions(steps, {5})]
    assert members == ([[1, 2], [1, 4, 5]] if cheap else [[1, 2], [4, 5]])


def test_steps_follow_their_operands():
    steps = [Step((1,), (2,)), Step((0,), (1,))]
    assert [s.targets for s in in_order(enumerate(steps))] == [(1,), (2,)]


def test_steps_that_wait_for_each_other_are_a_fault():
    with pytest.raises(AssertionError, match="wait for each other"):
        in_order(enumerate([Step((2,), (1,)), Step((1,), (2,))]))
