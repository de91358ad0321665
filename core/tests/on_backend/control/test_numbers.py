"""Numbers in loops and branches take the dtype of others, and never lose a part.

1 may become 1.0, where 1.5 does not become an integer: the dtype of a choice is that of
`np.where`, or the choice is refused.
"""

from itertools import product

import numpy as np
import pytest

import tenferro as tn

NUMBERS = {"bool": True, "int": 3, "float": 2.5, "complex": 1.5 + 0.5j}
DTYPES = ("bool", "int32", "int64", "float32", "float64", "complex64", "complex128")
RANK = {"b": 0, "i": 1, "f": 2, "c": 3}


def rank(value):
    return RANK[np.asarray(value).dtype.kind]


@pytest.mark.parametrize("way", ["argument", "literal"])
@pytest.mark.parametrize("first, second", list(product(NUMBERS, NUMBERS)))
def test_a_choice_between_two_numbers_holds_both(first, second, way):
    """cond(p, a, b) = a if p else b, in the dtype of np.where"""
    a, b = NUMBERS[first], NUMBERS[second]
    for p in (True, False):
        if way == "argument":
            found = tn.jit(lambda p, a, b: tn.cond(p, lambda: a, lambda: b))(p, a, b)
        else:
            found = tn.jit(lambda p: tn.cond(p, lambda: a, lambda: b))(p)
        assert found == (a if p else b)
        assert np.asarray(found).dtype == np.where(p, a, b).dtype


@pytest.mark.parametrize("name, dtype", list(product(NUMBERS, DTYPES)))
@pytest.mark.parametrize("way", ["argument", "literal"])
def test_a_number_beside_an_array_takes_its_dtype_or_is_refused(name, dtype, way):
    number, array = NUMBERS[name], np.ones((), dtype)

    def choice(p, number, array):
        return tn.cond(p, lambda x: x, lambda x: number, array)

    for p in (True, False):
        if way == "argument":
            call = lambda p=p: tn.jit(choice)(p, number, array)  # noqa: E731
        else:
            call = lambda p=p: tn.jit(lambda p, x: choice(p, number, x))(p, array)  # noqa: E731
        if rank(number) > rank(array):
            with pytest.raises(tn.BodyError, match="different shapes or dtypes"):
                call()
            continue
        found = call()
        assert found == (array if p else number)
        assert np.asarray(found).dtype == dtype


@pytest.mark.parametrize("transform", [tn.value_and_grad, tn.jit])
@pytest.mark.parametrize("flipped", [False, True])
def test_derivatives_of_a_choice_between_numbers(transform, flipped):
    """d/dx x² = 2 x where the other branch is the integer 0"""
    square, zero = (lambda x: x * x), (lambda x: 0)

    def function(x):
        branches = (zero, square) if flipped else (square, zero)
        return 1.0 * tn.cond((x < 0) if flipped else (x > 0), *branches, x)

    if transform is tn.jit:
        value, slope = tn.jit(tn.value_and_grad(function))(2.5)
    else:
        value, slope = tn.value_and_grad(function)(2.5)
    assert (float(value), float(slope)) == (6.25, 5.0)
    assert [float(y) for y in tn.jvp(function, (2.5,), (1.0,))] == [6.25, 5.0]


LOOPS = {
    "scan": lambda c, x: tn.scan(lambda c, _: (x, None), c, None, 2)[0],
    "while_loop": lambda c, x: tn.while_loop(lambda c: c < 2, lambda c: c + x, c),
    "fori_loop": lambda c, x: tn.fori_loop(0, 2, lambda i, c: c + x, c),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_float_does_not_become_an_integer_carry(name):
    with pytest.raises(tn.BodyError, match="the body changes carry"):
        tn.jit(LOOPS[name])(np.int64(0), 1.5)
    assert tn.jit(LOOPS[name])(0, 1.5) == {"scan": 1.5, "while_loop": 3.0, "fori_loop": 3.0}[name]


def test_a_number_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError, match="300 does not fit into uint8"):
        tn.cond(True, lambda x: x, lambda x: 300, np.uint8(1))


@pytest.mark.parametrize("integer", [int, np.int64, np.int32, np.uint8, np.array])
def test_bounds_of_numpy_are_numbers_of_steps(integer):
    """d/dx 1.5³ x = 1.5³, in reverse mode, too"""
    loop = lambda x: tn.fori_loop(integer(1), integer(4), lambda i, c: c * 1.5, x)  # noqa: E731
    assert float(tn.grad(loop)(1.0)) == 1.5**3
    assert float(tn.jit(tn.grad(loop))(1.0)) == 1.5**3


@pytest.mark.parametrize(
    "number", [0.5, np.float64(0.5), np.array(0.5)], ids=["float", "float64", "array"]
)
def test_a_branch_that_is_differentiated_twice_takes_numbers(number):
    """d/dp of d/dy y²p at y = p is d/dp 2p² = 4p"""

    def inner(p):
        return tn.grad(lambda y: tn.cond(y < 0, lambda: np.sqrt(-y * p), lambda: y * y * p))(p)

    assert tn.grad(inner)(number) == 2
