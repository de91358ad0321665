"""Products of tensors that read one array as the same matrix: it is copied once."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp

OPERATOR = np.random.default_rng(4).normal(size=(3, 3, 2, 2))
LEFT = np.random.default_rng(5).normal(size=(5, 3, 6, 2))


def to_operator(x, operator):
    return tp.dot_general(x, operator, (1, 3), (1, 3))


def twice(x, y, operator):
    return to_operator(x, operator), to_operator(y, operator)


def by_rows_and_by_columns(x, operator):
    return to_operator(x, operator), tp.dot_general(operator, x, (1, 3), (1, 3))


def of_transpositions(x, operator):
    y = tp.transpose(x, (2, 1, 0, 3))
    return to_operator(y, operator), tp.dot_general(operator, y, (0, 2), (1, 3))


def of_two_transpositions(x, operator):
    y = tp.transpose(tp.exp(tp.transpose(x, (3, 1, 0, 2))), (0, 2, 1, 3))
    z = tp.transpose(x, (1, 3, 0, 2))
    return (
        tp.dot_general(y, operator, (0, 2), (2, 1)),
        tp.dot_general(z, operator, (0, 1), (1, 3)),
    )


def with_the_transposition(x, operator):
    y = tp.transpose(x, (2, 1, 0, 3))
    return to_operator(y, operator), y, tp.sin(y)


def with_a_vector(x, operator):
    v = tp.reduce_sum(x, (0, 2))
    return tp.dot_general(operator, v, (1, 3), (0, 1)), tp.dot_general(v, operator, (0, 1), (1, 3))


def with_itself(x, operator):
    return tp.dot_general(x, x, (1, 3), (1, 3)), to_operator(x, operator)


def inner(x, y, *axes):
    return np.tensordot(x, y, axes)


def numpy_of_two_transpositions(x, w):
    y, z = np.exp(x.transpose(3, 1, 0, 2)).transpose(0, 2, 1, 3), x.transpose(1, 3, 0, 2)
    return inner(y, w, (0, 2), (2, 1)), inner(z, w, (0, 1), (1, 3))


def numpy_with_a_vector(x, w):
    v = x.sum((0, 2))
    return inner(w, v, (1, 3), (0, 1)), inner(v, w, (0, 1), (1, 3))


PROGRAMS = {  # the function, NumPy's, the arguments
    twice: (
        lambda x, y, w: (inner(x, w, (1, 3), (1, 3)), inner(y, w, (1, 3), (1, 3))),
        [LEFT, 2 - LEFT, OPERATOR],
    ),
    by_rows_and_by_columns: (
        lambda x, w: (inner(x, w, (1, 3), (1, 3)), inner(w, x, (1, 3), (1, 3))),
        [LEFT, OPERATOR],
    ),
    of_transpositions: (
        lambda x, w: (
            inner(y := x.transpose(2, 1, 0, 3), w, (1, 3), (1, 3)), inner(w, y, (0, 2), (1, 3))
        ),
        [LEFT, OPERATOR],
    ),
    of_two_transpositions: (numpy_of_two_transpositions, [LEFT, OPERATOR]),
    with_the_transposition: (
        lambda x, w: (
            inner(y := x.transpose(2, 1, 0, 3), w, (1, 3), (1, 3)), y, np.sin(y)
        ),
        [LEFT, OPERATOR],
    ),
    with_a_vector: (numpy_with_a_vector, [LEFT, OPERATOR]),
    with_itself: (
        lambda x, w: (inner(x, x, (1, 3), (1, 3)), inner(x, w, (1, 3), (1, 3))),
        [LEFT, OPERATOR],
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_products_are_those_of_numpy(check, function, dtype):
    reference, arrays = PROGRAMS[function]
    given = [np.round(4 * array).astype(dtype) for array in arrays]
    expected = tuple([np.asarray(y) for y in reference(*given)])
    check(function, given, expected, rtol=1e-4, atol=1e-4)


def test_one_array_is_copied_once(backend, program):
    """Three products read the operator as one matrix."""

    def three(x, y, z, operator):
        return tuple([to_operator(each, operator) for each in (x, y, z)])

    made = program(three, LEFT, LEFT, LEFT, OPERATOR)
    lines = backend.compile(made, made.input_avals).plan.lines
    assert len(lines) == 4
    assert sum([line.expression.template.count(".transpose(") for line in lines]) == 4


def test_products_look_through_transpositions(backend, program):
    made = program(of_transpositions, LEFT, OPERATOR)
    lines = backend.compile(made, made.input_avals).plan.lines
    assert "{0}.transpose({p0})" not in [line.expression.template for line in lines]


@pytest.mark.parametrize("without", [(), ("memory_reuse",)])
def test_a_loop_copies_what_stays_before_its_first_step(without):
    """xₖ = (xₖ₋₁ · w) sₖ, over four steps, with one copy of w, and its derivative"""

    def power(x, scales, w):
        def step(x, scale):
            y = np.transpose(np.tensordot(x, w, ((0, 2), (0, 2))), (1, 0, 2)) * scale
            return y, np.sum(y)

        return tn.scan(step, x, scales)

    def in_numpy(x, scales, w):
        sums = []
        for scale in scales:
            x = np.tensordot(x, w, ((0, 2), (0, 2))).transpose(1, 0, 2) * scale
            sums.append(x.sum())
        return x, np.array(sums)

    def last(x, scales, w):
        return np.sum(power(x, scales, w)[0])

    given = 0.1 * LEFT[:3, 0], np.array([1.0, -0.5, 2.0, 0.25]), OPERATOR
    options = {"without": without}
    f = tn.jit(power, backend="numpy", options=options)
    for _ in range(3):
        for found, expected in zip(f(*given), in_numpy(*given), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    loop = f.explain(*given).partition("def loop(")[2]
    assert ("v0.transpose(" in loop.partition(" for ")[0]) is (not without)
    gradient = tn.jit(tn.grad(last, 2), backend="numpy", options=options)(*given)
    slope = (
        in_numpy(*given[:2], OPERATOR * (1 + 1e-6))[0].sum() - in_numpy(*given)[0].sum()
    ) / 1e-6
    np.testing.assert_allclose(np.sum(gradient * OPERATOR), slope, rtol=1e-4)
