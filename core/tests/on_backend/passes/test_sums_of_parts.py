"""Parts of arrays, padded and added in any order with any signs, are the same sum when joined."""

from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_passes_keep_results import run

from tenferro.computegraph import derive, flatten, input_key
from tenferro.passes import optimized
from tenferro.primitives._aval import Aval
from tenferro.primitives.arithmetic import Add, Neg, Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import Pad


def apply(operation, *keys):
    return derive(operation, keys)[0]


class _Sums:
    """A graph of sums of random parts, and what NumPy makes of the same steps."""

    def __init__(self, seed, dtype, signs=True):
        self.random, self.dtype, self.signs = Random(seed), dtype, signs
        self.shape = tuple(
            self.random.choice([1, 2, 3, 4]) for _ in range(self.random.randint(1, 3))
        )
        self.keys, self.operands = [], []
        self.zero = apply(Constant(0, dtype))

    def part(self):
        """A part of the whole among zeros, or the whole."""
        grid = [(0, n // 2, n) for n in self.shape]  # so that many fit together
        bounds = [sorted(self.random.sample(g, 2)) for g in grid]
        shape = [b - a for a, b in bounds]
        elements = [self.random.randint(-9, 9) for _ in range(int(np.prod(shape)))]
        operand = np.array(elements, self.dtype).reshape(shape)
        key = input_key(f"x{len(self.keys)}", Aval(shape, self.dtype))
        self.keys.append(key)
        self.operands.append(operand)
        low, high = (
            [a for a, _ in bounds],
            [n - b for (_, b), n in zip(bounds, self.shape, strict=True)],
        )
        padded = apply(Pad(tuple(low), tuple(high), (0,) * len(low)), key, self.zero)
        return padded, np.pad(operand, list(zip(low, high, strict=True)))

    def sum(self, count):
        """Of so many parts, bracketed somehow."""
        if count == 1:
            key, wanted = self.part()
            return (apply(Neg(), key), -wanted) if self.takes_off(0.2) else (key, wanted)
        first = self.random.randint(1, count - 1)
        (a, x), (b, y) = self.sum(first), self.sum(count - first)
        if self.takes_off(0.5):
            return apply(Sub(), a, b), x - y
        return apply(Add(), a, b), x + y

    def takes_off(self, share):
        return self.signs and self.random.random() < share

    def graph(self, *keys):
        return flatten(self.keys, keys, lambda key: key.definition)


def written(graph):
    """How many elements the equations write."""
    return sum(graph.avals[i].size for node in graph.nodes if node.inputs for i in node.outputs)


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "complex128"])
@pytest.mark.parametrize("passes", [("sums",), "all"], ids=str)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(2, 12), signs=st.booleans())
@example(seed=111642401, count=5, signs=True)  # a difference becomes one line of one operand
def test_sums_of_parts_are_exact_where_sums_are(dtype, passes, seed, count, signs):
    """Sums of small integers do not round, whatever their order"""
    sums = _Sums(seed, dtype, signs)
    results = [sums.sum(count), sums.sum(2)]
    graph = sums.graph(*[key for key, _ in results])
    found, _ = optimized(graph, passes)
    if not signs:
        assert written(found) <= written(graph)
    for one, (_, wanted) in zip(run(found, sums.operands), results, strict=True):
        assert one.dtype == dtype
        np.testing.assert_array_equal(one, wanted)


def test_many_of_these_are_joined():
    """The law above would hold if nothing ever were"""
    joined = 0
    for seed in range(50):
        sums = _Sums(seed, "float64")
        key, _ = sums.sum(6)
        joined += optimized(sums.graph(key), ["sums"])[1].rewritten["sums"] > 0
    assert joined > 25
