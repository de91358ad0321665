"""Minimum vertex cuts against all subsets, on random graphs."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from tenferro.computegraph import vertex_cut


@st.composite
def graphs(draw):
    """For each value the earlier ones that it is made of, or None; and the wanted values."""
    count = draw(st.integers(1, 7))
    before = {}
    for value in range(count):
        made = draw(st.booleans())
        before[value] = sorted(draw(st.sets(st.integers(0, value - 1)))) if made and value else None
    return before, sorted(draw(st.sets(st.integers(0, count - 1), min_size=1)))


def cuts(before, ends, chosen):
    """Whether no way from an origin to an end avoids the chosen values."""
    stack, seen = [end for end in ends if end not in chosen], set()
    while stack:
        value = stack.pop()
        if before[value] is None:
            return False
        if value not in seen:
            seen.add(value)
            stack += [source for source in before[value] if source not in chosen]
    return True


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_no_smaller_set_cuts(graph):
    before, ends = graph
    found = vertex_cut(ends, before.__getitem__)
    assert cuts(before, ends, found)
    smaller = (set(c) for size in range(len(found)) for c in combinations(before, size))
    assert not any(cuts(before, ends, chosen) for chosen in smaller)


@given(graphs(), st.lists(st.integers(1, 9), min_size=7, max_size=7))
@settings(max_examples=300, deadline=None)
def test_no_lighter_set_cuts(graph, weights):
    before, ends = graph
    weigh = lambda values: sum([weights[v] for v in values])  # noqa: E731
    found = vertex_cut(ends, before.__getitem__, weights.__getitem__)
    assert cuts(before, ends, found)
    sets = (set(c) for size in range(len(before)) for c in combinations(before, size))
    assert not any(cuts(before, ends, c) for c in sets if weigh(c) < weigh(found))


def test_the_cut_next_to_the_ends_is_taken():
    chain = {0: None, 1: [0], 2: [1], 3: [2]}
    assert vertex_cut([3], chain.__getitem__) == {3}


def test_values_without_an_origin_need_no_cut():
    assert vertex_cut([1], {0: [], 1: [0]}.__getitem__) == set()
