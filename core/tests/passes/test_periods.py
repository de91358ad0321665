"""Repetitions of items are found where they are, and sought only where there may be some."""

import pytest

from tenferro.passes.roll.periods import may_repeat, runs

STEP = [1, 2, 3, 1, 4]  # an item twice in a period, at two distances
IRREGULAR = [1, 2, 2, 1, 2, 2, 2, 1, 1, 2, 1, 2, 1, 1, 2, 2]


@pytest.mark.parametrize(
    "items, found",
    [
        ([], []),
        ([5] * 3, []),
        ([5] * 8, [(0, 1, 8)]),
        ([9, *[1, 2] * 6, 9], [(1, 2, 6)]),
        ([9, 8, *STEP * 5, 7], [(2, 5, 5)]),
        ([*[1, 2] * 4, 9, *[3, 4, 5] * 4], [(0, 2, 4), (9, 3, 4)]),
        (IRREGULAR, []),
        ([*range(40)], []),
    ],
)
def test_runs_of_four_steps_and_eight_items(items, found):
    assert [run[:3] for run in runs(items, 4, 8)] == found
    length = sum(period * steps for _, period, steps in found)
    assert may_repeat(items, 4, max(length, 8)) or not found


@pytest.mark.parametrize(
    "items, least, may",
    [
        ([1, 2] * 4, 8, True),
        ([1, 2] * 4, 9, False),  # too few
        ([1, 2, 3] * 3, 8, False),  # none comes four times
        ([*[1] * 4, 2, 3, *[4] * 5], 9, True),
        ([], 1, False),
    ],
)
def test_what_cannot_repeat_is_not_searched(items, least, may):
    assert may_repeat(items, 4, least) is may
