"""Best paths and their subgradients. References: all paths, one by one, and differences."""

from fractions import Fraction
from itertools import product

import pytest
from tropical import Chain

from tenferro.computegraph import resolve
from tenferro.tidu import linearize

SHAPES = [(1, 2), (2, 3), (3, 2), (2, 1)]
MATRICES = [
    [[0.0, 1.0]],
    [[1.0, 2.5, -4.0], [3.0, 7.0, 0.5]],
    [[0.25, 4.0], [2.0, 1.0], [6.0, -1.0]],
    [[5.0], [0.0]],
]


def all_paths(matrices):
    """The sums along all paths, each with the steps that it takes."""
    sizes = [len(m[0]) for m in matrices[:-1]]
    for inner in product(*map(range, sizes)):
        steps = list(zip((0, *inner), (*inner, 0), strict=True))
        yield sum(m[i][j] for m, (i, j) in zip(matrices, steps, strict=True)), steps


def test_the_value_is_that_of_the_best_path():
    (value,) = Chain(SHAPES).value(MATRICES)[0]
    assert value == max(total for total, _ in all_paths(MATRICES))


def test_subgradients_are_the_steps_of_the_best_path():
    _, steps = max(all_paths(MATRICES))
    found = Chain(SHAPES).subgradients(MATRICES)
    for matrix, step in zip(found, steps, strict=True):
        for i, row in enumerate(matrix):
            assert row == tuple(float((i, j) == step) for j in range(len(row)))


def test_a_step_that_the_path_takes_twice_counts_twice():
    """The best way of two steps through one matrix stays at the second place: 9 + 9."""
    chain = Chain([(1, 2), (2, 2), (2, 1)], places=[0, 1, 1, 2])
    matrices = [[[0.0, 1.0]], [[1.0, 2.0], [3.0, 9.0]], [[5.0], [0.0]]]
    assert chain.value(matrices) == ((19.0,),)
    assert chain.subgradients(matrices)[1] == ((0.0, 0.0), (0.0, 2.0))


def test_of_equal_paths_the_first_counts():
    found = Chain([(1, 2), (2, 1)]).subgradients([[[1.0, 1.0]], [[0.0], [0.0]]])
    assert found == (((1.0, 0.0),), ((1.0,), (0.0,)))


def test_fractions_stay_exact():
    third = Fraction(1, 3)
    (value,) = Chain([(1, 2), (2, 1)]).value([[[third, 0]], [[third], [Fraction(1, 2)]]])[0]
    assert value == Fraction(2, 3)
    assert type(value) is Fraction


def test_minus_infinity_is_no_way():
    no = float("-inf")
    chain = Chain([(1, 2), (2, 1)])
    assert chain.value([[[no, 1.0]], [[5.0], [2.0]]]) == ((3.0,),)
    assert chain.subgradients([[[no, 1.0]], [[5.0], [2.0]]])[0] == ((0.0, 1.0),)


def test_the_second_derivative_is_a_structural_zero():
    chain = Chain([(1, 2), (2, 1)])
    again = linearize(
        resolve([chain.transposed]), chain.transposed.output_keys, chain.graph.input_keys
    )
    assert list(again.tangent_outputs) == [None, None]


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError):
        Chain([(1, 2), (3, 1)])
