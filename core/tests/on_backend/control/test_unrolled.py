"""`debug.unrolled` runs the same programs as plain Python, whose bodies see values."""

import contextlib

import numpy as np
import pytest
from control.programs import PAIRS, ROWS

import tenferro as tn

W, V = 0.7, np.array([0.4, -0.3, 0.2])
TRANSFORMS = {
    "value": lambda f: f(W, V),
    "jit": lambda f: tn.jit(f)(W, V),
    "grad": lambda f: tn.grad(f, (0, 1))(W, V),
    "jvp of grad": lambda f: tn.jvp(tn.grad(f), (W, V), (1.0, None))[1],
    "jit of grad": lambda f: tn.jit(tn.grad(f))(W, V),
    "vmap": lambda f: tn.vmap(f, (None, 0))(W, np.stack([V, -V])),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_loop_is_what_it_is_when_it_is_unrolled(name, transform):
    """T(f) = T(f) unrolled, for transforms T"""
    make, (kept, _) = TRANSFORMS[transform], PAIRS[name]
    need = make(kept)
    with tn.debug.unrolled():
        got = make(kept)
    for x, y in zip(flat(got), flat(need), strict=True):
        assert isinstance(x, tn.Array) is isinstance(y, tn.Array)
        np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-12, atol=1e-14)


def flat(found):
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_body_runs_once_per_step_on_values(reverse):
    seen = []

    def step(c, r):
        seen.append(float(r))
        if r > 0:
            c = c + r.item()
        return c, c

    with tn.debug.unrolled():
        last, sums = tn.scan(step, 0.0, ROWS, reverse=reverse)
    order = ROWS[::-1] if reverse else ROWS
    assert seen == list(order)
    np.testing.assert_allclose(last, np.sum(ROWS[ROWS > 0]))
    need = np.cumsum(np.maximum(order, 0))
    np.testing.assert_allclose(sums, need[::-1] if reverse else need)


def test_effects_happen_in_the_order_of_steps(capsys):
    def step(c, r):
        tn.debug.print("{} {}", c, r)
        return c + 1, None

    def loop(x):
        return tn.scan(step, 0, x)[0]

    with tn.debug.unrolled():
        loop(np.array([5, 6]))
        tn.jit(loop)(np.array([7, 8]))
        tn.grad(lambda x: loop(x) * 0.0 + x[0])(np.array([1.0, 2.0]))
    assert capsys.readouterr().out.split("\n") == [
        *("0 5", "1 6", "0 7", "1 8", "0 1.0", "1 2.0", "")
    ]


def test_a_jitted_function_is_called_that_was_compiled_before():
    calls = []

    @tn.jit
    def f(x, n):
        calls.append(type(x))
        return {"y": x * n, "n": n}

    with tn.use("numpy"):
        need = f(V, 2)
        assert len(calls) == 1
        with tn.debug.unrolled():
            got = f(V, 2)
            assert isinstance(f(tn.asarray(V), 2)["y"], tn.Array)
        assert (len(calls), set(calls)) == (3, {tn.Array})
        f(V, 2)
    assert len(calls) == 3
    assert [type(x) for x in got.values()] == [type(x) for x in need.values()]
    np.testing.assert_array_equal(got["y"], need["y"])


@pytest.mark.parametrize(
    "start, rows, dtype",
    [
        (0.0, np.ones(3, np.float32), "float32"),
        (0, np.ones(3), "float64"),
        (1, np.ones(3, np.uint8), "uint8"),
        (1.0, np.ones(3, np.complex64), "complex64"),
    ],
)
def test_a_number_takes_the_dtype_that_the_body_gives_it(start, rows, dtype):
    with tn.debug.unrolled():
        last, (before, after) = tn.scan(lambda c, r: (c + r, (c, c + r)), start, rows)
    assert {last.dtype.name, before.dtype.name, after.dtype.name} == {dtype}


def test_an_error_in_a_body_names_the_step():
    def step(c, r):
        if r < 0:
            raise ValueError("a negative row")
        return c + r, None

    with tn.debug.unrolled():
        with pytest.raises(ValueError, match="a negative row") as caught:
            tn.scan(step, 0.0, ROWS)
        assert caught.value.__notes__ == ["  step       scan, step 1 of 4"]
        with pytest.raises(tn.BodyError, match="the body changes carry"):
            tn.scan(lambda c, r: (c + V, None), 0.0, ROWS)
        with pytest.raises(tn.BodyError, match="does not return a pair"):
            tn.scan(lambda c, r: c, 0.0, ROWS)
        with pytest.raises(tn.BodyError, match="structure"):
            tn.while_loop(lambda c: True, lambda c: (c, c), 1.0)
        with pytest.raises(tn.StepLimitError):
            tn.while_loop(lambda c: c < 100.0, lambda c: c * 2, 1.0, max_steps=3)


def test_the_step_that_makes_a_nan_is_named():
    with tn.debug.unrolled(), tn.debug_nans(), pytest.raises(tn.NonFiniteError) as caught:
        tn.scan(lambda c, r: (np.sqrt(c) - 1.5, None), 1.0, ROWS)
    assert "sqrt made nan" in str(caught.value)
    assert any("step 1 of 4" in note for note in caught.value.__notes__)


def test_it_ends_with_its_block_and_may_be_nested():
    recorded = []

    def step(c, r):
        recorded.append(r.key.operand if hasattr(r, "key") else r)
        return c, None

    again = tn.debug.unrolled()
    with again, again:
        tn.scan(step, 0.0, ROWS)
    assert len(recorded) == 4
    tn.scan(step, 0.0, ROWS)
    assert len(recorded) == 5


def test_an_error_inside_a_loop_tells_how_to_see_its_line():
    """The error names the line of the loop; the step and the line in the body follow unrolled"""

    def factors(c, r):
        return np.linalg.cholesky(c - r * np.eye(2)), None

    def run():
        last, _ = tn.scan(factors, 3 * np.eye(2), np.ones(4))
        return np.any(np.isnan(last))

    with contextlib.suppress(np.linalg.LinAlgError):
        assert run()
        return  # a backend that cannot raise gives nan
    with pytest.raises(np.linalg.LinAlgError) as caught:
        run()
    assert any("debug.unrolled" in note for note in caught.value.__notes__)
    with tn.debug.unrolled(), pytest.raises(np.linalg.LinAlgError) as caught:
        run()
    assert any("step 2 of 4" in note for note in caught.value.__notes__)


def test_a_nan_inside_a_loop_tells_how_to_see_its_line():
    def run():
        tn.scan(lambda c, r: (np.sqrt(c) - 1.5, None), 1.0, ROWS)

    with tn.debug_nans(), pytest.raises(tn.NonFiniteError, match=r"scan made nan(.|\n)*unrolled"):
        run()
