"""The carry of a loop: its structure, shapes and dtypes, and what a Python number becomes."""

import dataclasses

import numpy as np
import pytest

import tenferro as tn

ROWS = np.arange(3)


@pytest.mark.parametrize(
    "start, rows, dtype",
    [
        (0.0, np.ones(3, np.float32), "float32"),
        (0, np.ones(3), "float64"),
        (False, np.ones(3, np.int32), "int32"),
        (1, np.ones(3, np.uint8), "uint8"),
        (1.0, np.ones(3, np.complex64), "complex64"),
        (np.float64(0.0), np.ones(3), "float64"),
    ],
)
def test_a_number_takes_the_dtype_that_the_body_gives_it(start, rows, dtype):
    """As next to an operand: the kind of a number stays, its width yields"""
    last, sums = tn.scan(lambda c, r: (c + r, c + r), start, rows)
    assert (last.dtype.name, sums.dtype.name) == (dtype, dtype)
    looped = tn.while_loop(lambda c: np.real(c) < 3, lambda c: c + rows[0], start)
    assert looped.dtype.name == dtype


def test_a_float_does_not_become_an_integer():
    with pytest.raises(tn.BodyError) as caught:
        tn.scan(lambda c, r: (r, None), 1.5, ROWS)
    assert (caught.value.got, caught.value.need, caught.value.leaf) == ("i64[]", "f64[]", "carry")


def test_an_integer_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError, match="-1 does not fit into uint8"):
        tn.scan(lambda c, r: (c + r, None), -1, ROWS.astype(np.uint8))


@dataclasses.dataclass
class State:
    x: object
    v: object


def test_a_carry_is_any_tree():
    step = lambda s, r: (State(s.v, {"k": s.x["k"] + r}), (s.x["k"], None))  # noqa: E731
    with pytest.raises(tn.BodyError, match="structure"):
        tn.scan(step, State({"k": 0.0}, 1.0), ROWS)
    good = lambda s, r: (State({"k": s.v}, s.x["k"] + r), [s.v, None])  # noqa: E731
    last, ys = tn.scan(good, State({"k": 0.0}, 1.0), ROWS)
    assert (float(last.x["k"]), float(last.v)) == (2.0, 2.0)
    np.testing.assert_array_equal(ys[0], [1.0, 0.0, 2.0])  # v: 1, 0 + 0, 1 + 1
    assert ys[1] is None


@pytest.mark.parametrize("length", [0, 1])
def test_short_loops(length):
    """No step: the first carry and rows of size 0; one step: the body"""
    last, ys = tn.scan(lambda c, r: (c * r, c + r), 2.0, np.full(length, 3.0))
    assert float(last) == 2.0 * 3.0**length
    assert ys.shape == (length,)
    gradient = tn.grad(lambda x: tn.scan(lambda c, r: (c * r, c), x, np.full(length, 3.0))[0])
    assert float(gradient(2.0)) == 3.0**length


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_of_results_stand_where_those_of_the_operand_do(reverse):
    _, ys = tn.scan(lambda c, r: (c + 1, (c, r)), 0, ROWS, reverse=reverse)
    np.testing.assert_array_equal(ys[1], ROWS)
    np.testing.assert_array_equal(ys[0], ROWS[::-1] if reverse else ROWS)


def test_what_leaves_a_body_otherwise_is_refused():
    kept = []
    tn.scan(lambda c, r: (kept.append(c) or c + r, None), 0.0, ROWS)
    with pytest.raises(tn.LeakedArrayError, match="scan"):
        tn.evaluate(kept[0] * 2)


def test_a_rule_is_that_of_the_call():
    """A body with a function that brings its own derivative is not taken for an earlier one"""
    factor = [1.0]

    @tn.custom_vjp
    def f(x):
        return np.sin(x)

    f.defvjp(lambda x: (np.sin(x), x), lambda x, g: (factor[0] * g * np.cos(x),))
    gradient = tn.grad(lambda x: tn.scan(lambda c, _: (f(c), None), x, None, 1)[0])
    for value in (1.0, 2.0, 3.0):
        factor[0] = value
        assert float(gradient(0.5)) == pytest.approx(value * np.cos(0.5))


def test_the_bound_of_a_loop_is_an_error_or_nan():
    loop = lambda x: tn.while_loop(lambda c: c < 100.0, lambda c: c * 2, x, max_steps=3)  # noqa: E731
    assert float(loop(50.0)) == 100.0
    try:
        assert np.isnan(float(loop(1.0)))
    except tn.StepLimitError as error:
        assert error.steps == 3  # noqa: PT017 - a backend that cannot raise gives nan
