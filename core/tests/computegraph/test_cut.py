"""Minimum vertex cuts against all subsets, on random graphs."""

from itertools import combinations
from random import Random

from tenferro.computegraph import vertex_cut

SEEDS = range(300)


def graph(random):
    """For each value the earlier ones that it is made of, or None; and the wanted values."""
    count = random.randint(1, 7)
    before = {}
    for value in range(count):
        sources = [earlier for earlier in range(value) if random.random() < 0.5]
        before[value] = sources if value and random.random() < 0.5 else None
    return before, sorted(random.sample(range(count), random.randint(1, count)))


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


def test_no_smaller_set_cuts():
    for seed in SEEDS:
        before, ends = graph(Random(seed))
        found = vertex_cut(ends, before.__getitem__)
        assert cuts(before, ends, found), seed
        smaller = (set(c) for size in range(len(found)) for c in combinations(before, size))
        assert not any(cuts(before, ends, chosen) for chosen in smaller), seed


def test_no_lighter_set_cuts():
    for seed in SEEDS:
        random = Random(seed)
        before, ends = graph(random)
        weights = [random.randint(1, 9) for _ in before]
        weigh = lambda values: sum([weights[v] for v in values])  # noqa: E731, B023
        found = vertex_cut(ends, before.__getitem__, weights.__getitem__)
        assert cuts(before, ends, found), seed
        sets = (set(c) for size in range(len(before)) for c in combinations(before, size))
        assert not any(cuts(before, ends, c) for c in sets if weigh(c) < weigh(found)), seed


def test_the_cut_next_to_the_ends_is_taken():
    chain = {0: None, 1: [0], 2: [1], 3: [2]}
    assert vertex_cut([3], chain.__getitem__) == {3}


def test_values_without_an_origin_need_no_cut():
    assert vertex_cut([1], {0: [], 1: [0]}.__getitem__) == set()
